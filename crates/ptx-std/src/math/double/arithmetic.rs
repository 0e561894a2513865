//! Remainders, fractions and exponents.

use crate::arch::float::Exact;

/// The remainder of `x / y` with the sign of `x`, exactly. (`libm`'s has branches to panics.)
pub(crate) fn rem(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    let (mut rest, divisor) = (x.abs(), y.abs());
    while rest >= divisor {
        // The quotient fits a float's 53 bits.
        let excess = libm::ilogb(rest) - libm::ilogb(divisor) - 51;
        let step = libm::scalbn(divisor, excess.max(0));
        // Division may round up to an integer, never below one: the quotient is right or one too
        // great, and what is left, less than a step, has no more digits than the step has.
        rest = Exact::fma(-Exact::trunc(rest / step), step, rest);
        if rest < 0.0 {
            rest += step;
        }
    }
    rest.copysign(x)
}

#[inline]
pub(crate) fn frexp(x: f64) -> (f64, i32) {
    libm::frexp(x)
}

#[inline]
pub(crate) fn ldexp(x: f64, exponent: i32) -> f64 {
    libm::ldexp(x, exponent)
}

/// The exponent of two, with fixed answers where there is none.
pub(crate) fn unbiased_exponent(x: f64) -> i32 {
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.is_infinite() {
        i32::MAX
    } else {
        libm::ilogb(x)
    }
}
