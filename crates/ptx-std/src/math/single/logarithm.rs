//! Logarithms.
//!
//! Method: x = 2^n (1 + f) with 1 + f from about 3/4 to 3/2, so that f is exact and the logarithm of 1 + f
//! does not cancel n's; and a polynomial in f, which is accurate relative to f; see Muller, "Elementary
//! Functions", chapter 11. The coefficients are Sollya's, of fpminimax.

use super::exponential::LN_2;
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;
use core::hint::cold_path;

/// log10 2 in two parts.
const LOG10_2: [f32; 2] = [core::f32::consts::LOG10_2, -1.432_098_9e-8];

/// The least 1 + f for the natural logarithm: where n is 1, f of `ln_1p` is exact, too.
const LEAST: f32 = 0.75;
/// The least 1 + f for the others, whose n weighs less.
const LEAST_OF_OTHERS: f32 = core::f32::consts::FRAC_1_SQRT_2;
/// The bits of sign and exponent.
const EXPONENT: u32 = 0xff80_0000;
/// n is used as n * 2^23, as it stands in the bits.
const UNIT: f32 = 1.0 / 8_388_608.0;

/// A logarithm of 1 + f is `f * (high + (low + f * tail(f)))`, where high + low is the derivative at 1 and
/// the tail's coefficients are these, the highest power's first.
type Tail = [f32; 9];

const LN: Tail = [
    -4.518_040_6e-2,
    0.104_802_97,
    -0.131_697_48,
    0.144_785_94,
    -0.166_464_31,
    0.199_907_14,
    -0.250_001_16,
    0.333_334_54,
    -0.5,
];
const LOG2: Tail = [
    -0.110_215_53,
    0.186_571_55,
    -0.191_159_19,
    0.204_538_88,
    -0.239_595_41,
    0.288_570_28,
    -0.360_697_9,
    0.480_898_2,
    -0.721_347_33,
];
const LOG10: Tail = [
    -3.308_091_7e-2,
    5.608_286e-2,
    -5.754_479_4e-2,
    6.158_633e-2,
    -7.212_735e-2,
    8.686_755_6e-2,
    -0.108_580_75,
    0.144_764_8,
    -0.217_147_19,
];

#[inline]
pub(crate) fn ln(x: f32) -> f32 {
    of_normal_or(x, LEAST, |n, f| n.fma(UNIT * LN_2[0], reduced_ln_1p(f)))
}

#[inline]
pub(crate) fn log2(x: f32) -> f32 {
    // 1 / ln 2
    const HIGH: f32 = 1.442_695;
    const LOW: f32 = 1.925_963e-8;
    of_normal_or(x, LEAST_OF_OTHERS, |n, f| {
        n.fma(UNIT, f.fma(HIGH, f * f.fma(polynomial(&LOG2, f), LOW)))
    })
}

#[inline]
pub(crate) fn log10(x: f32) -> f32 {
    // 1 / ln 10
    const HIGH: f32 = 0.434_294_5;
    const LOW: f32 = -1.010_305e-8;
    of_normal_or(x, LEAST_OF_OTHERS, |n, f| {
        let low = n.fma(UNIT * LOG10_2[1], f * f.fma(polynomial(&LOG10, f), LOW));
        n.fma(UNIT * LOG10_2[0], f.fma(HIGH, low))
    })
}

#[inline]
pub(crate) fn ln_1p(x: f32) -> f32 {
    if x > -1.0 && x < f32::INFINITY {
        // The sign of x is that of the result, and of a zero.
        return finite_ln_1p(x).copysign(x);
    }
    cold_path();
    if x == -1.0 {
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
    // A 1 + x that is rounded up to 1.5 has the n of those below: halved, its x would be too fine for f.
    let least = LEAST.next_up();
    let n = (1.0 + x).to_bits().wrapping_sub(least.to_bits()) & EXPONENT;
    // f = (1 + x) / 2^n - 1 without the rounding of 1 + x. 4 / 2^n is a normal number for every n.
    let scaled = f32::from_bits(x.to_bits().wrapping_sub(n));
    let inverse = f32::from_bits(4.0_f32.to_bits().wrapping_sub(n));
    let f = scaled + inverse.fma(0.25, -1.0);
    (n as i32 as f32).fma(UNIT * LN_2[0], reduced_ln_1p(f))
}

/// The logarithm of x by way of `logarithm(n * 2^23, f)`.
#[inline]
fn of_normal_or(x: f32, least_part: f32, logarithm: impl Fn(f32, f32) -> f32) -> f32 {
    let least = f32::MIN_POSITIVE.to_bits();
    if x.to_bits().wrapping_sub(least) < f32::INFINITY.to_bits() - least {
        let (n, f) = split(x.to_bits(), least_part);
        logarithm(n, f)
    } else {
        of_other(x, least_part, logarithm)
    }
}

/// The logarithm of an x that is not both positive and normal.
#[cold]
#[inline(never)]
fn of_other(x: f32, least_part: f32, logarithm: impl Fn(f32, f32) -> f32) -> f32 {
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else if x < f32::MIN_POSITIVE {
        let (n, f) = split(subnormal_bits(x), least_part);
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

/// n * 2^23 and f of a number whose exponent may be below the least, for 1 + f from `least` to its double.
#[inline]
pub(super) fn split(bits: u32, least: f32) -> (f32, f32) {
    let n = bits.wrapping_sub(least.to_bits()) & EXPONENT;
    (n as i32 as f32, f32::from_bits(bits.wrapping_sub(n)) - 1.0)
}

/// `ln(1 + f)`
#[inline]
fn reduced_ln_1p(f: f32) -> f32 {
    f.fma(f * polynomial(&LN, f), f)
}
