//! `cvt` and `cvt.pack` between integers, `f32`, `f64`, `f16`, `bf16` and `tf32`.
//!
//! | from, to | function |
//! |---|---|
//! | integer, integer | [`integer`]; `.sat`: [`integer_sat`] |
//! | integer, `f32` or `f64` | [`from_integer`] |
//! | integer, `f16` or `bf16` | [`half_from_integer`] |
//! | `f32` or `f64`, integer | [`to_integer`]; from `f16` and `bf16` by way of `f32` |
//! | float, integral float of the type | [`round_to_integral`] |
//! | `f32`, `f64` | [`f64_from_f32`], [`f32_from_f64`] |
//! | `f32` or `f64`, `f16` or `bf16` | [`half::from_f32`](super::half::from_f32), [`half::from_f64`](super::half::from_f64) |
//! | `f16` or `bf16`, `f32` or `f64` | [`f32_from_half`], [`f64_from_half`] |
//! | `f32`, `tf32` | [`tf32`] |
//! | `f32`, 8 bits and less | [`fp8`](super::fp8) |
//!
//! `.ftz`, `.sat`, `.relu` and `.satfinite` are functions of their own, to be put before or after
//! ([`float`], [`half`](super::half)).

use super::directed::{Exact, Format, Rounding};
use super::float::{self, Float};
use super::half::Half;
use super::integer::Integer;

/// An integer type beside a float type.
pub trait Convertible<F>: Integer {
    /// The number, rounded to the nearest.
    fn to_float(self) -> F;
    /// The integral number, held within the type.
    fn from_float(x: F) -> Self;
    /// The integer that NaN becomes.
    const OF_NAN: Self;
}

macro_rules! convertible {
    ($($float:ident: $($integer:ident)*;)*) => {$($(
        impl Convertible<$float> for $integer {
            // 0, or the highest bit if either type has 64.
            const OF_NAN: Self = if $float::MAX_EXP == f64::MAX_EXP || $integer::BITS == 64 {
                1 << ($integer::BITS - 1)
            } else {
                0
            };

            #[inline(always)]
            fn to_float(self) -> $float {
                self as $float
            }

            #[inline(always)]
            fn from_float(x: $float) -> Self {
                x as $integer
            }
        }
    )*)*};
}

convertible! {
    f32: i8 u8 i16 u16 i32 u32 i64 u64;
    f64: i8 u8 i16 u16 i32 u32 i64 u64;
}

/// To an integer type's lower bits.
#[inline(always)]
pub fn integer<From: Integer, To: Integer>(x: From) -> To {
    To::from_i128(x.to_i128())
}

/// `.sat`: held within the type.
#[inline(always)]
pub fn integer_sat<From: Integer, To: Integer>(x: From) -> To {
    To::from_i128(x.to_i128().clamp(To::MIN.to_i128(), To::MAX.to_i128()))
}

/// From an integer.
#[inline(always)]
pub fn from_integer<I: Convertible<F>, F: Float>(x: I, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => x.to_float(),
        _ => F::from_bits(Exact::of_integer(x.to_i128()).round(F::FORMAT, rounding)),
    }
}

/// From an integer to `f16` or `bf16`.
#[inline]
pub fn half_from_integer<I: Integer, H: Half>(x: I, rounding: Rounding) -> u16 {
    Exact::of_integer(x.to_i128()).round(H::FORMAT, rounding) as u16
}

/// To an integer; what is beyond the type becomes the nearest number of it. NaN becomes 0, or 1 in the highest bit
/// alone if one of the types has 64 bits.
#[inline(always)]
pub fn to_integer<F: Float + Integral, I: Convertible<F>>(x: F, rounding: Rounding) -> I {
    let number = I::from_float(x.integral(rounding));
    if float::is_nan(x) { I::OF_NAN } else { number }
}

/// `cvt.rni.f32.f32` and the like: to an integer, as a float.
#[inline(always)]
pub fn round_to_integral<F: Float + Integral>(x: F, rounding: Rounding) -> F {
    float::canonical(x.integral(rounding))
}

