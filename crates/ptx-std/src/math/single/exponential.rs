//! Exponentials.
//!
//! The powers are the special function unit's `ex2` of what an exact reduction leaves: x log2(base) - n with the n that
//! keeps both factors of `2^rest * 2^n` normal, so that the product alone rounds a subnormal result.
//!
//! `exp_m1` has its own method: x = n ln 2 + r with |r| <= ln(2) / 2 (Cody and Waite's reduction in two steps, the first
//! of which is exact), a polynomial in r (Sollya's fpminimax), and 2^n by way of the exponent's bits; see Muller, "Elementary
//! Functions", chapters 3 and 11.

use super::bits::ROUNDER;
use crate::arch::float::{Exact, exp2_approx_ftz, rcp_approx_ftz};
use core::f32::consts;
use core::hint::cold_path;

const POW2_M26: f32 = 1.0 / 67_108_864.0;

/// log2 e and log2 10, each in two parts.
pub(super) const LOG2_E: [f32; 2] = [consts::LOG2_E, 1.925_963e-8];
const LOG2_10: [f32; 2] = [consts::LOG2_10, 7.059_537e-8];

/// ln 2 in two parts. The high one's product with an integer, subtracted from a near number by `fma`, is
/// exact.
pub(super) const LN_2: [f32; 2] = [consts::LN_2, -1.904_654_3e-9];

#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    let (power, scale) = exponential(x, LOG2_E, 127.0);
    power * scale
}

#[inline]
pub(crate) fn exp2(x: f32) -> f32 {
    // Below, the unit takes the power of a number 24 greater, and a product rounds the result.
    let is_subnormal = x < -126.0;
    let power = exp2_approx_ftz(if is_subnormal { x + 24.0 } else { x });
    if is_subnormal {
        power * (1.0 / 16_777_216.0)
    } else {
        power
    }
}

#[inline]
pub(crate) fn exp10(x: f32) -> f32 {
    let (power, scale) = exponential(x, LOG2_10, 127.0);
    power * scale
}

/// `e^x / 2` and `e^-x / 2` for x from 0 on.
#[inline(always)]
pub(super) fn half_exponentials(x: f32) -> (f32, f32) {
    let (power, half_scale) = exponential(x, LOG2_E, 126.0);
    let half = power * half_scale;
    (half, 0.25 * rcp_approx_ftz(half))
}

/// The power of the base whose binary logarithm is given, as `power * 2^n` with n from -126 to 126 such
/// that `power` is small only if the result is no normal number; the second is 2^(n + bias - 127).
#[inline(always)]
fn exponential(x: f32, log2_base: [f32; 2], bias: f32) -> (f32, f32) {
    // (n + 126) / 252, clamped to 0 and 1: one instruction, which takes NaN to 0.
    let position = x.fma(log2_base[0] / 252.0, 0.5);
    #[allow(clippy::manual_clamp, reason = "`clamp` keeps NaN")]
    let position = position.max(0.0).min(1.0);
    let origin = ROUNDER - 126.0 + bias;
    let rounded = position.fma(252.0, origin);
    let n = rounded - (origin + 126.0);
    let rest = x.fma(log2_base[1], x.fma(log2_base[0], -n));
    (
        exp2_approx_ftz(rest),
        f32::from_bits(rounded.to_bits() << 23),
    )
}

#[inline]
pub(crate) fn exp_m1(x: f32) -> f32 {
    // The last bits of the sum are n and the bias of the exponent. An n other than 0 for a small x would
    // cancel.
    let rounded = if x.abs() < 0.41 {
        ROUNDER + 127.0
    } else {
        x.fma(consts::LOG2_E, ROUNDER + 127.0)
    };
    let n = rounded - (ROUNDER + 127.0);
    let r = n.fma(-LN_2[1], n.fma(-LN_2[0], x));
    let tail = r
        .fma(2e-4, 1.395_174_3e-3)
        .fma(r, 8.333_747e-3)
        .fma(r, 4.166_629_5e-2)
        .fma(r, 0.166_666_64)
        .fma(r, 0.5);
    let less_one = (r * r).fma(tail, r);
    let power = f32::from_bits(rounded.to_bits() << 23);
    if x.abs() < 87.0 {
        // Where n is 25 to 27, `power - 1.0` rounds by up to half a unit of the result. There the product
        // takes the 1; where n is 27, it would be lost there, and 2 rounds to what is nearest in the end.
        let (near, far) = if (n - 26.0).abs() < 1.5 {
            ((power * -POW2_M26).min(-1.0), power)
        } else {
            (power - 1.0, 0.0)
        };
        // The sign of x is that of the result, and of a zero.
        return (less_one.fma(power, near) + far).copysign(x);
    }
    cold_path();
    if x < 0.0 {
        -1.0
    } else if x < 89.0 {
        // 2^n may be too large, its half is not, and the 1 is nothing beside it.
        let half = f32::from_bits((rounded - 1.0).to_bits() << 23);
        less_one.fma(half, half) * 2.0
    } else {
        x * f32::INFINITY
    }
}
