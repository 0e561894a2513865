//! Products of matrices: elements as numbers, sums, and how those are stored.
//!
//! Every product of two elements is exact in `f64`, and so is every sum of integers. What PTX says of the
//! other sums, and what is done here:
//!
//! | d | PTX ISA | here |
//! |---|---|---|
//! | `s32` | exact; wraps, or saturates with `.satfinite` | the same bits |
//! | `f64` | a chain of `fma.rn` over k | the same, from the first k to the last, beginning with c |
//! | `f32` | at least single precision; order, rounding and the treatment of small terms are open | the sum in `f64`, from the first k to the last, beginning with c, rounded to nearest once |
//! | `f16` | at least half precision; the same is open | the sum in `f64`, rounded to nearest once |
//!
//! Tensor cores align the products of one instruction to the greatest term and cut off what lies below, so
//! with T the greatest magnitude among c and the products, a GPU's `f32` may differ from the one here by
//! (k + 1) * 2^-22 * T for each instruction. NaN is 0x7fffffff, or 0x7fff as `f16`.

use super::convert::f64_from_half;
use super::directed::Rounding;
use super::float;
use super::fp8::{self, E4M3, E5M2};
use super::half::{self, F16};

/// The type of an element of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
    /// `tf32`: of the 32 bits the lower 13 are ignored.
    Tf32,
    /// `f64`
    F64,
    /// `e4m3`
    E4m3,
    /// `e5m2`
    E5m2,
    /// `e3m2`, with the room of a byte
    E3m2,
    /// `e2m3`, with the room of a byte
    E2m3,
    /// `e2m1`, with the room of a byte
    WideE2m1,
    /// `e2m1`
    E2m1,
    /// `s8`
    S8,
    /// `u8`
    U8,
    /// `s4`
    S4,
    /// `u4`
    U4,
    /// `b1`
    B1,
}

impl Element {
    /// Its width.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
            Element::E3m2 | Element::E2m3 => 6,
            Element::S4 | Element::U4 | Element::WideE2m1 | Element::E2m1 => 4,
            Element::B1 => 1,
        }
    }

    /// The bits that each takes in memory on average. Of 16 elements of 6 or 4 bits that have the room of bytes, those of the
    /// elements come first, and what is left behind them.
    #[inline(always)]
    pub fn room_bits(self) -> u32 {
        match self {
            Element::E3m2 | Element::E2m3 | Element::WideE2m1 => 8,
            other => other.bits(),
        }
    }

    /// Its number, from its bits; those above them are ignored.
    #[inline(always)]
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Element::F64 => f64::from_bits(bits),
            Element::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
            Element::F16 => f64_from_half::<F16>(bits as u16),
            Element::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Element::E4m3 => f64_from_half::<F16>(fp8::decode(bits as u8, E4M3)),
            Element::E5m2 => f64_from_half::<F16>(fp8::decode(bits as u8, E5M2)),
            Element::E3m2 => few_bits(bits, 3, 2),
            Element::E2m3 => few_bits(bits, 2, 3),
            Element::WideE2m1 | Element::E2m1 => few_bits(bits, 2, 1),
            Element::S8 => f64::from(bits as i8),
            Element::U8 => f64::from(bits as u8),
            Element::S4 => f64::from((bits as i8) << 4 >> 4),
            Element::U4 => f64::from(bits as u8 & 15),
            Element::B1 => (bits & 1) as f64,
        }
    }
}

/// A float with a sign, an exponent and a mantissa of so many bits, all of whose bits are numbers.
fn few_bits(bits: u64, exponent: u32, mantissa: u32) -> f64 {
    let fraction = (bits & ((1 << mantissa) - 1)) as f64 / f64::from(1 << mantissa);
    let power = (bits >> mantissa & ((1 << exponent) - 1)) as i32;
    let bias = (1 << (exponent - 1)) - 1;
    let magnitude = match power {
        0 => fraction * f64::powi(2.0, 1 - bias),
        _ => (1.0 + fraction) * f64::powi(2.0, power - bias),
    };
    match bits >> (exponent + mantissa) & 1 {
        0 => magnitude,
        _ => -magnitude,
    }
}

/// The type of a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `ue8m0`: a power of 2.
    Ue8m0,
    /// `ue4m3`: an `e4m3` without a sign.
    Ue4m3,
}

impl Scale {
    /// Its number, from its bits.
    pub fn number(self, bits: u8) -> f64 {
        match (self, bits) {
            (Scale::Ue8m0, 0xff) => f64::NAN,
            (Scale::Ue8m0, _) => f64::powi(2.0, i32::from(bits) - 127),
            (Scale::Ue4m3, _) => Element::E4m3.number(u64::from(bits & 0x7f)),
        }
    }
}

/// The type of an element of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `f16`
    F16,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `s32`, which wraps.
    S32,
    /// `s32`, which saturates.
    SaturatedS32,
}

impl Sum {
    /// Its width.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        match self {
            Sum::F16 => 16,
            Sum::F32 | Sum::S32 | Sum::SaturatedS32 => 32,
            Sum::F64 => 64,
        }
    }

    /// Its number, from its bits.
    #[inline(always)]
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Sum::F16 => f64_from_half::<F16>(bits as u16),
            Sum::F32 => f64::from(f32::from_bits(bits as u32)),
            Sum::F64 => f64::from_bits(bits),
            Sum::S32 | Sum::SaturatedS32 => f64::from(bits as u32 as i32),
        }
    }

    /// The bits of a sum. Those of integers are less than 2^53.
    #[inline(always)]
    pub fn rounded(self, sum: f64) -> u64 {
        match self {
            Sum::F16 => half::from_f64::<F16>(sum, Rounding::Nearest).into(),
            Sum::F32 => float::canonical(sum as f32).to_bits().into(),
            Sum::F64 => sum.to_bits(),
            Sum::S32 => (sum as i64 as u32).into(),
            Sum::SaturatedS32 => (sum as i32 as u32).into(),
        }
    }
}

/// `d[i][j] += a[i][l] * b[l][j]`, the sums in the order of `l`. All row by row; `n` columns of b and d, `k`
/// of a.
#[inline(always)]
pub fn add_products(d: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (d, a) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&left, b) in a.iter().zip(b.chunks_exact(n)) {
            for (sum, &right) in d.iter_mut().zip(b) {
                *sum = left.mul_add(right, *sum);
            }
        }
    }
}

/// As [`add_products`], of single bits: how many of the l differ.
#[inline(always)]
pub fn add_differences(d: &mut [f64], a: &[f64], b: &[f64], n: usize, k: usize) {
    for (d, a) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        for (&left, b) in a.iter().zip(b.chunks_exact(n)) {
            for (sum, &right) in d.iter_mut().zip(b) {
                *sum += (left - right).abs();
            }
        }
    }
}
