//! Modified Bessel functions of the first kind.
//!
//! Power series up to 9 and polynomials times `exp(x) / sqrt(x)` beyond. The polynomials are minimax, fitted
//! for this file in mpmath by Lawson's algorithm, with coefficients rounded one after the other.

use super::bits::power_of_two;
use super::gamma::exp_scaled;
use crate::arch::float::{Exact, rsqrt_approx_ftz};
use crate::math::polynomial::polynomial;

#[inline]
pub(crate) fn cyl_bessel_i0(x: f32) -> f32 {
    let x = x.abs();
    if x <= 9.0 {
        let square = x * x;
        Exact::fma(square, polynomial(&I0_SMALL, square), 1.0)
    } else {
        modified(x, &I0_LARGE)
    }
}

#[inline]
pub(crate) fn cyl_bessel_i1(x: f32) -> f32 {
    let y = x.abs();
    if y <= 9.0 {
        x * polynomial(&I1_SMALL, x * x)
    } else {
        modified(y, &I1_LARGE).copysign(x)
    }
}

/// The polynomial of 1 / x times `C exp(x) / sqrt(x)`, for x above 9 or NaN.
#[inline(always)]
fn modified(x: f32, coefficients: &[f32]) -> f32 {
    // It is infinite long before.
    let x = if x > 100.0 { 100.0 } else { x };
    // One step of Newton's method leaves less than 1 unit.
    let root = rsqrt_approx_ftz(x);
    let root = Exact::fma(root, Exact::fma(-0.5 * x * root, root, 0.5), root);
    let (value, exponent) = exp_scaled(x, 0.0);
    let value = value * (root * polynomial(coefficients, root * root));
    // exp(x) overflows before the function does.
    value * power_of_two(exponent - 16) * 65_536.0
}

/// `(I0(x) - 1) / x²` as a polynomial in x², for x up to 9.
const I0_SMALL: [f32; 10] = [
    1.5810193e-19,
    1.33811965e-17,
    1.0860353e-14,
    2.3205535e-12,
    4.737655e-10,
    6.7757945e-08,
    6.7824085e-06,
    0.00043402295,
    0.015625015,
    0.24999999,
];

/// `I0(x) sqrt(x) / (C exp(x))` as a polynomial in 1/x; C as in [`exp_scaled`].
const I0_LARGE: [f32; 5] = [
    0.061364803,
    0.015435484,
    0.018614747,
    0.032797948,
    0.26240215,
];

/// `I1(x) / x` as a polynomial in x², for x up to 9.
const I1_SMALL: [f32; 10] = [
    3.1879487e-18,
    2.3557199e-16,
    1.7404868e-13,
    3.2498115e-11,
    5.6835106e-09,
    6.7764864e-07,
    5.4257973e-05,
    0.0026041488,
    0.06250002,
    0.5,
];

/// `I1(x) sqrt(x) / (C exp(x))` as a polynomial in 1/x.
const I1_LARGE: [f32; 5] = [
    -0.074753374,
    -0.022717996,
    -0.03091939,
    -0.09839889,
    0.26240215,
];
