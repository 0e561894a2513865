//! Numbers by way of their bits.

/// 1.5 * 2^23: added to a number of magnitude below 2^22, it leaves the nearest integer in the last
/// bits of the sum.
pub(super) const ROUNDER: f32 = 12_582_912.0;

/// For exponents of normal numbers.
#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}
