//! Arcs.
//!
//! The polynomials are minimax approximations with coefficients of 24 bits, computed with Sollya's
//! `fpminimax`.

use crate::arch::float::Exact;
use crate::arch::float::{double_normal_sqrt, normal_reciprocal};

/// π/2 but for 2e-13, as a product: `fma(HALF_PI.0, HALF_PI.1, x)` adds it with one rounding.
const HALF_PI: (f32, f32) = (1.047_659_4, 1.499_338_7);

#[inline]
pub(crate) fn asin(x: f32) -> f32 {
    let size = x.abs();
    let is_upper = size > 0.5;
    // π/2 less twice the arc sine of sqrt(half).
    let half = half_versine(size);
    let chord = double_normal_sqrt(half);
    let sine = if is_upper { -chord } else { size };
    let square = if is_upper { half } else { x * x };
    let near_axis = Exact::fma(HALF_PI.0, HALF_PI.1, -chord);
    let axis = if is_upper { near_axis } else { sine };
    nan_beyond_1(size, beside_axis(axis, sine, square)).copysign(x)
}

#[inline]
pub(crate) fn acos(x: f32) -> f32 {
    let size = x.abs();
    let is_upper = size > 0.5;
    let half = half_versine(size);
    let chord = double_normal_sqrt(half);
    let sine = if is_upper { chord } else { x };
    let square = if is_upper { half } else { x * x };
    // π less what it is for -x, or π/2 less the arc sine.
    let sine = if x > 0.5 { sine } else { -sine };
    let axis = if is_upper { 2.0 * HALF_PI.1 } else { HALF_PI.1 };
    let axis = if x > 0.5 {
        sine
    } else {
        Exact::fma(HALF_PI.0, axis, sine)
    };
    nan_beyond_1(size, beside_axis(axis, sine, square))
}

/// (1 - cosine) / 2, the square of the sine of half the angle.
#[inline]
fn half_versine(cosine: f32) -> f32 {
    Exact::fma(cosine, -0.5, 0.5)
}

/// `axis` with what the arc of a sine up to 1/2 has beyond the sine itself, from that and its square; a
/// multiple of the sine gives the multiple.
#[inline]
fn beside_axis(axis: f32, sine: f32, square: f32) -> f32 {
    let p = Exact::fma(square, 4.215_701_3e-2, 2.418_550_3e-2);
    let p = Exact::fma(p, square, 4.546_902e-2);
    let p = Exact::fma(p, square, 7.495_31e-2);
    let p = Exact::fma(p, square, 0.166_667_52);
    Exact::fma(p, square * sine, axis)
}

/// `arc`, or NaN for the arc of more than 1.
#[inline]
fn nan_beyond_1(size: f32, arc: f32) -> f32 {
    if size > 1.0 { f32::NAN } else { arc }
}

#[inline]
pub(crate) fn atan(x: f32) -> f32 {
    let size = x.abs();
    // Up to where its arc is π/2.
    let inverse = normal_reciprocal(size.min(1e10));
    let upper = size > 1.0;
    let arc = near_zero(if upper { inverse } else { size });
    let arc = if upper {
        Exact::fma(HALF_PI.0, HALF_PI.1, -arc)
    } else {
        arc
    };
    arc.copysign(x)
}

#[inline]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    let (height, width) = (y.abs(), x.abs());
    let upper = height > width;
    let (lesser, larger) = if upper {
        (width, height)
    } else {
        (height, width)
    };
    let quotient = if height == width {
        // Two zeros or two infinities among them.
        if height == 0.0 { 0.0 } else { 1.0 }
    } else {
        lesser / larger
    };
    let arc = near_zero(quotient);
    // From the axis that is nearer, with one rounding.
    let left = x.is_sign_negative();
    let axis = match (upper, left) {
        (true, _) => HALF_PI.1,
        (false, true) => 2.0 * HALF_PI.1,
        (false, false) => 0.0,
    };
    let arc = if upper == left { arc } else { -arc };
    Exact::fma(HALF_PI.0, axis, arc).copysign(y)
}

/// The arc tangent from 0 to 1.
#[inline]
fn near_zero(x: f32) -> f32 {
    let square = x * x;
    let p = Exact::fma(square, 2.920_203_4e-3, -1.636_600_3e-2);
    let p = Exact::fma(p, square, 4.320_876e-2);
    let p = Exact::fma(p, square, -7.551_952e-2);
    let p = Exact::fma(p, square, 0.106_658_8);
    let p = Exact::fma(p, square, -0.142_110_23);
    let p = Exact::fma(p, square, 0.199_937_69);
    let p = Exact::fma(p, square, -0.333_331_53);
    Exact::fma(p * square, x, x)
}
