//! Sines, cosines and tangents.
//!
//! An angle is reduced by Cody and Waite's method: the multiple of π/2 that is nearest is subtracted
//! in three parts, of which the first leaves an exact difference. Great angles go by Payne and
//! Hanek's: in fixed point, with the bits of 1/2π that count. The polynomials are minimax
//! approximations with coefficients of 24 bits, computed with Sollya's `fpminimax`.

use super::bits::ROUNDER;
use super::payne_hanek::turns;
use crate::arch::float::{Exact, normal_reciprocal};

/// From here on the parts of π/2 have too few digits.
const FAR: f32 = 131_072.0;

/// π/2 in three parts. All are positive, so that multiples of -0 keep its sign.
const QUARTER_TURN: [f32; 3] = [
    f32::from_bits(0x3fc9_0fda),
    f32::from_bits(0x33a2_2168),
    f32::from_bits(0x27c2_34c4),
];

#[inline]
pub(crate) fn sin(x: f32) -> f32 {
    let (rest, quarters) = less_quarter_turns(x, 0);
    let (sine, cosine) = near_zero(rest);
    of_quarter(quarters, sine, cosine)
}

#[inline]
pub(crate) fn cos(x: f32) -> f32 {
    let (rest, quarters) = less_quarter_turns(x, 1);
    let (sine, cosine) = near_zero(rest);
    of_quarter(quarters, sine, cosine)
}

#[inline]
pub(crate) fn sin_cos(x: f32) -> (f32, f32) {
    let (rest, quarters) = less_quarter_turns(x, 0);
    let (sine, cosine) = near_zero(rest);
    (
        of_quarter(quarters, sine, cosine),
        of_quarter(quarters.wrapping_add(1), sine, cosine),
    )
}

#[inline]
pub(crate) fn tan(x: f32) -> f32 {
    let (rest, quarters) = less_quarter_turns(x, 0);
    let square = rest * rest;
    let p = Exact::fma(square, 9.392_484e-3, 3.107_713_5e-3);
    let p = Exact::fma(p, square, 2.443_798_4e-2);
    let p = Exact::fma(p, square, 5.340_897_3e-2);
    let p = Exact::fma(p, square, 0.133_388_3);
    let p = Exact::fma(p, square, 0.333_331_56);
    let tangent = Exact::fma(p * square, rest, rest);
    if quarters & 1 == 0 {
        tangent
    } else {
        -normal_reciprocal(tangent)
    }
}

#[inline]
pub(crate) fn sinpi(x: f32) -> f32 {
    let (rest, halves) = less_halves(x.abs());
    let (sine, cosine) = near_zero_of_pi(rest);
    negated_with(of_half(halves, sine, cosine), x)
}

#[inline]
pub(crate) fn cospi(x: f32) -> f32 {
    let (rest, halves) = less_halves(x);
    let (sine, cosine) = near_zero_of_pi(rest);
    of_half(halves.wrapping_add(1), sine, cosine)
}

#[inline]
pub(crate) fn sincospi(x: f32) -> (f32, f32) {
    let (rest, halves) = less_halves(x.abs());
    let (sine, cosine) = near_zero_of_pi(rest);
    (
        negated_with(of_half(halves, sine, cosine), x),
        of_half(halves.wrapping_add(1), sine, cosine),
    )
}

/// The sine of an angle that is `quarters` quarter turns and a rest of this sine and cosine.
#[inline]
fn of_quarter(quarters: u32, sine: f32, cosine: f32) -> f32 {
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f32::from_bits(value.to_bits() ^ (quarters << 30 & 0x8000_0000))
}

/// The sine and the cosine of a number from -π/4 to π/4.
#[inline]
fn near_zero(x: f32) -> (f32, f32) {
    let square = x * x;
    let p = Exact::fma(square, -1.951_827_7e-4, 8.332_189e-3);
    let p = Exact::fma(p, square, -0.166_666_55);
    // The sum with 0 keeps the sign of -0: the cube is 0, its product with p -0.
    let sine = Exact::fma(p, Exact::fma(square, x, 0.0), x);
    let q = Exact::fma(square, 2.443_296_4e-5, -1.388_731_3e-3);
    let q = Exact::fma(q, square, 4.166_664_6e-2);
    let q = Exact::fma(q, square, -0.5);
    (sine, Exact::fma(q, square, 1.0))
}

