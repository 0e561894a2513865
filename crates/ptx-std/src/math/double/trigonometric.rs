//! Sines, cosines and tangents.

use crate::arch::float::Exact;

#[inline]
pub(crate) fn sin(x: f64) -> f64 {
    libm::sin(x)
}

#[inline]
pub(crate) fn cos(x: f64) -> f64 {
    libm::cos(x)
}

#[inline]
pub(crate) fn tan(x: f64) -> f64 {
    libm::tan(x)
}

#[inline]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

#[inline]
pub(crate) fn sinpi(x: f64) -> f64 {
    sincospi(x).0
}

#[inline]
pub(crate) fn cospi(x: f64) -> f64 {
    sincospi(x).1
}

/// Sine and cosine of `pi * x`.
pub(crate) fn sincospi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Both differences are exact: nothing is lost however large x is.
    let turn = x - 2.0 * Exact::round_ties_even(0.5 * x);
    let quarters = Exact::round_ties_even(2.0 * turn);
    let angle = core::f64::consts::PI * (turn - 0.5 * quarters);
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
