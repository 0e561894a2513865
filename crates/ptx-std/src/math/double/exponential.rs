//! Exponentials.
//!
//! Cody and Waite's reduction to a power of two and a rest of at most half a binary order, and a
//! polynomial of the rest (Muller, Elementary Functions, chapters 3 and 11). The coefficients are
//! those of Sollya's `fpminimax`; the last ones have 21 bits, which fit into an instruction.

use core::f64::consts;

use super::bits::{ROUNDER, from_words, high, low};
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;

pub(super) const LOG2_E: f64 = consts::LOG2_E;
/// ln 2 in two parts, of which the first has 42 bits: its product with an exponent is exact.
pub(super) const LN_2: [f64; 2] = [0.6931471805598903, 5.497923018708371e-14];

/// (e^r - 1) / r for |r| up to ln 2 / 2, with an error of 2^-57.8 of e^r; the highest power's first.
pub(super) const EXP_SLOPE: [f64; 11] = [
    2.500190987575479e-08,
    2.763044903986156e-07,
    2.7557580324355513e-06,
    2.4801492472433004e-05,
    0.00019841269513698676,
    0.001388888894432079,
    0.008333333333490922,
    0.04166666666652703,
    0.1666666666666642,
    0.5000000000000011,
    1.0,
];

/// 2^r for |r| up to 1/2, with a relative error of 2^-57.2.
const EXP2: [f64; 12] = [
    4.451667923177638e-10,
    7.073900576415326e-09,
    1.0178075626754435e-07,
    1.3215434531215767e-06,
    1.5252733831131314e-05,
    0.00015403530458804742,
    0.0013333558146356498,
    0.009618129107592563,
    0.05550410866482234,
    0.24022650695910136,
    consts::LN_2,
    1.0,
];

/// (10^r - 1) / r for |r| up to log10(2) / 4, with an error of 2^-58.6 of 10^r.
const EXP10: [f64; 10] = [
    0.001168781891465187,
    0.005020391196012497,
    0.019597500562667847,
    0.0680893063025573,
    0.20699584962928225,
    0.5393829294279218,
    1.1712551489104746,
    2.0346785922930826,
    2.6509490552392,
    2.302585092994046,
];
/// 2 log2 10, log10(2) / 2 in two parts, of which the first has 40 bits, and the root of 2 in two.
const TWO_LOG2_10: f64 = 6.643856189774724;
const HALF_LOG10_2: [f64; 2] = [0.15051499783203326, -4.266172158528553e-14];
const SQRT_2: [f64; 2] = [consts::SQRT_2, -9.667293313452913e-17];

/// (e^r - 1 - r) / r^2 for |r| up to 0.4055, with an error of 2^-58.8 of e^r - 1.
const EXP_M1: [f64; 11] = [
    2.089135975325007e-09,
    2.512986441161047e-08,
    2.755739387794165e-07,
    2.7557179433585818e-06,
    2.480158712097645e-05,
    0.0001984126995515833,
    0.0013888888889020596,
    0.008333333333292947,
    0.04166666666666637,
    0.16666666666666713,
    0.5,
];

/// Below it, by magnitude, `exp` is a normal number: the high word of 708, read as an `f32`.
pub(super) const EXP_NORMAL: f32 = f32::from_bits(0x4086_2000);
/// The same for `exp2`, 1022, and for `exp10`, 307.
const EXP2_NORMAL: f32 = f32::from_bits(0x408f_f000);
const EXP10_NORMAL: f32 = f32::from_bits(0x4073_3000);
/// Below it `exp_m1` is not reduced: 0.4055, a little above ln 1.5.
const EXP_M1_WHOLE: f32 = f32::from_bits(0x3fd9_f400);

#[inline]
pub(crate) fn exp(x: f64) -> f64 {
    let (n, r) = reduce(x);
    let value = polynomial(&EXP_SLOPE, r).fma(r, 1.0);
    if order(x) < EXP_NORMAL {
        scaled(value, n)
    } else {
        scaled_far(value, n, x)
    }
}