/// A float type that rounds to its integers.
pub trait Integral {
    /// The integer there, of the same sign.
    #[must_use]
    fn integral(self, rounding: Rounding) -> Self;
}

macro_rules! integral {
    ($($float:ident)*) => {$(
        impl Integral for $float {
            #[inline(always)]
            fn integral(self, rounding: Rounding) -> Self {
                match rounding {
                    Rounding::Nearest => self.round_ties_even(),
                    Rounding::NearestAway => self.round(),
                    Rounding::Zero => self.trunc(),
                    Rounding::Down => self.floor(),
                    Rounding::Up => self.ceil(),
                }
            }
        }
    )*};
}

integral!(f32 f64);

/// `cvt.f64.f32`; NaN keeps its sign and digits, as on the host. With `.ftz` the operand is `canonical(flush(x))`.
#[inline(always)]
pub fn f64_from_f32(x: f32) -> f64 {
    float::canonical(x.into())
}

/// `cvt.f64.f16`, `cvt.f64.bf16`, as [`f64_from_f32`].
#[inline(always)]
pub fn f64_from_half<H: Half>(bits: u16) -> f64 {
    f64_from_f32(H::to_f32(bits))
}

/// `cvt.f32.f64`; NaN keeps its sign and upper digits, as on the host.
#[inline(always)]
pub fn f32_from_f64(x: f64, rounding: Rounding) -> f32 {
    match rounding {
        Rounding::Nearest => x as f32,
        _ if x.is_finite() => f32::from_bits(Exact::of(x).round(Format::F32, rounding) as u32),
        _ => x as f32,
    }
}

/// `cvt.f32.f16`, `cvt.f32.bf16`. NaN is the hardware's if of `f16`, and the same if of `bf16`.
#[inline(always)]
pub fn f32_from_half<H: Half>(bits: u16) -> f32 {
    let x = H::to_f32(bits);
    if H::FORMAT == Format::F16 {
        float::canonical(x)
    } else {
        x
    }
}

/// `cvt.tf32.f32`: the fraction has 10 bits, the lower 13 are 0. NaN is the hardware's without those, and for `.rna` the operand
/// without those, which of a few is infinity.
#[inline(always)]
pub fn tf32(x: f32, rounding: Rounding) -> f32 {
    const DROPPED: u32 = 13;
    let bits = x.to_bits();
    // The sign is not part of the sum: it carries into the exponent, and from the greatest to infinity.
    let bias = match rounding {
        Rounding::Nearest => (1 << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1),
        Rounding::NearestAway => 1 << (DROPPED - 1),
        _ => 0,
    };
    let rounded = f32::from_bits((bits.wrapping_add(bias)) & (u32::MAX << DROPPED));
    let nan = match rounding {
        Rounding::NearestAway => bits,
        _ => float::canonical(x).to_bits(),
    };
    if x.is_nan() {
        f32::from_bits(nan & u32::MAX << DROPPED)
    } else {
        rounded
    }
}

/// `.satfinite` of [`tf32`].
#[inline(always)]
pub fn tf32_satfinite(x: f32) -> f32 {
    const MAX: f32 = f32::from_bits(0x7f7f_e000);
    if x.is_infinite() { MAX.copysign(x) } else { x }
}

/// `cvt.pack.sat.T.s32`: `a` over `b`, of the narrow type; the bits of `c` above those, unless they fill the register.
///
/// `T` has `bits` of them, signed or not: 2, 4, 8 or 16.
#[inline]
pub fn pack<T: Integer>(a: i32, b: i32, c: u32, bits: u32) -> u32 {
    let is_signed = T::MIN < T::from(false);
    let values = 1i32 << bits;
    let least = if is_signed { -values / 2 } else { 0 };
    let narrow =
        |x: i32| x.clamp(least, least + values - 1).cast_unsigned() & (values - 1).cast_unsigned();
    let above = super::bits::shl(c, 2 * bits);
    above | narrow(a) << bits | narrow(b)
}
