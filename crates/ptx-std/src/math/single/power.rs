//! Powers.
//!
//! Method: x^y = 2^(y log2 x), the logarithm as a sum of two numbers, of a relative error near 2^-33, since
//! y log2 x may be as large as 150 and its absolute error is the result's relative one. With
//! x = 2^n m, m between the roots of 1/2 and 2, ln m = 2 artanh(s / 2), s = 2 (m - 1) / (m + 1); see Muller,
//! "Elementary Functions", chapters 5 and 11. The coefficients are Sollya's, of fpminimax.

use super::bits::ROUNDER;
use super::exponential::LOG2_E;
use super::logarithm::{split, subnormal_bits};
use crate::arch::float::Exact;

#[inline]
pub(crate) fn powf(x: f32, y: f32) -> f32 {
    let least = f32::MIN_POSITIVE.to_bits();
    let (exponent, rest) = log2_times(x.to_bits(), y);
    if x.to_bits().wrapping_sub(least) < f32::INFINITY.to_bits() - least && exponent.abs() < 125.0 {
        let (power, rounded) = power_of_2(exponent, rest);
        scale(power, rounded)
    } else {
        other_powf(x, y)
    }
}

/// x^y for any x and y.
#[cold]
#[inline(never)]
fn other_powf(x: f32, y: f32) -> f32 {
    if x == 1.0 || y == 0.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    let a = x.abs();
    let integer = Exact::trunc(y) == y;
    // Half of an odd integer is none. A y from 2^24 on is even, and so is its half an integer.
    let odd = integer && Exact::trunc(0.5 * y) != 0.5 * y;
    if x < 0.0 && !integer && a < f32::INFINITY && y.abs() < f32::INFINITY {
        return f32::NAN;
    }
    let magnitude = if a == 1.0 {
        1.0
    } else if a == 0.0 || a == f32::INFINITY || y.abs() == f32::INFINITY {
        if (a < 1.0) == (y < 0.0) {
            f32::INFINITY
        } else {
            0.0
        }
    } else {
        let bits = if a < f32::MIN_POSITIVE {
            subnormal_bits(a)
        } else {
            a.to_bits()
        };
        let (exponent, rest) = log2_times(bits, y);
        if exponent < -151.0 {
            0.0
        } else if exponent < 129.0 {
            let (power, rounded) = power_of_2(exponent, rest);
            scale_to_ends(power, rounded)
        } else {
            f32::INFINITY
        }
    };
    if odd {
        magnitude.copysign(x)
    } else {
        magnitude
    }
}

/// y log2 x as the sum of a number and a small rest, from the bits of x.
#[inline]
fn log2_times(bits: u32, y: f32) -> (f32, f32) {
    let (n, f) = split(bits, core::f32::consts::FRAC_1_SQRT_2);
    // s = 2f / (2 + f) in two parts. An approximate inverse is enough, as what is left over is exact:
    // a parabola, then a step of third order.
    let divisor = 2.0 + f;
    let guess = f.fma(0.116_862_95, -0.254_992_54).fma(f, 0.500_319_24);
    let error = guess.fma(-divisor, 1.0);
    let inverse = guess.fma(error.fma(error, error), guess);
    let double = f + f;
    let s = double * inverse;
    let left = f.fma(-s, (-s).fma(2.0, double));
    let s_rest = left * inverse;
    // 2 artanh(s / 2) = s + s p, p = s²/12 + ...
    let square = s * s;
    let p = square
        * square
            .fma(4.691_823_6e-4, 2.227_378e-3)
            .fma(square, 1.250_026_5e-2)
            .fma(square, 8.333_333e-2);
    // n + s / ln 2 in two parts: either n is 0 or it is the larger.
    let n = n * (1.0 / 8_388_608.0);
    let sum = s.fma(LOG2_E[0], n);
    let sum_rest = s.fma(LOG2_E[0], n - sum);
    // The derivative of s p is about 3 p.
    let small = s.fma(p, s_rest.fma(3.0 * p, s_rest));
    let rest = small.fma(LOG2_E[0], s.fma(LOG2_E[1], sum_rest));
    let high = sum + rest;
    let low = rest - (high - sum);
    let product = y * high;
    (product, y.fma(low, y.fma(high, -product)))
}

/// 2^(exponent + rest) / 2^n and the sum whose last bits are n.
#[inline]
fn power_of_2(exponent: f32, rest: f32) -> (f32, f32) {
    let rounded = exponent + ROUNDER;
    let r = (exponent - (rounded - ROUNDER)) + rest;
    (reduced_exp2(r), rounded)
}

/// 2^r for r from -1/2 to 1/2.
#[inline]
fn reduced_exp2(r: f32) -> f32 {
    r.fma(0.001_322_377_5, 0.009_671_72)
        .fma(r, 0.055_508_975)
        .fma(r, 0.240_222_38)
        .fma(r, 0.693_146_8)
        .fma(r, 1.0)
}

/// `power * 2^n` for the n in the last bits of `rounded`, if that is a normal number.
#[inline]
fn scale(power: f32, rounded: f32) -> f32 {
    f32::from_bits(power.to_bits().wrapping_add(rounded.to_bits() << 23))
}

/// `power * 2^n`, n from -151 to 129: infinity or a rounded subnormal number where it must be.
#[inline]
fn scale_to_ends(power: f32, rounded: f32) -> f32 {
    let (shift, rest) = if rounded > ROUNDER {
        (-2.0, 4.0)
    } else {
        (64.0, 1.0 / 18_446_744_073_709_551_616.0)
    };
    scale(power, rounded + shift) * rest
}
