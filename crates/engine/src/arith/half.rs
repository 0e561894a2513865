//! Arithmetic of `f16` and `bf16`, whose registers are `u16`: `add::<F16>`, `fma::<Bf16>`.
//!
//! Each result is rounded once. Modifiers compose: `add.ftz.sat.f16` is `saturate(flush(add(flush(a), flush(b))))`, and
//! `fma.rn.ftz.relu.f16` is `relu(fma_ftz(a, b, c))`. Packed types are [`packed`]. What has operands of `f16` and
//! results of `f32`, such as `fma.rn.f32.f16` and comparisons, is the function of `f32` of [`Half::to_f32`].

use super::directed::{Exact, Format, Rounding};
use super::float::{self, Float};

/// The format of a `u16`: [`F16`] or [`Bf16`].
pub trait Half: Copy {
    /// How it is laid out.
    const FORMAT: Format;
    /// Infinity's bits.
    const INFINITY: u16 = Self::FORMAT.max as u16 + 1;
    /// 1.
    const ONE: u16;

    /// The same value.
    fn to_f32(bits: u16) -> f32;
    /// Rounded to the nearest, ties to even; NaN is the hardware's.
    fn nearest(x: f32) -> u16;
    /// [`fma`], except for what is no number.
    fn fused(a: u16, b: u16, c: u16) -> u16;
}

/// `f16`: 5 bits of exponent and 10 of fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum F16 {}

/// `bf16`: the upper half of an `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bf16 {}

/// The NaN that the hardware gives where a result is no number, of either format.
pub const NAN: u16 = 0x7fff;

const SIGN: u16 = 0x8000;

impl Half for F16 {
    const FORMAT: Format = Format::F16;
    const ONE: u16 = 0x3c00;

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        // Of a subnormal f32 the exponent, 127 instead of 15, is put right by a multiplication, which is exact.
        let magnitude =
            f32::from_bits(u32::from(bits & !SIGN) << 13) * f32::from_bits((254 - 15) << 23);
        let special = f32::from_bits(u32::from(bits & !SIGN) << 13 | 0x7f80_0000);
        let is_finite = (bits & !SIGN) < Self::INFINITY;
        let sign = u32::from(bits & SIGN) << 16;
        f32::from_bits(if is_finite { magnitude } else { special }.to_bits() | sign)
    }

    #[inline(always)]
    fn nearest(x: f32) -> u16 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        // The last digit of an f16 has at least 2^-24, which is that of an f32 of 0.5: the addition rounds.
        let subnormal = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0.5f32.to_bits());
        // A carry goes into the exponent, and from the greatest one to infinity.
        let odd = magnitude >> 13 & 1;
        let normal = magnitude
            .wrapping_sub((127 - 15) << 23)
            .wrapping_add(0xfff + odd)
            >> 13;
        let finite = if magnitude < (127 - 14) << 23 {
            subnormal
        } else {
            normal
        };
        let bits = if magnitude < 0x4780_0000 {
            finite
        } else {
            Self::INFINITY.into()
        };
        let sign = (x.to_bits() >> 16) as u16 & SIGN;
        if magnitude > 0x7f80_0000 {
            NAN
        } else {
            bits as u16 | sign
        }
    }

    #[inline(always)]
    fn fused(a: u16, b: u16, c: u16) -> u16 {
        // The product is exact.
        Self::nearest(add_to_odd(
            Self::to_f32(a) * Self::to_f32(b),
            Self::to_f32(c),
        ))
    }
}

impl Half for Bf16 {
    const FORMAT: Format = Format::BF16;
    const ONE: u16 = 0x3f80;

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[inline(always)]
    fn nearest(x: f32) -> u16 {
        let bits = x.to_bits();
        let odd = bits >> 16 & 1;
        let rounded = (bits.wrapping_add(0x7fff + odd) >> 16) as u16;
        if bits & 0x7fff_ffff > 0x7f80_0000 {
            NAN
        } else {
            rounded
        }
    }

    #[inline(always)]
    fn fused(a: u16, b: u16, c: u16) -> u16 {
        let [a, b, c] = [a, b, c].map(|x| f64::from(Self::to_f32(x)));
        Self::nearest(narrow_to_odd(add_to_odd(a * b, c)))
    }
}