#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    let shifted = x + ROUNDER;
    let value = polynomial(&EXP2, x - (shifted - ROUNDER));
    if order(x) < EXP2_NORMAL {
        scaled(value, low(shifted))
    } else {
        scaled_far(value, low(shifted), x)
    }
}

#[inline]
pub(crate) fn exp10(x: f64) -> f64 {
    // x = k log10(2) / 2 + r: half a binary order needs few coefficients, and r's factor ln 10, which
    // has rounding errors of its own, counts half as much.
    let shifted = x.fma(TWO_LOG2_10, ROUNDER);
    let k = shifted - ROUNDER;
    let r = k.fma(-HALF_LOG10_2[1], k.fma(-HALF_LOG10_2[0], x));
    let k = low(shifted);
    let [root, root_rest] = if k & 1 == 0 { [1.0, 0.0] } else { SQRT_2 };
    let value = (r * polynomial(&EXP10, r)).fma(root, root_rest) + root;
    let n = (k as i32 >> 1) as u32;
    if order(x) < EXP10_NORMAL {
        scaled(value, n)
    } else {
        scaled_far(value, n, x)
    }
}

#[inline]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let shifted = x.fma(LOG2_E, ROUNDER);
    // Where the value is small against 2^n, the power's 1 would hide the digits of e^r - 1.
    let shifted = if order(x) < EXP_M1_WHOLE {
        ROUNDER
    } else {
        shifted
    };
    let n = shifted - ROUNDER;
    // The rest of r's own rounding counts: r is most of the value.
    let start = n.fma(-LN_2[0], x);
    let r = n.fma(-LN_2[1], start);
    let r_rest = n.fma(-LN_2[1], start - r);
    let n = low(shifted);
    // Of 2^n - 1, which is rounded from 2^54 on.
    let lost = if n == 54 {
        -0.25 * f64::EPSILON
    } else if n == 55 {
        -0.125 * f64::EPSILON
    } else {
        0.0
    };
    let value = r + (r * r).fma(polynomial(&EXP_M1, r), r_rest + lost);
    if order(x) < EXP_NORMAL {
        let power = scaled(1.0, n);
        // The sign is that of x for -0 as well.
        value.fma(power, power - 1.0).copysign(x)
    } else if x < 0.0 {
        -1.0
    } else {
        scaled_far(1.0 + value, n, x)
    }
}

/// x = n ln 2 + r
#[inline(always)]
pub(super) fn reduce(x: f64) -> (u32, f64) {
    let shifted = x.fma(LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.fma(-LN_2[1], n.fma(-LN_2[0], x));
    (low(shifted), r)
}

/// e^(x + rest) without the power of two, and that one's exponent; `rest` is little beside 1.
#[inline(always)]
pub(super) fn exp_of_sum(x: f64, rest: f64) -> (f64, u32) {
    let shifted = x.fma(LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.fma(-LN_2[0], x) + n.fma(-LN_2[1], rest);
    (polynomial(&EXP_SLOPE, r).fma(r, 1.0), low(shifted))
}

/// The high word's bits without the sign, as an `f32`: grows with the magnitude of `x`, and is NaN
/// of infinities and NaN. Comparing it is cheaper than comparing `x`.
#[inline(always)]
pub(super) fn order(x: f64) -> f32 {
    f32::from_bits(high(x)).abs()
}

/// x 2^n, where both are normal numbers.
#[inline(always)]
pub(super) fn scaled(x: f64, n: u32) -> f64 {
    // A sum of whole numbers would be two instructions.
    from_words(high(x).wrapping_add(n << 20), low(x))
}

/// x 2^n of an x in [1/2, 2), where it is not a normal number or n does not hold the exponent: it
/// is that of a function that grows with `argument` and ends before 5000 on both sides.
#[inline(always)]
pub(super) fn scaled_far(x: f64, n: u32, argument: f64) -> f64 {
    if argument.abs() < 5000.0 {
        let n = (n as i32).clamp(-2000, 2000);
        let half = n >> 1;
        scaled(x, half as u32) * scaled(1.0, (n - half) as u32)
    } else if argument < 0.0 {
        0.0
    } else {
        // NaN or infinity. The argument itself would hold registers on the way that is common.
        argument + f64::INFINITY
    }
}
