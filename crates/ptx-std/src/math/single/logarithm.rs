//! Logarithms.
//!
//! Method: x = 2^n (1 + f) with 1 + f between the roots of 1/2 and 2, so that f is exact and the
//! logarithm of 1 + f does not cancel n's; and a polynomial in f, which is accurate relative to f; see
//! Muller, "Elementary Functions", chapter 11. The coefficients are Sollya's, of fpminimax.

use super::exponential::{LN_2, LOG10_2};
use crate::arch::float::Exact;

/// The root of 1/2.
const ROOT_HALF: u32 = 0x3f35_04f3;
/// The bits of sign and exponent.
const EXPONENT: u32 = 0xff80_0000;
/// n is used as n * 2^23, as it stands in the bits.
const UNIT: f32 = 1.0 / 8_388_608.0;

#[inline]
pub(crate) fn ln(x: f32) -> f32 {
    of_normal_or(x, |n, f| n.fma(UNIT * LN_2[0], reduced_ln_1p(f)))
}

#[inline]
pub(crate) fn log2(x: f32) -> f32 {
    // 1 / ln 2
    const HIGH: f32 = 1.442_695;
    const LOW: f32 = 1.925_963e-8;
    of_normal_or(x, |n, f| {
        n.fma(UNIT, f.fma(HIGH, f * (f * tail(f)).fma(HIGH, LOW)))
    })
}

#[inline]
pub(crate) fn log10(x: f32) -> f32 {
    // 1 / ln 10
    const HIGH: f32 = 0.434_294_5;
    const LOW: f32 = -1.010_305_4e-8;
    of_normal_or(x, |n, f| {
        let low = f * (f * tail(f)).fma(HIGH, LOW);
        n.fma(
            UNIT * LOG10_2[0],
            f.fma(HIGH, n.fma(UNIT * LOG10_2[1], low)),
        )
    })
}

#[inline]
pub(crate) fn ln_1p(x: f32) -> f32 {
    if x > -1.0 && x < f32::INFINITY {
        // The sign of x is that of the result, and of a zero.
        finite_ln_1p(x).copysign(x)
    } else if x == -1.0 {
        f32::NEG_INFINITY
    } else if x < -1.0 {
        f32::NAN
    } else {
        x
    }
}

/// `ln(1 + x)` for x above -1, but for the sign of a zero.
#[inline]
pub(super) fn finite_ln_1p(x: f32) -> f32 {
    let n = (1.0 + x).to_bits().wrapping_sub(ROOT_HALF) & EXPONENT;
    // f = (1 + x) / 2^n - 1 without the rounding of 1 + x. 4 / 2^n is a normal number for every n.
    let scaled = f32::from_bits(x.to_bits().wrapping_sub(n));
    let inverse = f32::from_bits(4.0_f32.to_bits().wrapping_sub(n));
    let f = scaled + inverse.fma(0.25, -1.0);
    (n as i32 as f32).fma(UNIT * LN_2[0], reduced_ln_1p(f))
}

/// The logarithm of x by way of `logarithm(n * 2^23, f)`.
#[inline]
fn of_normal_or(x: f32, logarithm: impl Fn(f32, f32) -> f32) -> f32 {
    let least = f32::MIN_POSITIVE.to_bits();
    if x.to_bits().wrapping_sub(least) < f32::INFINITY.to_bits() - least {
        let (n, f) = split(x.to_bits());
        logarithm(n, f)
    } else {
        of_other(x, logarithm)
    }
}

/// The logarithm of an x that is not both positive and normal.
#[cold]
#[inline(never)]
fn of_other(x: f32, logarithm: impl Fn(f32, f32) -> f32) -> f32 {
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else if x < f32::MIN_POSITIVE {
        let (n, f) = split(subnormal_bits(x));
        logarithm(n, f)
    } else {
        x
    }
}

/// The bits of a subnormal number as if exponents went further down.
#[inline]
pub(super) fn subnormal_bits(x: f32) -> u32 {
    (x * 8_388_608.0).to_bits().wrapping_sub(23 << 23)
}

/// n * 2^23 and f of a number whose exponent may be below the least.
#[inline]
pub(super) fn split(bits: u32) -> (f32, f32) {
    let n = bits.wrapping_sub(ROOT_HALF) & EXPONENT;
    (n as i32 as f32, f32::from_bits(bits.wrapping_sub(n)) - 1.0)
}

/// `ln(1 + f)` for the f of [`split`].
#[inline]
fn reduced_ln_1p(f: f32) -> f32 {
    f.fma(f * tail(f), f)
}

/// `(ln(1 + f) - f) / f²`
#[inline]
fn tail(f: f32) -> f32 {
    f.fma(-7.623_974e-2, 0.129_090_89)
        .fma(f, -0.132_445_62)
        .fma(f, 0.141_811_34)
        .fma(f, -0.166_087_66)
        .fma(f, 0.200_020_03)
        .fma(f, -0.250_016)
        .fma(f, 0.333_333_25)
        .fma(f, -0.499_999_88)
}
