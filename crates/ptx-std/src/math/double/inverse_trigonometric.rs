//! Arcs.
//!
//! The arc tangent of what is greater than 1 is that of its inverse taken from pi/2, the arc sine from
//! 1/2 on twice that of `sqrt((1 - x) / 2)` taken from pi/2 (Muller, Elementary Functions, chapter 11).
//! The polynomials are from Sollya's `fpminimax`; the first coefficients have no more than the 21
//! significant bits that an instruction holds.

use core::f64::consts::{FRAC_PI_2, PI};
use core::hint::{cold_path, select_unpredictable};

use super::bits::{change_sign, from_words, high, is_below, low};
use super::root::finite_inverse_root;
use crate::arch::float::{Exact, rcp_approx_ftz_f64};
use crate::math::polynomial::polynomial;

#[inline]
pub(crate) fn asin(x: f64) -> f64 {
    let a = x.abs();
    let (arc, square, base) = if is_below(x, 0.5) {
        (a, a * a, NOTHING)
    } else {
        let square = Exact::fma(a, -0.5, 0.5);
        (-2.0 * root(square), square, QUARTER)
    };
    change_sign(sum(base, arc, square, polynomial(&ASIN, square)), high(x))
}

#[inline]
pub(crate) fn acos(x: f64) -> f64 {
    let a = x.abs();
    let (arc, square, base) = if is_below(x, 0.5) {
        (-a, a * a, QUARTER)
    } else {
        let square = Exact::fma(a, -0.5, 0.5);
        let base = if high(x) >> 31 == 0 { NOTHING } else { HALF };
        (2.0 * root(square), square, base)
    };
    sum(
        base,
        change_sign(arc, high(x)),
        square,
        polynomial(&ASIN, square),
    )
}

#[inline]
pub(crate) fn atan(x: f64) -> f64 {
    // For every argument: a branch that a warp's lanes part at costs more.
    let complement = minus_inverse(x);
    let is_small = is_below(x, 1.0);
    // Word by word, as the magnitude of a whole number is an operation in `f64`.
    let t = from_words(
        select_unpredictable(is_small, high(x) & 0x7fff_ffff, high(complement)),
        select_unpredictable(is_small, low(x), low(complement)),
    );
    let base = select_unpredictable(is_small, NOTHING.0, QUARTER.0);
    // Without what a quarter's first part lacks, which is half a unit of the result or less.
    let arc = Exact::fma(t * (t * t), polynomial(&ATAN, t * t), t);
    change_sign(base + arc, high(x))
}

#[inline]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    let steep = b > a;
    let (less, greater) = if steep { (a, b) } else { (b, a) };
    let (less, greater) = if is_moderate(greater) {
        (less, greater)
    } else {
        cold_path();
        moderated(less, greater)
    };
    let t = quotient(less, greater);
    // Measured from the y axis if y is the greater, else from the x axis, its left if x is negative.
    let base = if steep {
        QUARTER
    } else if high(x) >> 31 == 0 {
        NOTHING
    } else {
        HALF
    };
    let t = change_sign(t, high(x) ^ u32::from(steep) << 31);
    change_sign(sum(base, t, t * t, polynomial(&ATAN, t * t)), high(y))
}

/// Minus the inverse of the magnitude of x, if that is not less than 1; 0 from 2^64 on, where it does not
/// matter. Of lesser ones it is anything.
#[inline(always)]
fn minus_inverse(x: f64) -> f64 {
    let x = x.abs();
    let y = rcp_approx_ftz_f64(x);
    let e = Exact::fma(-x, y, 1.0);
    let inverse = Exact::fma(-y, Exact::fma(e, e, e), -y);
    if x >= 18446744073709551616.0 {
        0.0
    } else {
        inverse
    }
}

/// The quotient of magnitudes, the greater of which [`is_moderate`].
#[inline(always)]
fn quotient(less: f64, greater: f64) -> f64 {
    let y = rcp_approx_ftz_f64(greater);
    let e = Exact::fma(-greater, y, 1.0);
    let t = less * y;
    let t = Exact::fma(t, Exact::fma(e, e, e), t);
    Exact::fma(Exact::fma(-t, greater, less), y, t)
}

/// Whether a number and its inverse are far from the ends of the range.
#[inline(always)]
fn is_moderate(a: f64) -> bool {
    high(a).wrapping_sub(0x0400_0000) < 0x7800_0000
}

/// Two magnitudes of the same quotient, which by convention is 0 of zeros and 1 of infinities.
#[inline(always)]
fn moderated(less: f64, greater: f64) -> (f64, f64) {
    if greater == 0.0 {
        (0.0, 1.0)
    } else if less == f64::INFINITY {
        (1.0, 1.0)
    } else if greater == f64::INFINITY {
        (0.0, 1.0)
    } else {
        let scale = if greater < 1.0 {
            TWO_TO_200
        } else {
            1.0 / TWO_TO_200
        };
        (less * scale, greater * scale)
    }
}

const TWO_TO_200: f64 = 1.6069380442589903e60;

/// The square root on [0, 1/4]; NaN for negative numbers.
#[inline(always)]
fn root(x: f64) -> f64 {
    let y = finite_inverse_root(x);
    let z = x * y;
    let e = Exact::fma(-z, y, 1.0);
    let z = Exact::fma(z * e, Exact::fma(0.375, e, 0.5), z);
    let z = Exact::fma(Exact::fma(-z, z, x), 0.5 * y, z);
    if x < 0.0 { f64::NAN } else { z }
}

/// An angle and what it lacks.
type Angle = (f64, f64);

const NOTHING: Angle = (0.0, 0.0);
const QUARTER: Angle = (FRAC_PI_2, 6.123233995736766e-17);
const HALF: Angle = (PI, 1.2246467991473532e-16);

/// `base + arc * (1 + square * p)`.
#[inline(always)]
fn sum(base: Angle, arc: f64, square: f64, p: f64) -> f64 {
    base.0 + (arc + Exact::fma(arc * square, p, base.1))
}

/// `(atan(t) / t - 1) / t^2` as a polynomial in `t^2` on [0, 1], the highest power's coefficient first.
const ATAN: [f64; 19] = [
    -2.0260762539692223e-05,
    0.00022304325830191374,
    -0.0011641625314950943,
    0.0038562164071440307,
    -0.009184998463226436,
    0.016978614482069495,
    -0.025827367307325464,
    0.03406824005820554,
    -0.04092663085067449,
    0.04673960732288139,
    -0.05239236832651925,
    0.05877308777926873,
    -0.06665860561872293,
    0.07692212959319457,
    -0.09090901238342876,
    0.11111110678951487,
    -0.14285714271343364,
    0.1999999999975521,
    -0.3333333333333186,
];

/// `(asin(t) / t - 1) / t^2` as a polynomial in `t^2` on [0, 1/2], the highest power's coefficient first.
const ASIN: [f64; 12] = [
    0.031912386417388916,
    -0.016224443912506104,
    0.019528403878211975,
    0.006527916754913164,
    0.012169227487411269,
    0.01388523260093941,
    0.0173597051123234,
    0.02237175802210665,
    0.030381959138450033,
    0.04464285682828149,
    0.07500000000337093,
    0.16666666666665408,
];
