//! The gamma function and its logarithm.
//!
//! From 2.5 on the gamma function is Stirling's formula with base and exponent in one power,
//! `(x / e)^(x - 1/2)`, whose logarithm is carried in two floats; what the formula lacks is a
//! polynomial in `ln(x)`. Below, `1 / gamma(1 + f)` is a polynomial for f in [-1/2, 1/2], and the
//! recurrence gives the rest. Negative arguments are reflected. The logarithm has polynomials about
//! its zeros 1 and 2 and Stirling's series from 8 on. The polynomials are minimax, fitted for this file
//! in mpmath by Lawson's algorithm, with coefficients rounded one after the other.

use super::bits::{ROUNDER, power_of_two};
use crate::arch::float::Exact;
use crate::math::gamma::gamma_parts;
use crate::math::polynomial::polynomial;

gamma_parts!(f32, ln_small);

/// The gamma function. At ±0 infinity with the sign of the zero; NaN at the negative integers.
#[inline]
pub(crate) fn gamma(x: f32) -> f32 {
    if x >= 2.5 {
        let (power, rest) = stirling(x.min(36.0));
        let (value, exponent) = exp_scaled(power, rest);
        let value = f32::from_bits(value.to_bits().wrapping_add((exponent as u32) << 23));
        // From here on it rounds to infinity.
        if x > 35.040_096 { f32::INFINITY } else { value }
    } else if x > -2.5 {
        near_zero(x)
    } else {
        reflected(x)
    }
}

/// The gamma function for x up to -2.5, or NaN.
#[inline(always)]
fn reflected(x: f32) -> f32 {
    let y = -x;
    // Even integers from here on.
    let whole = y.min(16_777_216.0);
    let n = Exact::round_ties_even(whole);
    let f = whole - n;
    let (power, rest) = stirling(y.min(44.0));
    let (value, exponent) = exp_scaled(-power, -rest);
    // -pi / (y sin(pi y) gamma(y)); both signs of an odd n cancel.
    let sine = y.min(44.0) * sine_pi_over_pi(f);
    let value = value * (REFLECTION / sine);
    // SAFETY: n is an integer up to 2^24.
    let odd = unsafe { n.to_int_unchecked::<i32>() } & 1;
    let value = if odd == 0 { -value } else { value };
    // Exact but for the last product, which rounds below the normal numbers.
    let half = exponent >> 1;
    let value = value * power_of_two(half) * power_of_two(exponent - half);
    if f == 0.0 { f32::NAN } else { value }
}

/// The natural logarithm of the gamma function's absolute value: infinity at 0 and at the negative
/// integers.
#[inline]
pub(crate) fn log_gamma(x: f32) -> f32 {
    let y = x.abs();
    // As 1 / gamma(x) is x times the polynomial, on both sides of 0.
    if y < 0.65 {
        return -ln_small(y * polynomial(&RECIPROCAL, x));
    }
    let value = if y >= 8.0 {
        // 1 / y within 1 in 2^17 by Newton's method.
        let finite = y.min(1e30);
        let w = f32::from_bits(0x7ef3_11c7 - finite.to_bits());
        let w = w * Exact::fma(-finite, w, 2.0);
        let w = w * Exact::fma(-finite, w, 2.0);
        let (k, r, tail) = ln_parts(y.to_bits());
        let ln = r + Exact::fma(k, LN_2_LO, tail) + Exact::fma(k, LN_2_HI, -1.0);
        Exact::fma(
            y - 0.5,
            ln,
            Exact::fma(w, polynomial(&STIRLING, w * w), 0.418_938_54),
        )
    } else {
        log_below_8(y)
    };
    if x < 0.0 {
        log_reflected(y, value)
    } else {
        value
    }
}

/// The natural logarithm; minus infinity at 0.
#[inline(always)]
pub(super) fn ln_small(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let (k, r, tail) = ln_parts(scaled.to_bits());
    let k = if subnormal { k - 23.0 * 8_388_608.0 } else { k };
    let ln = Exact::fma(k, LN_2_HI, r + Exact::fma(k, LN_2_LO, tail));
    if x == 0.0 { f32::NEG_INFINITY } else { ln }
}

/// 2^23 times k, r, and `ln(1 + r) - r`, where the positive normal number is `2^k (1 + r)` with 1 + r
/// from `sqrt(1/2)` to `sqrt(2)`.
#[inline(always)]
fn ln_parts(bits: u32) -> (f32, f32, f32) {
    let (k, r) = decompose(bits);
    (k, r, r * r * Exact::fma(r, polynomial(&LN, r), -0.5))
}

#[inline(always)]
fn decompose(bits: u32) -> (f32, f32) {
    let k = bits.wrapping_sub(0x3f35_04f3) & 0xff80_0000;
    (k as i32 as f32, f32::from_bits(bits.wrapping_sub(k)) - 1.0)
}

