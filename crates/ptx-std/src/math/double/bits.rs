//! Numbers by way of their bits.

/// 1.5 * 2^52: added to a number of magnitude below 2^51, it leaves the nearest integer in the last
/// bits of the sum; of a number below 2^31, in the low word.
pub(super) const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// It makes a subnormal number normal.
pub(super) const TWO_POW_54: f64 = 18_014_398_509_481_984.0;

/// The upper half of the bits.
#[inline(always)]
pub(super) fn high(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

/// The lower half of the bits.
#[inline(always)]
pub(super) fn low(x: f64) -> u32 {
    x.to_bits() as u32
}

pub(super) use crate::arch::float::from_words;

/// Whether the magnitude is less than the limit, whose lower half is 0; not so for NaN.
#[inline(always)]
pub(super) fn is_below(x: f64, limit: f64) -> bool {
    high(x) & 0x7fff_ffff < high(limit)
}

/// The number, with the other sign where the topmost bit is set.
#[inline(always)]
pub(super) fn change_sign(x: f64, bits: u32) -> f64 {
    f64::from_bits(x.to_bits() ^ u64::from(bits & 0x8000_0000) << 32)
}

/// The first 21 bits of a positive number in the range of `f32`.
#[inline(always)]
pub(super) fn first_bits(x: f64) -> f32 {
    f32::from_bits((high(x) << 3).wrapping_add(0x4000_0000))
}

/// For exponents of normal numbers.
#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
