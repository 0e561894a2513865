//! Powers.
//!
//! exp (y ln x), where the logarithm is the sum of two numbers: x = 2^n m, and a factor c of few bits
//! takes m to 1 + f with |f| < 0.092, exactly. The terms n ln 2 - ln c, f and -f^2/2 are added without
//! an error; what follows is 2^-11 of them, so that a plain polynomial has enough digits. The
//! coefficients are those of Sollya's `fpminimax`.

use super::bits::TWO_POW_54;
use super::exponential::{EXP_NORMAL, LN_2, exp_of_sum, order, scaled, scaled_far};
use super::logarithm::{Reduced, is_positive_normal, reduce};
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;

/// (ln (1 + f) - f + f^2/2) / f^3 - THIRD for |f| < 0.0914, with an error of 2^-65 of ln (1 + f); the
/// highest power's first.
const LN_1P: [f64; 12] = [
    -0.07304060459136963,
    0.07886040210723877,
    -0.08331763744354248,
    0.09088730812072754,
    -0.10000007184430805,
    0.11111123125821011,
    -0.12499999984750607,
    0.14285714252255982,
    -0.1666666666667842,
    0.20000000000042786,
    -0.25,
    7.947285951868236e-08,
];

/// 1/3 to 21 bits.
const THIRD: f64 = 0.33333325386047363;

/// The high words of the bounds of m: 0.935, 1.065, 1.245, 1.455 and 1.68.
const BOUNDS: [u32; 5] = [
    0x3fed_ec00,
    0x3ff1_0a00,
    0x3ff3_eb00,
    0x3ff7_4800,
    0x3ffa_e100,
];
/// The factors between the bounds, and their logarithms' negatives in two parts.
const FACTORS: [f64; 5] = [1.0, 0.875, 0.75, 0.625, 0.5625];
const LN_FACTORS: [[f64; 5]; 2] = [
    [
        0.0,
        0.13353145122528076,
        0.28768205642700195,
        0.470003604888916,
        0.5753641128540039,
    ],
    [
        0.0,
        -5.8600758138572405e-08,
        1.6024778974314217e-08,
        2.4356819538025937e-08,
        3.2049557948628435e-08,
    ],
];

#[inline]
pub(crate) fn powf(x: f64, y: f64) -> f64 {
    let [product, rest] = times_ln(y, x, 0);
    let (power, n) = exp_of_sum(product, rest);
    if is_positive_normal(x) && order(product) < EXP_NORMAL {
        scaled(power, n)
    } else {
        powf_elsewhere(x, y)
    }
}

/// y ln (x 2^exponent) for a positive normal x, in two parts.
#[inline(always)]
fn times_ln(y: f64, x: f64, exponent: i32) -> [f64; 2] {
    let Reduced { n, f, part, .. } = reduce(x, exponent, &BOUNDS, &FACTORS);
    let start = n.fma(LN_2[0], part.choose_high(&LN_FACTORS[0]));
    let start_rest = n.fma(LN_2[1], part.choose(&LN_FACTORS[1]));
    let square = f * f;
    let square_rest = f.fma(f, -square);

    let first = start + f;
    let first_rest = f - (first - start);
    let factor = f.fma(THIRD, -0.5);
    let factor_rest = f.fma(THIRD, -(factor + 0.5));
    let second = square.fma(factor, first);
    let second_rest = square.fma(factor, first - second);

    let rest = square.fma(factor_rest, start_rest) + (first_rest + second_rest);
    let rest = square_rest.fma(factor, rest);
    let rest = (f * square).fma(polynomial(&LN_1P, f), rest);
    let ln = second + rest;
    let ln_rest = rest - (ln - second);

    let product = y * ln;
    [product, y.fma(ln_rest, y.fma(ln, -product))]
}

/// The power, where x is not a positive normal number or the result is far from 1.
#[cold]
#[inline(never)]
fn powf_elsewhere(x: f64, y: f64) -> f64 {
    if x == 1.0 || y == 0.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let magnitude = x.abs();
    let is_integer = y.trunc() == y;
    let is_odd = is_integer && (0.5 * y).trunc() != 0.5 * y;
    let sign = if is_odd { x } else { 1.0 };
    if magnitude == 0.0 || magnitude == f64::INFINITY {
        let value = if (magnitude == 0.0) == (y > 0.0) {
            0.0
        } else {
            f64::INFINITY
        };
        return value.copysign(sign);
    }
    if y.abs() == f64::INFINITY {
        return if magnitude == 1.0 {
            1.0
        } else if (magnitude > 1.0) == (y > 0.0) {
            f64::INFINITY
        } else {
            0.0
        };
    }
    if x < 0.0 && !is_integer {
        return f64::NAN;
    }
    let [product, rest] = if magnitude < f64::MIN_POSITIVE {
        times_ln(y, magnitude * TWO_POW_54, -54)
    } else {
        times_ln(y, magnitude, 0)
    };
    let (power, n) = exp_of_sum(product, rest);
    scaled_far(power, n, product).copysign(sign)
}