/// `x` less the multiple of π/2 that is nearest; and in the two lowest bits, how many quarter turns
/// that is, and `more`.
#[inline]
fn less_quarter_turns(x: f32, more: u32) -> (f32, u32) {
    if x.abs() < FAR {
        let rounder = ROUNDER + more as f32;
        let count = Exact::fma(x, core::f32::consts::FRAC_2_PI, rounder);
        let quarters = count - rounder;
        let rest = QUARTER_TURN
            .iter()
            .fold(x, |rest, part| Exact::fma(quarters, -part, rest));
        (rest, count.to_bits())
    } else {
        far_less_quarter_turns(x, more)
    }
}

/// [`less_quarter_turns`] for any number from [`FAR`] on.
#[inline]
fn far_less_quarter_turns(x: f32, more: u32) -> (f32, u32) {
    if !x.is_finite() {
        return (f32::NAN, 0);
    }
    let turns = turns(x);
    let turns = if x < 0.0 { turns.wrapping_neg() } else { turns };
    let quarters = (turns.wrapping_add(1 << 61) >> 62) as u32;
    let rest = turns.wrapping_sub(u64::from(quarters) << 62);
    (radians(rest as i64), quarters.wrapping_add(more))
}

/// Radians, rounded once, from turns times 2^64.
#[inline]
fn radians(turns: i64) -> f32 {
    /// π times 2^62.
    const PI: u64 = 0xc90f_daa2_2168_c234;
    let product = ((u128::from(turns.unsigned_abs()) * u128::from(PI)) >> 64) as u64;
    // 2^-61: 2 from turns to π, and the two factors' 2^64 and 2^62 less the 64 bits dropped.
    let radians = product as f32 * f32::from_bits((127 - 61) << 23);
    if turns < 0 { -radians } else { radians }
}

/// `x` less the multiple of 1/2 that is nearest; and in the two lowest bits, how many halves that is.
#[inline]
fn less_halves(x: f32) -> (f32, u32) {
    // From here on `ROUNDER` is not enough; a sine's or cosine's period is.
    let x = if x.abs() >= 2_097_152.0 {
        Exact::fma(Exact::trunc(0.5 * x), -2.0, x)
    } else {
        x
    };
    let count = Exact::fma(x, 2.0, ROUNDER);
    let rest = Exact::fma(count - ROUNDER, -0.5, x);
    (rest, count.to_bits())
}

/// The sine and the cosine of π times a number from -1/4 to 1/4.
#[inline]
fn near_zero_of_pi(x: f32) -> (f32, f32) {
    let square = x * x;
    let p = Exact::fma(square, -0.589_336_34, 2.549_797_5);
    let p = Exact::fma(p, square, -5.167_709);
    // What the float π lacks.
    let p = Exact::fma(p, square, -8.742_278e-8);
    let sine = Exact::fma(x, core::f32::consts::PI, p * x);
    let q = Exact::fma(square, 0.229_549_83, -1.334_816_2);
    let q = Exact::fma(q, square, 4.058_698);
    let q = Exact::fma(q, square, -4.934_802);
    (sine, Exact::fma(q, square, 1.0))
}

/// The sine of π times a number that is `halves` halves and a rest of this sine and cosine. Never -0,
/// but for the rest -0.
#[inline]
fn of_half(halves: u32, sine: f32, cosine: f32) -> f32 {
    let value = if halves & 1 == 0 { sine } else { cosine };
    if halves & 2 == 0 { value } else { 0.0 - value }
}

/// `x` negated if `sign` is negative.
#[inline]
fn negated_with(x: f32, sign: f32) -> f32 {
    f32::from_bits(x.to_bits() ^ sign.to_bits() & 0x8000_0000)
}