/// One of the two numbers next to an inexact result, the nearest of which is known: that whose last digit is
/// odd, on which later roundings to fewer digits do as on the exact result. The error is the exact result minus the nearest.
#[inline(always)]
fn odd<F: Float>(nearest: F, error: F) -> F {
    let [is_above, is_below] = [error > F::ZERO, error < F::ZERO];
    let is_even = nearest.to_bits() & 1 == 0;
    let is_negative = F::ONE.with_sign_of(nearest) < F::ZERO;
    let step = if is_below == is_negative { 1 } else { u64::MAX };
    let step = if (is_above | is_below) & is_even {
        step
    } else {
        0
    };
    F::from_bits(nearest.to_bits().wrapping_add(step))
}

/// `a + b`, rounded to odd.
#[inline(always)]
pub(super) fn add_to_odd<F: Float>(a: F, b: F) -> F {
    let sum = a + b;
    let of_b = sum - a;
    odd(sum, (a - (sum - of_b)) + (b - of_b))
}

/// `x`, rounded to odd.
#[inline(always)]
fn narrow_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let error = x - f64::from(nearest);
    let step = (error > 0.0) as i8 - (error < 0.0) as i8;
    odd(nearest, f32::from(step))
}

/// From `f32`.
#[inline(always)]
pub fn from_f32<H: Half>(x: f32, rounding: Rounding) -> u16 {
    match rounding {
        Rounding::Nearest => H::nearest(x),
        _ => from_float::<H, f32>(x, rounding),
    }
}

/// From `f64`, of which NaN keeps the sign and the upper digits.
#[inline(always)]
pub fn from_f64<H: Half>(x: f64, rounding: Rounding) -> u16 {
    let number = match rounding {
        Rounding::Nearest => nearest::<H>(x),
        _ => from_float::<H, f64>(x, rounding),
    };
    let digits =
        (x.to_bits() >> (52 - H::FORMAT.fraction)) as u16 & ((1 << H::FORMAT.fraction) - 1);
    let nan =
        (x.to_bits() >> 48) as u16 & SIGN | H::INFINITY | digits | 1 << (H::FORMAT.fraction - 1);
    if x.is_nan() { nan } else { number }
}

/// The nearest of an approximation's result; NaN is the hardware's.
#[inline(always)]
pub(super) fn nearest<H: Half>(x: f64) -> u16 {
    H::nearest(narrow_to_odd(x))
}

#[inline(never)]
fn from_float<H: Half, F: Float>(x: F, rounding: Rounding) -> u16 {
    if x.magnitude() < F::INFINITY {
        Exact::of(x).round(H::FORMAT, rounding) as u16
    } else if float::is_nan(x) {
        NAN
    } else {
        H::INFINITY | if x < F::ZERO { SIGN } else { 0 }
    }
}

/// `add`.
#[inline(always)]
pub fn add<H: Half>(a: u16, b: u16) -> u16 {
    // An f32 has more than twice the digits and two, so that rounding twice is rounding once.
    H::nearest(H::to_f32(a) + H::to_f32(b))
}

/// `sub`.
#[inline(always)]
pub fn sub<H: Half>(a: u16, b: u16) -> u16 {
    H::nearest(H::to_f32(a) - H::to_f32(b))
}

/// `mul`.
#[inline(always)]
pub fn mul<H: Half>(a: u16, b: u16) -> u16 {
    H::nearest(narrow_to_odd(
        f64::from(H::to_f32(a)) * f64::from(H::to_f32(b)),
    ))
}

/// `fma`.
#[inline(always)]
pub fn fma<H: Half>(a: u16, b: u16, c: u16) -> u16 {
    H::fused(a, b, c)
}

/// `mul.ftz`, for `f16`. As [`float::mul_ftz`].
#[inline(always)]
pub fn mul_ftz(a: u16, b: u16) -> u16 {
    let [a, b] = [a, b].map(|x| F16::to_f32(flush::<F16>(x)));
    nearest_normal(a * b)
}

