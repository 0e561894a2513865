//! Exponentials.
//!
//! Method: x = n ln 2 + r with |r| <= ln(2) / 2 (Cody and Waite's reduction in two steps, the first of
//! which is exact), a polynomial in r, and 2^n by way of the exponent's bits; see Muller, "Elementary
//! Functions", chapters 3 and 11. The coefficients are minimax fits: of the exponentials, the error
//! weighted with the units of the result, which are twice as large from 1 on; of the rest by Sollya's
//! fpminimax for the relative error.
//!
//! A result that is no normal number takes the branch, which is rare.

use super::bits::ROUNDER;
use crate::arch::float::Exact;
use core::f32::consts::{LOG2_10, LOG2_E};
use core::hint::cold_path;

const POW2_M26: f32 = 1.0 / 67_108_864.0;

/// ln 2 in two parts. The high one's product with an integer, subtracted from a near number by `fma`, is
/// exact.
pub(super) const LN_2: [f32; 2] = [core::f32::consts::LN_2, -1.904_654_3e-9];

/// log10 2 in two parts.
pub(super) const LOG10_2: [f32; 2] = [core::f32::consts::LOG10_2, -1.432_098_9e-8];

#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    let (power, rounded) = reduced_exp(x);
    if x.abs() < 87.0 {
        scale(power, rounded)
    } else if x < -104.0 {
        0.0
    } else if x < 89.0 {
        scale_to_ends(power, rounded)
    } else {
        x * f32::INFINITY
    }
}

#[inline]
pub(crate) fn exp2(x: f32) -> f32 {
    let rounded = x + ROUNDER;
    let r = x - (rounded - ROUNDER);
    let power = reduced_exp2(r);
    if x.abs() < 126.0 {
        scale(power, rounded)
    } else if x < -151.0 {
        0.0
    } else if x < 129.0 {
        scale_to_ends(power, rounded)
    } else {
        x * f32::INFINITY
    }
}

#[inline]
pub(crate) fn exp10(x: f32) -> f32 {
    let rounded = x.fma(LOG2_10, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.fma(-LOG10_2[1], n.fma(-LOG10_2[0], x));
    let power = r
        .fma(0.535_008_8, 1.177_785_4)
        .fma(r, 2.034_854_7)
        .fma(r, 2.650_903_5)
        .fma(r, 2.302_584)
        .fma(r, 1.0);
    if x.abs() < 37.8 {
        scale(power, rounded)
    } else if x < -45.5 {
        0.0
    } else if x < 38.6 {
        scale_to_ends(power, rounded)
    } else {
        x * f32::INFINITY
    }
}

#[inline]
pub(crate) fn exp_m1(x: f32) -> f32 {
    // The last bits of the sum are n and the bias of the exponent. An n other than 0 for a small x would
    // cancel.
    let rounded = if x.abs() < 0.41 {
        ROUNDER + 127.0
    } else {
        x.fma(LOG2_E, ROUNDER + 127.0)
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

/// e^x / 2^n and the sum whose last bits are n.
#[inline]
pub(super) fn reduced_exp(x: f32) -> (f32, f32) {
    let rounded = x.fma(LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.fma(-LN_2[1], n.fma(-LN_2[0], x));
    let power = r
        .fma(8.262_808e-3, 4.189_855e-2)
        .fma(r, 0.166_681_72)
        .fma(r, 0.499_991_48)
        .fma(r, 0.999_999_46)
        .fma(r, 1.0);
    (power, rounded)
}

/// 2^r for r from -1/2 to 1/2.
#[inline]
pub(super) fn reduced_exp2(r: f32) -> f32 {
    r.fma(0.001_322_377_5, 0.009_671_72)
        .fma(r, 0.055_508_975)
        .fma(r, 0.240_222_38)
        .fma(r, 0.693_146_8)
        .fma(r, 1.0)
}

/// `power * 2^n` for the n in the last bits of `rounded`, if that is a normal number.
#[inline]
pub(super) fn scale(power: f32, rounded: f32) -> f32 {
    f32::from_bits(power.to_bits().wrapping_add(rounded.to_bits() << 23))
}

/// `power * 2^n`, n from -151 to 129: infinity or a rounded subnormal number where it must be.
#[inline]
pub(super) fn scale_to_ends(power: f32, rounded: f32) -> f32 {
    let (shift, rest) = if rounded > ROUNDER {
        (-2.0, 4.0)
    } else {
        (64.0, 1.0 / 18_446_744_073_709_551_616.0)
    };
    scale(power, rounded + shift) * rest
}
