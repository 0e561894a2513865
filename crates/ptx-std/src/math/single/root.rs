//! Roots, reciprocals and lengths.
//!
//! Reciprocals and inverse roots start from a difference of integers, which negates, halves or thirds
//! the exponent and leaves an error of a few percent. Two steps of Halley's and Newton's kind make it
//! small: a square with coefficients that spread its error evenly (by Remez' exchange), and the
//! first terms of the binomial series.

use crate::arch::float::Exact;

/// `1.0 / x`, but for an error of 1e-9 before the last rounding, for numbers from 2^-120 to 2^120 in
/// magnitude. It costs six instructions and no branch, the division twice as much.
#[inline]
pub(crate) fn reciprocal(x: f32) -> f32 {
    let guess = f32::from_bits(0x7ef3_3333_u32.wrapping_sub(x.to_bits()));
    let rest = Exact::fma(-x, guess, 1.500_961_7);
    let near = guess * Exact::fma(rest, rest, 0.749_038_6);
    Exact::fma(near, Exact::fma(-x, near, 1.0), near)
}

#[inline]
pub(crate) fn cbrt(x: f32) -> f32 {
    let tiny = x.abs() < f32::MIN_POSITIVE;
    let x = if tiny { x * TINY.0 } else { x };
    let near = near_rcbrt(x.abs());
    let root = x * (near * near);
    let rest = Exact::fma(-root.abs(), near, 1.0);
    let correction = Exact::fma(rest, 5.0 / 9.0, 2.0 / 3.0);
    // Zeros, infinities and NaN come through as they are.
    let root = Exact::fma(root * rest, correction, root);
    if tiny { root * (1.0 / TINY.1) } else { root }
}

#[inline]
pub(crate) fn rcbrt(x: f32) -> f32 {
    let tiny = x.abs() < f32::MIN_POSITIVE;
    let size = if tiny { x.abs() * TINY.0 } else { x.abs() };
    let near = near_rcbrt(size);
    let rest = Exact::fma(-(size * near), near * near, 1.0);
    let correction = Exact::fma(rest, 2.0 / 9.0, 1.0 / 3.0);
    let root = Exact::fma(near * rest, correction, near);
    let root = if tiny { root * TINY.1 } else { root };
    let root = if size == 0.0 { f32::INFINITY } else { root };
    let root = if size == f32::INFINITY { 0.0 } else { root };
    root.copysign(x)
}

/// What makes a subnormal number normal, and its cube root.
const TINY: (f32, f32) = (16_777_216.0, 256.0);

/// One over the cube root of a positive normal number, within 6e-5.
#[inline]
fn near_rcbrt(x: f32) -> f32 {
    // -1/3, in fixed point.
    let third = ((i64::from(x.to_bits() as i32) * -0x5555_5556) >> 32) as i32;
    let guess = f32::from_bits((0x547a_d9c9 + third) as u32);
    let rest = Exact::fma(-(x * guess), guess * guess, 0.920_313_6);
    guess * Exact::fma(rest, rest, 1.083_325_6)
}

#[inline]
pub(crate) fn rsqrt(x: f32) -> f32 {
    crate::arch::float::rsqrt_approx(x)
}

#[inline]
pub(crate) fn hypot(x: f32, y: f32) -> f32 {
    let scale = Scale::of(x.abs().max(y.abs()));
    let (a, b) = (x * scale.down, y * scale.down);
    scale.length(Exact::fma(a, a, b * b))
}

#[inline]
pub(crate) fn norm3d(x: f32, y: f32, z: f32) -> f32 {
    let scale = Scale::of(x.abs().max(y.abs()).max(z.abs()));
    let (a, b, c) = (x * scale.down, y * scale.down, z * scale.down);
    scale.length(Exact::fma(a, a, Exact::fma(b, b, c * c)))
}

#[inline]
pub(crate) fn rhypot(x: f32, y: f32) -> f32 {
    let scale = Scale::of(x.abs().max(y.abs()));
    let (a, b) = (x * scale.down, y * scale.down);
    let square = Exact::fma(a, a, b * b);
    let near = near_rsqrt(square);
    let rest = Exact::fma(-(square * near), near, 1.0);
    // For 0 the factor makes it infinite.
    let root = Exact::fma(near * 0.5, rest, near) * scale.down;
    if scale.largest == f32::INFINITY {
        0.0
    } else {
        root
    }
}

/// The square root of a number that is 0 or from 2^-100 to 2^100, but for an error of 1e-9 before
/// the last rounding: without the branch that the exact one takes, and so that several are computed
/// side by side.
#[inline]
pub(crate) fn near_sqrt(x: f32) -> f32 {
    let near = near_rsqrt(x);
    let root = x * near;
    let rest = Exact::fma(-root, root, x);
    Exact::fma(rest, 0.5 * near, root)
}

/// One over the square root of a positive normal number, within 3e-5.
#[inline]
fn near_rsqrt(x: f32) -> f32 {
    let guess = f32::from_bits(0x5f11_0de5_u32.wrapping_sub(x.to_bits() >> 1));
    let rest = Exact::fma(-(x * guess), guess, 1.126_651_3);
    guess * Exact::fma(rest, rest, 1.013_173_9)
}

/// A power of two that takes the largest of some numbers near 1, so that their squares neither
/// overflow nor vanish.
struct Scale {
    largest: f32,
    down: f32,
    up: f32,
}

impl Scale {
    /// For finite numbers, of which this is the largest magnitude.
    #[inline]
    fn of(largest: f32) -> Self {
        // A multiple of four leaves the factors normal at both ends: 2^-126 to 2^126.
        let exponent = largest.to_bits() & 0x7e00_0000;
        Self {
            largest,
            down: f32::from_bits(0x7e80_0000 - exponent),
            up: f32::from_bits(0x0080_0000 + exponent),
        }
    }

    /// The length whose square, scaled down, is this.
    #[inline]
    fn length(&self, square: f32) -> f32 {
        let length = near_sqrt(square) * self.up;
        // Even where another number is NaN.
        if self.largest == f32::INFINITY {
            f32::INFINITY
        } else {
            length
        }
    }
}
