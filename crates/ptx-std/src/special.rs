//! Functions that `libm` lacks or does slowly on a GPU, in `f64`.

use core::f64::consts::PI;

use libm::{cbrtf, cos, ilogb, scalbn, sin};

use crate::arch::float::Exact;

pub(crate) mod bessel;
pub(crate) mod normal;

/// Sine and cosine of `pi * x`.
pub(crate) fn sin_cos_pi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Both differences are exact: nothing is lost however large x is.
    let turn = x - 2.0 * Exact::round_ties_even(0.5 * x);
    let quarters = Exact::round_ties_even(2.0 * turn);
    let angle = PI * (turn - 0.5 * quarters);
    let (s, c) = (sin(angle), cos(angle));
    let (sine, cosine) = match quarters as i32 & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    };
    // IEEE 754: a zero of the sine has the sign of x, one of the cosine is positive.
    let sine = if sine == 0.0 { sine.copysign(x) } else { sine };
    (sine, cosine + 0.0)
}

/// The remainder of `x / y` with the sign of `x`, exactly. (`libm`'s has branches to panics.)
pub(crate) fn rem(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    let (mut rest, divisor) = (x.abs(), y.abs());
    while rest >= divisor {
        // The quotient fits a float's 53 bits.
        let excess = ilogb(rest) - ilogb(divisor) - 51;
        let step = scalbn(divisor, excess.max(0));
        // Division may round up to an integer, never below one: the quotient is right or one too
        // great, and what is left, less than a step, has no more digits than the step has.
        rest = Exact::fma(-Exact::trunc(rest / step), step, rest);
        if rest < 0.0 {
            rest += step;
        }
    }
    rest.copysign(x)
}

/// The cube root. (`libm`'s has six multiply-adds in software.)
pub(crate) fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let thirds = ilogb(x).div_euclid(3);
    let cube = scalbn(x.abs(), -3 * thirds);
    // 24 bits are right, so that the square is exact; Halley's step triples them.
    let root = f64::from(cbrtf(cube as f32));
    let excess = Exact::fma(root * root, root, -cube);
    let root = root - root * excess / (3.0 * cube + 2.0 * excess);
    scalbn(root, thirds).copysign(x)
}

/// `1 / cbrt(x)`.
pub(crate) fn rcbrt(x: f64) -> f64 {
    1.0 / cbrt(x)
}

/// The exponent of two, with fixed answers where there is none.
pub(crate) fn unbiased_exponent(x: f64) -> i32 {
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.is_infinite() {
        i32::MAX
    } else {
        ilogb(x)
    }
}

/// The polynomial with these coefficients, the highest power's first.
#[inline]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The sum of Chebyshev polynomials with these coefficients, the highest degree's first, for t in
/// [-1, 1], by Clenshaw's recurrence.
#[inline]
fn chebyshev(coefficients: &[f64], t: f64) -> f64 {
    let (sum, next) = coefficients
        .iter()
        .fold((0.0, 0.0), |(sum, next), c| (c + 2.0 * t * sum - next, sum));
    // Degree 0 has t once where the recurrence has it twice.
    sum - t * next
}
