//! Hyperbolic functions and their inverses.
//!
//! Method: with x = n ln 2 + r as for the exponential, polynomials for cosh r and sinh r give both e^r
//! and e^-r, so that cosh and sinh need no division. tanh x is (e^2x - 1) / (e^2x + 1), and e^2r comes from tanh r. The inverses are
//! logarithms of 1 + z, where z keeps what 1 + z would round away. Formulas: Abramowitz and Stegun,
//! chapter 4.5 and 4.6. The coefficients are Sollya's, of fpminimax.

use super::bits::ROUNDER;
use super::exponential::{LN_2, reduced_exp, scale_to_ends};
use super::logarithm::finite_ln_1p;
use crate::arch::float::{Exact, double_normal_sqrt, normal_reciprocal, normal_sqrt};
use core::f32::consts::LOG2_E;

#[inline]
pub(crate) fn sinh(x: f32) -> f32 {
    if x.abs() < 87.0 {
        let (sinh, cosh_less_one, sum, difference) = parts(x);
        // The sign of x is that of the result, and of a zero.
        sinh.fma(sum, cosh_less_one.fma(difference, difference))
            .copysign(x)
    } else {
        half_exp(x.abs()).copysign(x)
    }
}

#[inline]
pub(crate) fn cosh(x: f32) -> f32 {
    if x.abs() < 87.0 {
        let (sinh, cosh_less_one, sum, difference) = parts(x);
        sum + cosh_less_one.fma(sum, sinh * difference)
    } else {
        half_exp(x.abs())
    }
}

#[inline]
pub(crate) fn tanh(x: f32) -> f32 {
    // From 9.02 on the result is 1. (A NaN passes.)
    let a = if x.abs() > 10.0 { 10.0 } else { x.abs() };
    // e^2x = 2^n e^2r, the last bits of the sum are n and the bias of the exponent. The constant's error
    // does not matter, for where n is large, the result is nearly 1.
    let rounded = a.fma(2.0 * LOG2_E, ROUNDER + 127.0);
    let n = rounded - (ROUNDER + 127.0);
    let r = n.fma(-0.5 * LN_2[0], a);
    let square = r * r;
    let tanh = (r * square).fma(square.fma(0.130_928_6, -0.333_307_86), r);
    // e^2r = (1 + tanh r) / (1 - tanh r), which makes a fraction of both.
    let power = f32::from_bits(rounded.to_bits() << 23);
    let (less, more) = (power - 1.0, power + 1.0);
    let inverse = normal_reciprocal(less.fma(tanh, more));
    let quotient = more.fma(tanh, less) * inverse;
    // The numerator less quotient * divisor, without the roundings of the two.
    let rest = tanh.fma(more, quotient.fma(-more, less));
    let rest = tanh.fma(-less * quotient, rest);
    rest.fma(inverse, quotient).copysign(x)
}

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

/// `e^x / 2` for x from 87 on.
#[inline]
fn half_exp(x: f32) -> f32 {
    if x < 90.0 {
        let (power, rounded) = reduced_exp(x);
        scale_to_ends(power, rounded - 1.0)
    } else {
        x * f32::INFINITY
    }
}
