//! Hyperbolic functions and their inverses.

use super::bits::{ROUNDER, high, low};
use super::exponential::{EXP_NORMAL, EXP_SLOPE, LN_2, LOG2_E, order, reduce, scaled, scaled_far};
use super::logarithm::{ln_of_normal, ln_of_sum};
use super::root::finite_inverse_root;
use crate::arch::float::{Exact, rcp_approx_ftz_f64};
use crate::math::polynomial::polynomial;

/// (e^(2s) - 1) / s for |s| up to ln 2 / 4, with an error of 2^-57.6 of e^(2s); the highest power's
/// first.
const EXP_TWICE: [f64; 11] = [
    5.1262788474559784e-05,
    0.0002829467412084341,
    0.0014109434559941292,
    0.0063491812410574906,
    0.025396825108278478,
    0.08888888926592559,
    0.266666666670191,
    0.6666666666641888,
    1.3333333333333195,
    2.0000000000000053,
    2.0,
];

/// (tanh x - x) / x^3 by x^2 for |x| up to 0.625, with an error of 2^-56.4 of tanh x.
const TANH: [f64; 11] = [
    -1.607203739695251e-05,
    7.714319508522749e-05,
    -0.00022856309078633785,
    0.0005863159300659818,
    -0.001454958669394184,
    0.0035919891273753987,
    -0.008863220995868022,
    0.0218694875754658,
    -0.05396825393123256,
    0.13333333333261987,
    -0.33333333333332854,
];

/// The same of sinh for |x| up to 1, with an error of 2^-61.5, and of the inverses of sinh and tanh for
/// |x| up to 1/4, with errors of 2^-59.9 and 2^-56.7.
const SINH: [f64; 7] = [
    7.765914647461791e-13,
    1.6057000173930192e-10,
    2.5052126858070854e-08,
    2.7557319130378613e-06,
    0.00019841269841531188,
    0.00833333333333297,
    0.16666666666666669,
];
const ASINH: [f64; 8] = [
    0.009173914790153503,
    -0.013701707124710083,
    0.017336741089820862,
    -0.022371587843633425,
    0.030381932523484943,
    -0.044642857004905626,
    0.07499999999922707,
    -0.1666666666666652,
];
const ATANH: [f64; 8] = [
    0.0759739875793457,
    0.0645749568939209,
    0.077056884765625,
    0.09090417383968215,
    0.1111112158995308,
    0.14285714162496718,
    0.20000000000699614,
    0.33333333333331977,
];

/// The value of `order` at these numbers.
const AT_QUARTER: f32 = f32::from_bits(0x3fd0_0000);
const AT_ONE: f32 = f32::from_bits(0x3ff0_0000);
/// The high word of 2^30.
const FAR: u32 = 0x41d0_0000;

#[inline]
pub(crate) fn sinh(x: f64) -> f64 {
    if order(x) < AT_ONE {
        odd(x, &SINH)
    } else {
        half_sum(x.abs(), |power, rest, inverse| power + (rest - inverse)).copysign(x)
    }
}

#[inline]
pub(crate) fn cosh(x: f64) -> f64 {
    half_sum(x.abs(), |power, rest, inverse| power + (rest + inverse))
}

/// (e^x + s e^-x) / 2 for x >= 0, where s is in `sum`: of e^x and what its rounding has left, and e^-x,
/// all without the same power of two.
#[inline(always)]
fn half_sum(x: f64, sum: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (n, r) = reduce(x);
    let slope = polynomial(&EXP_SLOPE, r);
    let power = slope.fma(r, 1.0);
    let rest = slope.fma(r, 1.0 - power);
    let [inverse, correction] = reciprocal(power);
    // From 2^-120 on e^-x does not matter.
    let inverse = scaled(
        inverse.fma(correction, inverse),
        (n as i32).min(60).wrapping_mul(-2) as u32,
    );
    let sum = sum(power, rest, inverse);
    if order(x) < EXP_NORMAL {
        scaled(sum, n.wrapping_sub(1))
    } else {
        scaled_far(sum, n.wrapping_sub(1), x)
    }
}

