//! `cvt` to and from floats of 8, 6 and 4 bits, all of them saturating (`.satfinite`), and `ue8m0`.
//!
//! Packed forms put the first operand into the upper part: `pack(encode(a), encode(b))` and its
//! opposite are for the executor. From `f16x2` the way is by `f32`, which is exact.

use super::directed::{Exact, Format, Rounding};
use super::half::{self, F16, Half};

/// `e4m3`: no infinity, one NaN.
pub const E4M3: Format = Format {
    fraction: 3,
    exponent: 4,
    max: 0x7e,
};
/// `e5m2`: as IEEE's.
pub const E5M2: Format = Format::ieee(2, 5);
/// `e2m3`: finite numbers only.
pub const E2M3: Format = Format {
    fraction: 3,
    exponent: 2,
    max: 0x1f,
};
/// `e3m2`: finite numbers only.
pub const E3M2: Format = Format {
    fraction: 2,
    exponent: 3,
    max: 0x1f,
};
/// `e2m1`: finite numbers only.
pub const E2M1: Format = Format {
    fraction: 1,
    exponent: 2,
    max: 0x7,
};

impl Format {
    /// Width in bits.
    const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// NaN, or the greatest number where there is none.
    const fn nan(self) -> u8 {
        if self.bits() == 8 {
            0x7f
        } else {
            self.max as u8
        }
    }
}

/// `cvt.rn.satfinite` from `f32`. `f16` goes by way of `f32`.
#[inline]
pub fn encode(x: f32, format: Format) -> u8 {
    within(x, format, |exact| exact.round(format, Rounding::Nearest))
}

/// `cvt.rs.satfinite` from `f32`: rounded up in magnitude if the first digits that are cut off and the random
/// ones, `digits` of each, have a carry.
#[inline]
pub fn encode_random(x: f32, format: Format, random: u32, digits: u32) -> u8 {
    within(x, format, |exact| {
        exact.round_randomly(format, random, digits)
    })
}

#[inline]
fn within(x: f32, format: Format, round: impl Fn(Exact) -> u64) -> u8 {
    if x.is_nan() {
        return format.nan();
    }
    // Nothing between the greatest number and itself is rounded beyond it.
    let greatest = F16::to_f32(decode(format.max as u8, format));
    round(Exact::of(x.clamp(-greatest, greatest))) as u8
}

/// `cvt.rn.f16x2`: one number as `f16`, which has all of them.
#[inline]
pub fn decode(bits: u8, format: Format) -> u16 {
    let bits = u64::from(bits);
    let magnitude = bits & (format.sign() - 1);
    if format.bits() < 8 || magnitude <= format.max {
        return Exact::of_bits(bits, format).round(Format::F16, Rounding::Nearest) as u16;
    }
    let is_infinite = format == E5M2 && magnitude == format.max + 1;
    let sign = if bits & format.sign() == 0 { 0 } else { 0x8000 };
    if is_infinite {
        F16::INFINITY | sign
    } else {
        half::NAN
    }
}

/// `cvt.ue8m0x2.f32`, of one number: the power of two at or below the magnitude (`.rz`), or at or above it (`.rp`).
/// NaN and infinity are 0xff; with `.satfinite`, see [`ue8m0_satfinite`].
#[inline]
pub fn ue8m0(x: f32, rounding: Rounding) -> u8 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    if magnitude >= 0x7f80_0000 {
        return 0xff;
    }
    // Subnormal numbers are below 2^-126, whose code is 1, and above 2^-127, whose code is 0, if half of it or more.
    let exponent = (magnitude >> 23) as u8;
    let is_above_power = match exponent {
        0 => magnitude > 1 << 22,
        _ => magnitude & 0x7f_ffff != 0,
    };
    exponent + u8::from(is_above_power && rounding == Rounding::Up)
}

/// `cvt.satfinite.ue8m0x2.f32`, of one number: [`ue8m0`] with 2^127 in the place of what is beyond it.
#[inline]
pub fn ue8m0_satfinite(x: f32, rounding: Rounding) -> u8 {
    if x.is_nan() {
        0xff
    } else {
        ue8m0(x, rounding).min(0xfe)
    }
}

/// `cvt.rn.bf16x2.ue8m0x2`, of one number.
#[inline]
pub fn bf16_from_ue8m0(bits: u8) -> u16 {
    match bits {
        0 => 0x40,
        0xff => half::NAN,
        _ => u16::from(bits) << 7,
    }
}

/// `cvt.rs.f16x2.f32` and `cvt.rs.bf16x2.f32`, of one number, as [`encode_random`], with 13 random digits for `f16` and 16
/// for `bf16`. `.satfinite` is [`half::satfinite`].
#[inline]
pub fn half_random<H: Half>(x: f32, random: u32) -> u16 {
    if !x.is_finite() {
        return H::nearest(x);
    }
    Exact::of(x).round_randomly(H::FORMAT, random, 23 - H::FORMAT.fraction) as u16
}
