//! Arithmetic of `f32` and `f64`.
//!
//! Modifiers compose: `add.rz.ftz.sat.f32` is `saturate(flush(add(flush(a), flush(b), Rounding::Zero)))`. Only where a
//! result below the normal numbers may be rounded to one, `.ftz` has functions of its own: [`mul_ftz`], [`fma_ftz`], [`div_ftz`].
//! With a constant [`Rounding::Nearest`] the functions are the host's own operations.

use std::ops::{Add, Div, Mul, Neg, Sub};

pub use super::directed::Rounding;
use super::directed::{self, Format};

/// `f32` or `f64`.
pub trait Float:
    Copy
    + PartialOrd
    + Into<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The NaN that the hardware gives where a result is no number.
    const HARDWARE_NAN: Self;
    /// Positive 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Infinity.
    const INFINITY: Self;
    /// The least positive number that is not subnormal.
    const MIN_POSITIVE: Self;
    /// How it is laid out.
    const FORMAT: Format;

    /// The number of those bits.
    fn from_bits(bits: u64) -> Self;
    /// Its bits.
    fn to_bits(self) -> u64;
    /// `self * factor + addend`, rounded once.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The number without its sign.
    fn magnitude(self) -> Self;
    /// The number with the sign of another.
    fn with_sign_of(self, sign: Self) -> Self;
    /// The NaN that the hardware makes of one in an operand: of `f64` the same with the quiet bit.
    fn quieted(self) -> Self;
}

macro_rules! floats {
    ($($float:ident $bits:ident $nan:literal $format:expr, |$x:ident| $quieted:expr;)*) => {$(
        impl Float for $float {
            const HARDWARE_NAN: Self = $float::from_bits($nan);
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = $float::INFINITY;
            const MIN_POSITIVE: Self = $float::MIN_POSITIVE;
            const FORMAT: Format = $format;

            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                $float::from_bits(bits as $bits)
            }

            #[inline(always)]
            fn to_bits(self) -> u64 {
                $float::to_bits(self).into()
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                $float::mul_add(self, factor, addend)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                $float::abs(self)
            }

            #[inline(always)]
            fn with_sign_of(self, sign: Self) -> Self {
                $float::copysign(self, sign)
            }

            #[inline(always)]
            fn quieted(self) -> Self {
                let $x = self;
                $quieted
            }
        }
    )*};
}

floats! {
    f32 u32 0x7fff_ffff Format::F32, |_x| Self::HARDWARE_NAN;
    f64 u64 0xfff8_0000_0000_0000 Format::F64, |x| Self::from_bits(x.to_bits() | 1 << 51);
}

/// A result, or where that is NaN the one that the hardware gives: what it makes of the first NaN of the operands,
/// or of none.
#[inline(always)]
pub(super) fn settled<F: Float, const N: usize>(result: F, operands: [F; N]) -> F {
    let nan =
        operands.into_iter().rev().fold(
            F::HARDWARE_NAN,
            |nan, x| if is_nan(x) { x.quieted() } else { nan },
        );
    if is_nan(result) { nan } else { result }
}

/// `x`, or the hardware's NaN for any other.
#[inline(always)]
pub fn canonical<F: Float>(x: F) -> F {
    settled(x, [x])
}

/// `.ftz`: 0 of the same sign in the place of a subnormal number.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE {
        0f32.copysign(x)
    } else {
        x
    }
}

/// `.sat`: held within 0 and 1, with positive 0 for NaN and -0.
#[inline(always)]
pub fn saturate<F: Float>(x: F) -> F {
    let x = if x > F::ZERO { x } else { F::ZERO };
    if x < F::ONE { x } else { F::ONE }
}

/// `.relu`: positive 0 in the place of negative numbers and -0; NaN is the hardware's.
#[inline(always)]
pub fn relu<F: Float>(x: F) -> F {
    if x <= F::ZERO { F::ZERO } else { canonical(x) }
}

/// `add`.
#[inline(always)]
pub fn add<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => settled(a + b, [b, a]),
        _ => directed::add(a, b, rounding),
    }
}

/// `sub`.
#[inline(always)]
pub fn sub<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => settled(a - b, [b, a]),
        _ => directed::sub(a, b, rounding),
    }
}

/// `mul`.
#[inline(always)]
pub fn mul<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => settled(a * b, [b, a]),
        _ => directed::mul(a, b, rounding),
    }
}

/// `fma`, and `mad`, which is the same on all targets from sm_20 on.
#[inline(always)]
pub fn fma<F: Float>(a: F, b: F, c: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => settled(a.mul_add(b, c), [b, c, a]),
        _ => directed::fma(a, b, c, rounding),
    }
}

/// `div` with a rounding.
#[inline(always)]
pub fn div<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => settled(a / b, [a, b]),
        _ => directed::div(a, b, rounding),
    }
}

/// `mul.ftz`. A product that is below the normal numbers when rounded to the digits of one is 0, though rounding to a
/// multiple of the least number would make it normal.
#[inline(always)]
pub fn mul_ftz(a: f32, b: f32, rounding: Rounding) -> f32 {
    let [a, b] = [a, b].map(flush);
    flush_tiny(mul(a, b, rounding), f64::from(a) * f64::from(b), rounding)
}

/// `fma.ftz`, as [`mul_ftz`].
#[inline(always)]
pub fn fma_ftz(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    let [a, b, c] = [a, b, c].map(flush);
    let sum = super::half::add_to_odd(f64::from(a) * f64::from(b), f64::from(c));
    flush_tiny(fma(a, b, c, rounding), sum, rounding)
}

