//! Payne and Hanek's reduction of great angles: in fixed point, with the bits of 1/2π that count.

/// The bits of 1/2π after the binary point, with 32 zeros before them.
static INVERSE_TURN: [u32; 8] = [
    0x0000_0000,
    0x28be_60db,
    0x9391_054a,
    0x7f09_d5f4,
    0x7d4d_3770,
    0x36d8_a566,
    0x4f10_e410,
    0x7f94_58ea,
];

/// The magnitude of an angle of at least 2^17 in turns, without whole ones, times 2^64; less than 2
/// too small. Infinity and NaN give some number.
#[inline(always)]
pub(super) fn turns(x: f32) -> u64 {
    let (significand, high, low) = factors(x);
    significand
        .wrapping_mul(high)
        .wrapping_add((significand * low) >> 32)
}

/// As [`turns`], but up to 2^24 too small.
#[inline(always)]
pub(super) fn coarse_turns(x: f32) -> u64 {
    let (significand, high, _) = factors(x);
    significand.wrapping_mul(high)
}

/// The significand, and 64 and 32 bits of 1/2π after those that make whole turns with it.
#[inline(always)]
fn factors(x: f32) -> (u64, u64, u64) {
    let bits = x.to_bits();
    // The biased exponent: the magnitude is an integer of 24 bits times 2^(exponent - 150).
    let exponent = bits >> 23 & 0xff;
    let significand = u64::from(bits & 0x007f_ffff | 0x0080_0000);
    let first = exponent + 32 - 150;
    let (index, shift) = ((first >> 5) as usize, first & 31);
    let word = |i: usize| {
        // SAFETY: the exponent is from 144 (2^17) to 255 (infinity and NaN), so first is from 26 to 137
        // and index + i at most 4 + 3, the last word.
        u64::from(unsafe { *INVERSE_TURN.get_unchecked(index + i) })
    };
    let high = (word(0) << 32 | word(1)) << shift | (word(2) << shift) >> 32;
    let low = (word(2) << 32 | word(3)) << shift >> 32;
    (significand, high, low)
}