#[inline]
pub(crate) fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude >= 0.625 {
        // 1 - 2 / (e^2|x| + 1)
        let shifted = magnitude.fma(2.0 * LOG2_E, ROUNDER);
        let n = shifted - ROUNDER;
        let s = n.fma(-0.5 * LN_2[1], n.fma(-0.5 * LN_2[0], magnitude));
        let half_scale = scaled(0.5, low(shifted));
        let half_denominator = (s * polynomial(&EXP_TWICE, s)).fma(half_scale, half_scale + 0.5);
        let [inverse, correction] = reciprocal(half_denominator);
        let tanh = inverse.fma(-correction, 1.0 - inverse);
        // From 19.0625 on it is 1; there the power of two may be beyond its range.
        let tanh = if high(magnitude) < 0x4033_1000 {
            tanh
        } else {
            1.0
        };
        tanh.copysign(x)
    } else {
        odd(x, &TANH)
    }
}

#[inline]
pub(crate) fn asinh(x: f64) -> f64 {
    if order(x) < AT_QUARTER {
        return odd(x, &ASINH);
    }
    let magnitude = x.abs();
    let asinh = if high(magnitude) < FAR {
        // ln (|x| + sqrt (x^2 + 1))
        let square = magnitude.fma(magnitude, 1.0);
        let [root, inverse] = sqrt(square);
        let root_rest = root.fma(-root, square);
        let sum = magnitude + root;
        let sum_rest = magnitude - (sum - root);
        ln_of_sum(sum, root_rest.fma(0.5 * inverse, sum_rest), 0)
    } else {
        ln_of_double(magnitude)
    };
    asinh.copysign(x)
}

#[inline]
pub(crate) fn acosh(x: f64) -> f64 {
    if (0x3ff0_0000..FAR).contains(&high(x)) {
        // ln (x + sqrt (x^2 - 1)); x^2 - 1 = t^2 + 2t
        let t = x - 1.0;
        let [root, _] = sqrt(t.fma(t, t + t));
        let sum = x + root;
        ln_of_sum(sum, root - (sum - x), 0)
    } else if x >= 1.0 {
        ln_of_double(x)
    } else {
        f64::NAN
    }
}

/// ln 2x, which the inverses of sinh and cosh are far out.
#[cold]
#[inline(never)]
fn ln_of_double(x: f64) -> f64 {
    if x.is_finite() { ln_of_normal(x, 1) } else { x }
}

#[inline]
pub(crate) fn atanh(x: f64) -> f64 {
    if order(x) < AT_QUARTER {
        return odd(x, &ATANH);
    }
    // ln ((1 + |x|) / (1 - |x|)) / 2, where both terms of the fraction have a rest.
    let magnitude = x.abs();
    let above = 1.0 + magnitude;
    let above_rest = magnitude - (above - 1.0);
    let below = 1.0 - magnitude;
    let below_rest = (1.0 - below) - magnitude;
    let [inverse, correction] = reciprocal(below);
    let inverse = inverse.fma(correction, inverse);
    let quotient = above * inverse;
    let left = quotient.fma(-below, above) + quotient.fma(-below_rest, above_rest);
    let atanh = (0.5 * ln_of_sum(quotient, left * inverse, 0)).copysign(x);
    if magnitude < 1.0 {
        atanh
    } else if magnitude == 1.0 {
        f64::INFINITY.copysign(x)
    } else {
        f64::NAN
    }
}

/// x + x^3 p(x^2) with the sign of x, which -0 would lose.
#[inline(always)]
fn odd<const COUNT: usize>(x: f64, coefficients: &[f64; COUNT]) -> f64 {
    let square = x * x;
    (square * polynomial(coefficients, square))
        .fma(x, x)
        .copysign(x)
}

/// 1 / x as c and d with c (1 + d) within 2^-57 of it, where both are normal; c has 21 bits.
#[inline(always)]
fn reciprocal(x: f64) -> [f64; 2] {
    let close = rcp_approx_ftz_f64(x);
    let error = close.fma(-x, 1.0);
    [close, error.fma(error, error)]
}

/// The root of x within 2^-53 of it and 20 bits of the inverse; the root of 0 is 0.
#[inline(always)]
fn sqrt(x: f64) -> [f64; 2] {
    let close = finite_inverse_root(x);
    let root = x * close;
    let error = root.fma(-close, 1.0);
    [root.fma(error * error.fma(0.375, 0.5), root), close]
}
