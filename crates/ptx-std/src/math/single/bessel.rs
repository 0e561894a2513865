//! Bessel functions of orders 0 and 1.
//!
//! Up to 8 each function is the product of its zeros there and a polynomial; those of the second kind
//! have one such interval for each zero, and near 0 the logarithm of their definition. Beyond 8 they are
//! `x^(-1/2) A(1/x²) cos(x - c + B(1/x²) / x)`: amplitude and phase as Hankel's expansion has them, and x
//! reduced by Cody and Waite's method or, far out, Payne and Hanek's.

use super::bessel_coefficients::{
    AMPLITUDE_0, AMPLITUDE_1, COSINE, J0, J0_SMALL, J1, PHASE_0, PHASE_1, SINE, Y0_1, Y0_2, Y0_3,
    Y0_LOGARITHM, Y0_SMALL, Y1_1, Y1_2, Y1_3, Y1_LOGARITHM, Y1_SMALL,
};
use super::bits::ROUNDER;
use super::gamma::ln_small;
use super::payne_hanek::coarse_turns;
use crate::arch::float::{Exact, rsqrt_approx_ftz};
use crate::math::polynomial::polynomial;

#[inline]
pub(crate) fn j0(x: f32) -> f32 {
    let x = x.abs();
    if x < 1.0 {
        let square = x * x;
        Exact::fma(square, polynomial(&J0_SMALL, square), 1.0)
    } else if x <= 8.0 {
        let a = (x - 2.4048254) - 1.08705905e-7;
        let b = (x - 5.520078) + 7.1934146e-8;
        let c = (x - 8.653728) - 3.8147792e-7;
        a * polynomial(&J0, x - 4.0) * b * c
    } else {
        wave(x, 0, &AMPLITUDE_0, &PHASE_0)
    }
}

#[inline]
pub(crate) fn j1(x: f32) -> f32 {
    let y = x.abs();
    if y <= 8.0 {
        let a = (y - 3.831706) + 7.685059e-8;
        let b = (y - 7.015587) + 1.8321172e-7;
        x * (a * polynomial(&J1, y - 4.0) * b)
    } else {
        let value = wave(y, 3, &AMPLITUDE_1, &PHASE_1);
        if x < 0.0 { -value } else { value }
    }
}

/// Both, for finite x above 1.
#[inline(always)]
pub(super) fn j0_and_j1(x: f32) -> (f32, f32) {
    (j0(x), j1(x))
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y0(x: f32) -> f32 {
    if x > 8.0 {
        wave(x, 3, &AMPLITUDE_0, &PHASE_0)
    } else if x >= 5.5 {
        about((x - 7.086051) - 7.305812e-8, &Y0_3)
    } else if x >= 1.95 {
        about((x - 3.9576783) - 1.0129118e-7, &Y0_2)
    } else if x >= 0.6 {
        about((x - 0.893577) + 1.3357979e-8, &Y0_1)
    } else if x >= 0.0 {
        let square = x * x;
        let rest = polynomial(&Y0_SMALL, square);
        Exact::fma(ln_small(x), polynomial(&Y0_LOGARITHM, square), rest)
    } else {
        f32::NAN
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y1(x: f32) -> f32 {
    if x > 8.0 {
        wave(x, 2, &AMPLITUDE_1, &PHASE_1)
    } else if x >= 7.0 {
        about((x - 8.596005) - 4.2857286e-7, &Y1_3)
    } else if x >= 3.8 {
        about((x - 5.429681) - 2.1651435e-7, &Y1_2)
    } else if x >= 1.2 {
        about((x - 2.1971414) + 8.288927e-8, &Y1_1)
    } else if x > 0.0 {
        let square = x * x;
        let rest = polynomial(&Y1_SMALL, square);
        let smooth = Exact::fma(ln_small(x), polynomial(&Y1_LOGARITHM, square), rest);
        Exact::fma(x, smooth, -core::f32::consts::FRAC_2_PI / x)
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    }
}

/// A function near the zero at this distance.
#[inline(always)]
fn about(distance: f32, coefficients: &[f32]) -> f32 {
    distance * polynomial(coefficients, distance)
}

/// `x^(-1/2) A(1/x²) cos(x - pi/4 + B(1/x²) / x + quarters pi/2)` for x above 8; 0 at infinity.
#[inline(always)]
fn wave(x: f32, quarters: u32, amplitude: &[f32], phase: &[f32]) -> f32 {
    let root = rsqrt_approx_ftz(x);
    let (r, n) = if x < 1_048_576.0 {
        reduced(x)
    } else if x == f32::INFINITY {
        // The function is a positive 0.
        (0.0, quarters.wrapping_neg())
    } else {
        reduced_far(x)
    };
    let reciprocal = root * root;
    let square = reciprocal * reciprocal;
    let angle = Exact::fma(reciprocal, polynomial(phase, square), r);
    root * polynomial(amplitude, square) * cosine(angle, n.wrapping_add(quarters))
}

/// `x - pi/4 - n pi/2`, within pi/4 of 0, and n; for x up to 2^20.
#[inline(always)]
fn reduced(x: f32) -> (f32, u32) {
    let shifted = Exact::fma(x, core::f32::consts::FRAC_2_PI, -0.5) + ROUNDER;
    let quarters = (shifted - ROUNDER) + 0.5;
    let r = Exact::fma(-quarters, core::f32::consts::FRAC_PI_2, x);
    (Exact::fma(quarters, 4.371139e-8, r), shifted.to_bits())
}

/// The same for larger numbers; for infinity and NaN some angle.
#[inline(always)]
fn reduced_far(x: f32) -> (f32, u32) {
    let turns = coarse_turns(x);
    // Without the quarters, which are the topmost two bits, and less half of one.
    let fraction = (turns & ((1 << 62) - 1)) as i64 - (1 << 61);
    // The upper half of the fraction in units of 2^-30.
    let r = (fraction >> 32) as i32 as f32 * (core::f32::consts::FRAC_PI_2 / 1_073_741_824.0);
    (r, (turns >> 62) as u32)
}

/// `cos(x + n pi/2)` for |x| up to 0.81.
#[inline(always)]
fn cosine(x: f32, n: u32) -> f32 {
    let square = x * x;
    let odd = n & 1 == 1;
    let coefficients = if odd { SINE } else { COSINE };
    let sum = polynomial(&coefficients, square);
    let first = if odd { x } else { 1.0 };
    let value = Exact::fma(first * square, sum, first);
    // cos, -sin, -cos, sin.
    f32::from_bits(value.to_bits() ^ (n.wrapping_add(1) & 2) << 30)
}