/// The natural logarithm of `gamma(x) / C` in two parts, for x from 2.5 to 44; C is the constant
/// coefficient of [`EXP`].
#[inline(always)]
fn stirling(x: f32) -> (f32, f32) {
    let (k, r) = decompose(x.to_bits());
    let (power, rest, ln) = stirling_power(x, k, r);
    (power, rest + polynomial(&CORRECTION, ln))
}

/// `C exp(x + rest)` as a number near 1 and the exponent of a power of two, for |x| up to 200.
#[inline(always)]
pub(super) fn exp_scaled(x: f32, rest: f32) -> (f32, i32) {
    let shifted = Exact::fma(x + rest, core::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let f = Exact::fma(n, -0.693_115_23, x);
    let f = Exact::fma(n, -3.194_618_3e-5, f);
    let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
    (polynomial(&EXP, f + rest), exponent)
}

/// `ln(2) / 2^23`, for k times 2^23: 12 bits and the rest.
const LN_2_HI: f32 = 8.262_577_5e-8;
const LN_2_LO: f32 = 3.808_282e-12;

/// `1 / C²`, with C as in [`stirling`].
const REFLECTION: f32 = 0.432_628;

/// `1 / gamma(1 + f)` for |f| up to 0.65 within 2^-27.
const RECIPROCAL: [f32; 10] = [
    -0.000_270_548_1,
    -0.001_033_376_8,
    0.007_260_546,
    -0.009_669_065_5,
    -0.042_210_165,
    0.166_545_27,
    -0.042_001_147,
    -0.655_878_37,
    0.577_215_6,
    1.0,
];

/// `(ln(1 + r) - r + r²/2) / r³` for 1 + r from `sqrt(1/2)` to `sqrt(2)`; times r³ within 2^-32.
const LN: [f32; 9] = [
    0.067_763_23,
    -0.118_074_72,
    0.119_498_01,
    -0.123_857_19,
    0.142_071_92,
    -0.166_688_11,
    0.200_028_73,
    -0.250_000_03,
    0.333_333,
];

/// The logarithm of `gamma(x) / (C (x / e)^(x - 1/2))` as a polynomial in `ln(x) - 1`, within 2^-28.
const CORRECTION: [f32; 10] = [
    1.009_359_6e-7,
    -1.486_610_1e-6,
    8.770_095_5e-6,
    -1.893_406_3e-5,
    -8.117_438e-5,
    0.000_921_948_75,
    -0.004_578_869,
    0.014_762_883,
    -0.030_265_354,
    0.030_523_22,
];

/// `C exp(f)` for |f| up to 0.36, where C is `sqrt(2 pi / e)` rounded, within 2^-27.
const EXP: [f32; 7] = [
    0.002_080_733_2,
    0.012_727_924,
    0.063_354_54,
    0.253_388_52,
    0.760_173_14,
    1.520_346_9,
    1.520_346_9,
];

/// `(sin(pi f) / (pi f) - 1) / f²` as a polynomial in f², for |f| up to 1/2.
const SINE_PI: [f32; 4] = [0.024_755_912, -0.190_462_4, 0.811_718_64, -1.644_933_5];

/// `ln(gamma(1 + f)) / f` for f in [-0.35, 0.5].
const ABOUT_1: [f32; 11] = [
    -0.062_029_492,
    0.122_608_83,
    -0.126_169_23,
    0.124_351_256,
    -0.142_162_34,
    0.169_493_8,
    -0.207_48,
    0.270_586,
    -0.400_683_9,
    0.822_466_97,
    -0.577_215_7,
];

/// `ln(gamma(2 + f)) / f` for f in [-0.5, 1].
const ABOUT_2: [f32; 10] = [
    5.467_408e-5,
    -0.000_230_156_64,
    0.000_541_393_06,
    -0.001_197_624_7,
    0.002_882_841_5,
    -0.007_384_677_4,
    0.020_581_666,
    -0.067_352_26,
    0.322_467,
    0.422_784_33,
];

/// `ln(gamma(5.5 + f))` for f in [-2.5, 2.5].
const ABOUT_5_5: [f32; 11] = [
    1.129_508_5e-8,
    -4.775_621_7e-8,
    1.384_597e-7,
    -1.334_371_2e-6,
    1.048_211_8e-5,
    -7.764_526_5e-5,
    0.000_653_189_26,
    -0.006_601_381_6,
    0.099_671_53,
    1.611_093_2,
    3.957_814,
];

/// `x ln(gamma(x) / (C (x / e)^(x - 1/2)))` as a polynomial in `1 / x²`, for x from 8 on.
const STIRLING: [f32; 2] = [-0.002_762_659, 0.083_333_276];