/// `div.ftz` with a rounding, as [`mul_ftz`].
#[inline(always)]
pub fn div_ftz(a: f32, b: f32, rounding: Rounding) -> f32 {
    let [a, b] = [a, b].map(flush);
    // No quotient of numbers of 24 digits is so near to another one that 53 digits do not tell them apart.
    flush_tiny(div(a, b, rounding), f64::from(a) / f64::from(b), rounding)
}

/// A result, or 0 of its sign if the exact one, on whose side of every `f32` the `f64` is, is below the normal
/// numbers after rounding to 24 digits.
#[inline(always)]
fn flush_tiny(result: f32, exact: f64, rounding: Rounding) -> f32 {
    const SCALE: f64 = (1u64 << 40) as f64;
    let scaled = super::convert::f32_from_f64(exact * SCALE, rounding);
    let is_tiny = scaled.abs() < f32::MIN_POSITIVE * SCALE as f32;
    if is_tiny {
        0f32.copysign(result)
    } else {
        result
    }
}

/// `rcp` with a rounding.
#[inline(always)]
pub fn rcp<F: Float>(a: F, rounding: Rounding) -> F {
    div(F::ONE, a, rounding)
}

/// `sqrt` with a rounding.
#[inline(always)]
pub fn sqrt<F: Float>(a: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::Nearest => canonical(a.sqrt()),
        _ => directed::sqrt(a, rounding),
    }
}

/// `neg`.
#[inline(always)]
pub fn neg<F: Float>(a: F) -> F {
    settled(-a, [a])
}

/// `abs`.
#[inline(always)]
pub fn abs<F: Float>(a: F) -> F {
    settled(a.magnitude(), [a])
}

/// `copysign`: the second operand with the sign of the first.
#[inline(always)]
pub fn copysign<F: Float>(a: F, b: F) -> F {
    b.with_sign_of(a)
}

/// `min`: of NaN and a number the number; -0 is less than 0.
#[inline(always)]
pub fn min<F: Float>(a: F, b: F) -> F {
    // Equal numbers differ in the sign of 0 at most.
    let equal = F::from_bits(a.to_bits() | b.to_bits());
    let lesser = if (a < b) | is_nan(b) { a } else { b };
    settled(if a == b { equal } else { lesser }, [b, a])
}

/// `max`: of NaN and a number the number; -0 is less than 0.
#[inline(always)]
pub fn max<F: Float>(a: F, b: F) -> F {
    let equal = F::from_bits(a.to_bits() & b.to_bits());
    let greater = if (a > b) | is_nan(b) { a } else { b };
    settled(if a == b { equal } else { greater }, [b, a])
}

/// `min.NaN`: NaN, if an operand is.
#[inline(always)]
pub fn min_nan<F: Float>(a: F, b: F) -> F {
    or_nan(a, b, min(a, b))
}

/// `max.NaN`: NaN, if an operand is.
#[inline(always)]
pub fn max_nan<F: Float>(a: F, b: F) -> F {
    or_nan(a, b, max(a, b))
}

#[inline(always)]
fn or_nan<F: Float>(a: F, b: F, result: F) -> F {
    if is_nan(a) | is_nan(b) {
        F::HARDWARE_NAN
    } else {
        result
    }
}

/// `.xorsign.abs`: a `function`, one of the four above, of the magnitudes, with the product's sign.
#[inline(always)]
pub fn xorsign_abs<F: Float>(a: F, b: F, function: impl Fn(F, F) -> F) -> F {
    let sign = F::from_bits(a.to_bits() ^ b.to_bits());
    canonical(function(a.magnitude(), b.magnitude()).with_sign_of(sign))
}

/// The classes of numbers that `testp` tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `.finite`: neither infinite nor NaN.
    Finite,
    /// `.infinite`.
    Infinite,
    /// `.number`: not NaN.
    Number,
    /// `.notanumber`.
    NotANumber,
    /// `.normal`: finite and not subnormal; 0 is normal.
    Normal,
    /// `.subnormal`.
    Subnormal,
}

/// `testp`.
#[inline(always)]
pub fn testp<F: Float>(a: F, class: Class) -> bool {
    let magnitude = a.magnitude();
    let is_subnormal = (magnitude < F::MIN_POSITIVE) & (magnitude > F::ZERO);
    match class {
        Class::Finite => magnitude < F::INFINITY,
        Class::Infinite => magnitude == F::INFINITY,
        Class::Number => !is_nan(a),
        Class::NotANumber => is_nan(a),
        Class::Normal => (magnitude < F::INFINITY) & !is_subnormal,
        Class::Subnormal => is_subnormal,
    }
}

/// Whether it is no number. Not `x != x`: LLVM takes a choice between `x` and a NaN by that for `x` itself, though the NaN
/// is another.
#[inline(always)]
pub(super) fn is_nan<F: Float>(x: F) -> bool {
    x.magnitude().to_bits() > F::INFINITY.to_bits()
}

/// An instruction of `.f32x2`: the function for `f32`, on both halves.
#[inline(always)]
pub fn packed<const N: usize>(operands: [u64; N], function: impl Fn([f32; N]) -> f32) -> u64 {
    let half = |shift: u32| {
        let result = function(operands.map(|x| f32::from_bits((x >> shift) as u32)));
        u64::from(result.to_bits()) << shift
    };
    half(0) | half(32)
}
