//! Remainders, fractions and exponents.

use super::bits::power_of_two;
use crate::arch::float::Exact;

/// The remainder of `x / y` with the sign of `x`, exactly.
#[inline]
pub(crate) fn rem(x: f32, y: f32) -> f32 {
    let (size, divisor) = (x.abs(), y.abs());
    let rest = if size < divisor {
        size
    } else if size < divisor * QUOTIENT {
        // Of the arguments, not of their magnitudes: div_euclid has that quotient, too.
        less_multiple(size, divisor, (x / y).abs())
    } else {
        far_rem(size, divisor)
    };
    rest.copysign(x)
}

/// 2^23: the integer part of a quotient that is less is right or one too great.
const QUOTIENT: f32 = 8_388_608.0;

/// `x` less the greatest multiple of `y`, from their quotient.
#[inline]
fn less_multiple(x: f32, y: f32, quotient: f32) -> f32 {
    // A quotient is rounded up to an integer at most. What is left is less than `y` in magnitude and
    // has no more digits.
    let rest = Exact::fma(-Exact::trunc(quotient), y, x);
    if rest < 0.0 { rest + y } else { rest }
}

/// The remainder of positive numbers: with ever smaller multiples of the divisor.
#[cold]
fn far_rem(x: f32, y: f32) -> f32 {
    if !(x <= f32::MAX && y > 0.0) {
        return f32::NAN;
    }
    let mut rest = x;
    while rest >= y {
        let excess = normal(rest).1 - normal(y).1 - 22;
        let multiple = ldexp(y, excess.max(0));
        rest = less_multiple(rest, multiple, rest / multiple);
    }
    rest
}

#[inline]
pub(crate) fn frexp(x: f32) -> (f32, i32) {
    let Some(exponent) = exponent_of_normal(x) else {
        core::hint::cold_path();
        if x == 0.0 || !x.is_finite() {
            return (x, 0);
        }
        let (normal, field) = normal(x);
        return (fraction(normal), field - 126);
    };
    (fraction(x), exponent + 1)
}

/// The digits and the sign of a normal number, with the exponent of 1/2.
#[inline]
fn fraction(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & 0x807f_ffff | 0x3f00_0000)
}

/// The exponent of two, or `None` for zeros, subnormal numbers, infinities and NaN.
#[inline]
fn exponent_of_normal(x: f32) -> Option<i32> {
    // Without the sign, and less the least that a normal number has: one comparison finds both ends.
    let bits = (x.to_bits() << 1).wrapping_sub(0x0100_0000);
    (bits < 0xfe00_0000).then_some((bits >> 24) as i32 - 126)
}

/// `x`, times 2^24 if it is subnormal; and the exponent field of `x`, as if that had no least
/// value.
#[inline]
fn normal(x: f32) -> (f32, i32) {
    let subnormal = x.abs() < f32::MIN_POSITIVE;
    let x = if subnormal { x * 16_777_216.0 } else { x };
    let less = if subnormal { 24 } else { 0 };
    (x, (x.to_bits() >> 23 & 0xff) as i32 - less)
}

#[inline]
pub(crate) fn ldexp(x: f32, exponent: i32) -> f32 {
    // Beyond these, every number overflows or vanishes.
    let exponent = exponent.clamp(-280, 280);
    // Three factors where one is not enough. The two alike are so small or great that only the
    // last product is rounded.
    let third = if exponent.abs() > 126 {
        exponent / 3
    } else {
        0
    };
    x * power_of_two(exponent - 2 * third) * power_of_two(third) * power_of_two(third)
}

/// The exponent of two, with fixed answers where there is none.
#[inline]
pub(crate) fn unbiased_exponent(x: f32) -> i32 {
    if let Some(exponent) = exponent_of_normal(x) {
        return exponent;
    }
    core::hint::cold_path();
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.is_infinite() {
        i32::MAX
    } else {
        normal(x).1 - 127
    }
}
