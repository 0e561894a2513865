//! Roots and lengths.
//!
//! The cube root starts from the special function unit's power of a logarithm, which one step makes exact enough. Inverse roots
//! start from a difference of integers, which halves or thirds the exponent and leaves an
//! error of a few percent. Two steps of Halley's and Newton's kind make it
//! small: a square with coefficients that spread its error evenly (by Remez' exchange), and the
//! first terms of the binomial series. Or one step does, with more terms of the series, whose coefficients
//! are Sollya's, of fpminimax.

use crate::arch::float::{Exact, exp2_approx_ftz, log2_approx, normal_sqrt};

#[inline]
pub(crate) fn cbrt(x: f32) -> f32 {
    // Finite and no zero, so that the inverse root is, too.
    let size = x.abs().max(f32::from_bits(1)).min(f32::MAX);
    let near = exp2_approx_ftz(log2_approx(size) * (-1.0 / 3.0));
    let root = x * (near * near);
    let rest = Exact::fma(-root.abs(), near, 1.0);
    let correction = Exact::fma(rest, 5.0 / 9.0, 2.0 / 3.0);
    // Zeros, infinities and NaN come through as they are.
    Exact::fma(root * rest, correction, root)
}

#[inline]
pub(crate) fn rcbrt(x: f32) -> f32 {
    let size = x.abs();
    let (root, rest) = near_rcbrt(size);
    // At most 0.106, except that the guess is far from that of a subnormal number, a zero or an
    // infinity.
    let root = if rest.abs() < 0.11 {
        root
    } else {
        core::hint::cold_path();
        if size > 0.0 && size < f32::MIN_POSITIVE {
            near_rcbrt(size * TINY.0).0 * TINY.1
        } else {
            // Infinity for 0, 0 for infinity, NaN for NaN.
            f32::from_bits(f32::INFINITY.to_bits().wrapping_sub(size.to_bits()))
        }
    };
    root.copysign(x)
}

/// One over the cube root of a positive normal number, and what `x` times the cube of the guess at it
/// lacks to 1.
#[inline]
fn near_rcbrt(x: f32) -> (f32, f32) {
    // With half the digits, so that the square is exact.
    let guess = f32::from_bits(guess_rcbrt(x).to_bits() & 0xffff_f000);
    let rest = Exact::fma(-(x * guess), guess * guess, 1.0);
    let p = Exact::fma(rest, 0.126_823_19, 0.145_778_39);
    let p = Exact::fma(p, rest, 0.172_828_9);
    let p = Exact::fma(p, rest, 0.222_216_16);
    let p = Exact::fma(p, rest, 0.333_333_34);
    (Exact::fma(guess * rest, p, guess), rest)
}

/// A guess at one over the cube root of a positive normal number, from its upper bits times -1/3: within 4 percent.
#[inline]
fn guess_rcbrt(x: f32) -> f32 {
    f32::from_bits(0x54a1_a7ff_u32.wrapping_sub((x.to_bits() >> 16) * 0x5555))
}

/// The factor that makes a subnormal number normal, and its cube root.
const TINY: (f32, f32) = (16_777_216.0, 256.0);

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
    let (root, rest) = inverse_root(Exact::fma(x, x, y * y));
    // At most 0.068, except that the guess is far from where the square overflows or vanishes.
    if rest.abs() < 0.07 {
        return root;
    }
    core::hint::cold_path();
    let scale = Scale::of(x.abs().max(y.abs()));
    let (a, b) = (x * scale.down, y * scale.down);
    // For 0 the factor makes it infinite.
    let root = inverse_root(Exact::fma(a, a, b * b)).0 * scale.down;
    if scale.largest == f32::INFINITY {
        0.0
    } else {
        root
    }
}

/// One over the square root of a positive normal number, within a unit, and what `x` times the square of
/// the guess at it lacks to 1.
#[inline]
fn inverse_root(x: f32) -> (f32, f32) {
    let guess = f32::from_bits(0x5f37_4700_u32.wrapping_sub(x.to_bits() >> 1));
    let rest = Exact::fma(-(x * guess), guess, 1.0);
    let p = Exact::fma(rest, 0.247_655_33, 0.274_905_23);
    let p = Exact::fma(p, rest, 0.312_497_23);
    let p = Exact::fma(p, rest, 0.374_997_88);
    let p = Exact::fma(p, rest, 0.5);
    (Exact::fma(guess * rest, p, guess), rest)
}

/// A power of two that takes the largest of some numbers near 1, so that their squares neither
/// overflow nor vanish.
struct Scale {
    largest: f32,
    down: f32,
    up: f32,
}

impl Scale {
    /// For numbers of which this is the largest magnitude; infinity gives normal factors, too.
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
        let length = normal_sqrt(square) * self.up;
        // Even where another number is NaN.
        if self.largest == f32::INFINITY {
            f32::INFINITY
        } else {
            length
        }
    }
}