/// `fma.ftz`, for `f16`, as [`mul_ftz`].
#[inline(always)]
pub fn fma_ftz(a: u16, b: u16, c: u16) -> u16 {
    let [a, b, c] = [a, b, c].map(|x| F16::to_f32(flush::<F16>(x)));
    nearest_normal(add_to_odd(a * b, c))
}

/// The nearest `f16`, or 0 of the same sign if it is below the normal numbers after rounding to 11 digits.
#[inline(always)]
fn nearest_normal(x: f32) -> u16 {
    let scaled = F16::nearest(x * 4096.0) & !SIGN;
    // 2^-14, scaled.
    let is_tiny = scaled < 0x3400;
    F16::nearest(if is_tiny { 0f32.copysign(x) } else { x })
}

/// `fma.oob`: a `result`, or 0 if `a` or `b` is the NaN that stands for what is out of bounds of a tensor.
#[inline(always)]
pub fn or_out_of_bounds(a: u16, b: u16, result: u16) -> u16 {
    let is_out = |x| x & !SIGN == 0x7ff7;
    if is_out(a) | is_out(b) { 0 } else { result }
}

/// `neg`.
#[inline(always)]
pub fn neg<H: Half>(a: u16) -> u16 {
    canonical::<H>(a ^ SIGN)
}

/// `abs`.
#[inline(always)]
pub fn abs<H: Half>(a: u16) -> u16 {
    canonical::<H>(a & !SIGN)
}

#[inline(always)]
fn canonical<H: Half>(a: u16) -> u16 {
    if is_nan::<H>(a) { NAN } else { a }
}

/// Whether it is no number.
#[inline(always)]
pub fn is_nan<H: Half>(a: u16) -> bool {
    a & !SIGN > H::INFINITY
}

/// `.ftz`: 0 of the same sign in the place of a subnormal number.
#[inline(always)]
pub fn flush<H: Half>(a: u16) -> u16 {
    if (a & !SIGN) >> H::FORMAT.fraction == 0 {
        a & SIGN
    } else {
        a
    }
}

/// `.sat`: held within 0 and 1, with positive 0 for NaN.
#[inline(always)]
pub fn saturate<H: Half>(a: u16) -> u16 {
    let is_negative = a & SIGN != 0;
    if is_negative | is_nan::<H>(a) {
        0
    } else {
        a.min(H::ONE)
    }
}

/// `.relu`: positive 0 in the place of negative numbers; NaN is the hardware's.
#[inline(always)]
pub fn relu<H: Half>(a: u16) -> u16 {
    let a = canonical::<H>(a);
    if a & SIGN == 0 { a } else { 0 }
}

/// `.satfinite`: the greatest finite number of the sign in the place of infinity. Overflow has become infinity
/// by then.
#[inline(always)]
pub fn satfinite<H: Half>(a: u16) -> u16 {
    if a & !SIGN == H::INFINITY { a - 1 } else { a }
}

macro_rules! as_f32 {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        pub fn $name<H: Half>(a: u16, b: u16) -> u16 {
            H::nearest(float::$name(H::to_f32(a), H::to_f32(b)))
        }
    )*};
}

as_f32! {
    min: "`min`: of NaN and a number the number; -0 is less than 0.";
    max: "`max`: of NaN and a number the number; -0 is less than 0.";
    min_nan: "`min.NaN`: NaN, if an operand is.";
    max_nan: "`max.NaN`: NaN, if an operand is.";
}

/// `.xorsign.abs`: a `function`, one of the four above, of the magnitudes, with the product's sign.
#[inline(always)]
pub fn xorsign_abs<H: Half>(a: u16, b: u16, function: impl Fn(u16, u16) -> u16) -> u16 {
    let magnitude = function(a & !SIGN, b & !SIGN);
    canonical::<H>(magnitude | (a ^ b) & SIGN)
}

/// An instruction of `.f16x2` or `.bf16x2`: the function for one half, on both.
#[inline(always)]
pub fn packed<const N: usize>(operands: [u32; N], function: impl Fn([u16; N]) -> u16) -> u32 {
    let half = |shift: u32| u32::from(function(operands.map(|x| (x >> shift) as u16))) << shift;
    half(0) | half(16)
}
