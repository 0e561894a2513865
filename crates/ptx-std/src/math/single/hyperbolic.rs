//! Hyperbolic functions and their inverses.
//!
//! Method: with x = n ln 2 + r as for the exponential, polynomials for cosh r and sinh r give both e^r
//! and e^-r, so that cosh and sinh need no division. tanh x is (e^2x - 1) / (e^2x + 1), and e^2r comes from tanh r. The inverses are
//! logarithms of 1 + z, where z keeps what 1 + z would round away. Formulas: Abramowitz and Stegun,
//! chapter 4.5 and 4.6. The coefficients are Sollya's, of fpminimax.

use super::bits::ROUNDER;
use super::exponential::{LN_2, half_exponentials};
use super::logarithm::finite_ln_1p;
use crate::arch::float::{
    Exact, double_normal_sqrt, exp2_approx_ftz, normal_reciprocal, normal_sqrt, rcp_approx_ftz,
};
use crate::math::polynomial::polynomial;
use core::f32::consts::LOG2_E;

#[inline]
pub(crate) fn sinh(x: f32) -> f32 {
    if x.abs() < 87.0 {
        let (sinh, cosh_less_one, sum, difference) = parts(x);
        // The sign of x is that of the result, and of a zero.
        sinh.fma(sum, cosh_less_one.fma(difference, difference))
            .copysign(x)
    } else {
        half_exponentials(x.abs()).0.copysign(x)
    }
}

#[inline]
pub(crate) fn cosh(x: f32) -> f32 {
    let (half, inverse) = half_exponentials(x.abs());
    half + inverse
}

#[inline]
pub(crate) fn tanh(x: f32) -> f32 {
    let square = x * x;
    // tanh(x) = x + x^3 p(x^2)
    let p = polynomial(&TANH, square);
    let small = (square * p).fma(x, x);
    // 1 - 2 / (e^2x + 1), where infinity gives 1.
    let power = exp2_approx_ftz(x.abs() * (2.0 * LOG2_E));
    let large = rcp_approx_ftz(power + 1.0).fma(-2.0, 1.0);
    if x.abs() < 0.6 { small } else { large }.copysign(x)
}

/// (tanh(x) - x) / x^3 below 0.6 in x^2.
const TANH: [f32; 4] = [1.559_664_7e-2, -5.220_218_4e-2, 0.133_129_46, -0.333_325_9];

#[inline]
pub(crate) fn asinh(x: f32) -> f32 {
    let a = x.abs();
    let square = a * a;
    let sum = a.fma(a, 1.0);
    // sqrt(1 + a^2) - 1 without cancellation is a^2 / (1 + sqrt(1 + a^2)).
    let inverse = normal_reciprocal(1.0 + normal_sqrt(sum));
    ln_1p_or_of_double(a, square.fma(inverse, a)).copysign(x)
}

#[inline]
pub(crate) fn acosh(x: f32) -> f32 {
    // With h = (x - 1) / 2 the root of x^2 - 1 is twice that of h^2 + h.
    let h = x.fma(0.5, -0.5);
    let logarithm = ln_1p_or_of_double(x, h.fma(2.0, double_normal_sqrt(h.fma(h, h))));
    if x >= 1.0 { logarithm } else { f32::NAN }
}

#[inline]
pub(crate) fn atanh(x: f32) -> f32 {
    let a = x.abs();
    let rest = 1.0 - a;
    let arc = 0.5 * finite_ln_1p((a + a) * normal_reciprocal(rest));
    // Infinity at 1; NaN beyond, where the rest's sign falls among the digits.
    let end = f32::from_bits(f32::INFINITY.to_bits() | rest.to_bits() >> 9);
    if a < 1.0 { arc } else { end }.copysign(x)
}

/// `ln(1 + z)` up to an argument of 1e15, and `ln(2 a)` beyond, where the square of `a` may overflow.
#[inline]
fn ln_1p_or_of_double(a: f32, z: f32) -> f32 {
    let is_small = a <= 1e15;
    let logarithm = finite_ln_1p(if is_small { z } else { a });
    // The product is nothing beside the logarithm, but infinite or NaN for what finite_ln_1p does not know.
    let of_double = a.fma(f32::from_bits(1), logarithm + LN_2[0]);
    if is_small { logarithm } else { of_double }
}

/// sinh r, cosh r - 1, and (2^n + 2^-n) / 2, (2^n - 2^-n) / 2.
#[inline]
fn parts(x: f32) -> (f32, f32, f32, f32) {
    // The last bits of the sum are n and the bias of the exponent less one, for the half.
    let rounded = x.fma(LOG2_E, ROUNDER + 126.0);
    let n = rounded - (ROUNDER + 126.0);
    let r = n.fma(-LN_2[1], n.fma(-LN_2[0], x));
    let square = r * r;
    let sinh = (r * square).fma(square.fma(8.366_543e-3, 0.166_665_43), r);
    let cosh_less_one = square * square.fma(1.393_576_5e-3, 4.166_645_6e-2).fma(square, 0.5);
    let power = rounded.to_bits() << 23;
    let inverse = f32::from_bits((252_u32 << 23).wrapping_sub(power));
    let power = f32::from_bits(power);
    (sinh, cosh_less_one, power + inverse, power - inverse)
}
