//! The error function, its relatives and the normal distribution.
//!
//! The complementary functions are `exp(-a * a)` times a polynomial in `(a - k) / (a + k)` over
//! `a + k` (Schonfelder, Mathematics of Computation 32, 1978, pages 1232-1240). Their inverses are
//! polynomials in the logarithm of `1 - x * x` (Giles, GPU Computing Gems, Jade Edition, 2011,
//! chapter 10), and that logarithm is one of few terms. All coefficients were computed for this file with
//! the exchange algorithm of Remez at 220 bits, and rounded one after the other, each time with the
//! others fitted again.

use core::f32::consts::{LN_2, LOG2_E, SQRT_2};
use core::hint::cold_path;

use crate::arch::float::{Exact, log2_approx, log2_approx_ftz, normal_reciprocal, normal_sqrt};
use crate::math::polynomial::polynomial;

pub(crate) fn erf(x: f32) -> f32 {
    let a = x.abs();
    let square = x * x;
    let small = Exact::fma(a, polynomial(&ERF_SMALL, square), a);
    let large = polynomial(&ERF_LARGE, a.min(ERF_IS_1) - ERF_LARGE_MIDDLE);
    // NaN is not large.
    (if a >= 1.0 { large } else { small }).copysign(x)
}

pub(crate) fn erfc(x: f32) -> f32 {
    let a = at_most(x.abs(), 10.1);
    let scaled = over_sum(a, ERFC_K, &ERFC);
    let rate = [-LOG2_E, -LOG2_E_REST];
    let tail = times_exp2_of_square::<64>(scaled, a, rate) * POW2_M64;
    if x < 0.0 { 2.0 - tail } else { tail }
}

/// The standard normal distribution's cumulative distribution function.
pub(crate) fn norm_cdf(x: f32) -> f32 {
    let a = at_most(x.abs(), 14.25);
    let scaled = over_sum(a, NORM_CDF_K, &NORM_CDF);
    let rate = [-0.5 * LOG2_E, -0.5 * LOG2_E_REST];
    let tail = times_exp2_of_square::<64>(scaled, a, rate) * POW2_M64;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// `exp(x * x) * erfc(x)`.
pub(crate) fn erfcx(x: f32) -> f32 {
    // In units of 2^64 the reciprocal of any a + k is a normal number.
    let a = at_most(x.abs() * POW2_M64, 1e27);
    let value = over_sum(a, ERFCX_K * POW2_M64, &ERFCX) * POW2_M64;
    if x >= 0.0 {
        return value;
    }
    // Twice the exponential overflows at -9.38; NaN comes here too.
    let a = at_most(-x, 10.0);
    let power = times_exp2_of_square::<-64>(1.0, a, [LOG2_E, LOG2_E_REST]);
    Exact::fma(power, 2.0 / POW2_M64, -value)
}

pub(crate) fn erf_inv(x: f32) -> f32 {
    inverse(x, Exact::fma(-x, x, 1.0), |complement, logarithm| {
        let tail = polynomial(&ERF_INV_TAIL, logarithm - ERF_INV_TAIL_MIDDLE);
        if complement == 0.0 {
            f32::INFINITY
        } else {
            tail
        }
    })
}

pub(crate) fn erfc_inv(x: f32) -> f32 {
    inverse(1.0 - x, x * (2.0 - x), inverse_beyond)
}

/// The inverse of [`norm_cdf`].
pub(crate) fn norm_cdf_inv(p: f32) -> f32 {
    let y = Exact::fma(p, 2.0 * SQRT_2, -SQRT_2);
    inverse(y, p * Exact::fma(p, -4.0, 4.0), inverse_beyond)
}

/// `factor * erf_inv(y) / y` for the y whose `1 - y * y` is given. Where that is little, the ratio is
/// `beyond` of it and its logarithm to base 2: minus infinity at 0 and for subnormal numbers, and NaN below 0.
#[inline(always)]
fn inverse(factor: f32, complement: f32, beyond: impl Fn(f32, f32) -> f32) -> f32 {
    let logarithm = log2_approx_ftz(complement);
    // Before the branch, so that several functions' polynomials are computed side by side.
    let centre = factor * polynomial(&INVERSE_CENTRE, logarithm);
    if logarithm >= INVERSE_CENTRE_END {
        return centre;
    }
    cold_path();
    factor * beyond(complement, logarithm)
}

/// `erf_inv(y) / y` for every little `1 - y * y`: infinite at 0, and NaN below.
#[inline(always)]
fn inverse_beyond(complement: f32, logarithm: f32) -> f32 {
    if complement >= INVERSE_TAIL_END {
        polynomial(
            &INVERSE_TAIL,
            Exact::fma(logarithm, -LN_2, -INVERSE_TAIL_MIDDLE),
        ) + 1.0
    } else if complement > 0.0 {
        let root = normal_sqrt(-LN_2 * log2_approx(complement)) - INVERSE_FAR_TAIL_MIDDLE;
        polynomial(&INVERSE_FAR_TAIL, root) + 1.0
    } else if complement == 0.0 {
        f32::INFINITY
    } else {
        f32::NAN
    }
}

/// `factor * 2^SCALE * exp2(a * a * rate)`, whose rate is a sum.
#[inline]
fn times_exp2_of_square<const SCALE: i32>(factor: f32, a: f32, rate: [f32; 2]) -> f32 {
    let square = a * a;
    let square_error = Exact::fma(a, a, -square);
    // Added to it, a number is rounded to an integer, which the lowest bits then hold.
    let rounder = 1.5 * POW2_23 + SCALE as f32;
    let shifted = Exact::fma(square, rate[0], rounder);
    let fraction = Exact::fma(square, rate[0], rounder - shifted);
    let fraction = Exact::fma(square, rate[1], fraction);
    let fraction = Exact::fma(square_error, rate[0], fraction);
    // Without a rounding of the power by itself.
    let growth = fraction * polynomial(&EXP2_M1, fraction);
    let scaled = f32::from_bits(factor.to_bits().wrapping_add(shifted.to_bits() << 23));
    Exact::fma(scaled, growth, scaled)
}

/// The polynomial at `(a - k) / (a + k)`, over `a + k`, which is from `2^-100` to `2^100`.
#[inline]
fn over_sum(a: f32, k: f32, coefficients: &[f32]) -> f32 {
    let guess = normal_reciprocal(a + k);
    // Near 0 the result follows a + k more than twice over, so here neither the rounding of the
    // sum comes in, nor that of the reciprocal in the polynomial's argument.
    let error = Exact::fma(-guess, a, Exact::fma(-guess, k, 1.0));
    let correction = guess * error;
    let t = Exact::fma(correction, -2.0 * k, Exact::fma(guess, -2.0 * k, 1.0));
    polynomial(coefficients, t) * (guess + correction)
}

/// The lesser of the two, and NaN if x is, unlike [`f32::min`].
#[inline]
fn at_most(x: f32, limit: f32) -> f32 {
    if x > limit { limit } else { x }
}

const POW2_23: f32 = 8388608.0;
const POW2_M64: f32 = 5.421010862427522e-20;

/// The rest of log2(e) beyond [`LOG2_E`].
const LOG2_E_REST: f32 = 1.925963e-08;

/// From here on erf rounds to 1.
const ERF_IS_1: f32 = 3.92;

/// `erf(x) / x - 1` in `x * x`, to 1.
const ERF_SMALL: [f32; 6] = [
    -0.0005631417,
    0.0049175504,
    -0.026711311,
    0.112801805,
    -0.37612328,
    0.12837914,
];

const ERF_LARGE_MIDDLE: f32 = 2.375;
/// `erf(x)` in `x - 2.375`, from 1 to 3.93.
const ERF_LARGE: [f32; 13] = [
    -9.124428e-6,
    3.4727414e-5,
    2.354562e-5,
    -0.00033425647,
    0.0006359035,
    0.00011439211,
    -0.003143303,
    0.008363679,
    -0.013123332,
    0.013728904,
    -0.009516656,
    0.0040065884,
    0.9992171,
];

/// `(exp2(x) - 1) / x` from -0.5 to 0.5.
const EXP2_M1: [f32; 6] = [
    0.0001581962,
    0.001341818,
    0.009617065,
    0.055502724,
    0.24022655,
    0.69314724,
];

const ERFC_K: f32 = 2.3125;
/// `(a + k) * exp(a * a) * erfc(a)` in `(a - k) / (a + k)`, for a to 10.1.
const ERFC: [f32; 10] = [
    0.00018350252,
    0.00024199949,
    -0.001456771,
    -0.001903791,
    0.011713949,
    0.0031977973,
    -0.11843961,
    0.39304206,
    -0.76615673,
    1.0437663,
];

const NORM_CDF_K: f32 = 2.625;
/// `(a + k) * exp(a * a / 2) * norm_cdf(-a)` in `(a - k) / (a + k)`, for a to 14.25.
const NORM_CDF: [f32; 10] = [
    -0.00012726907,
    -0.00040736503,
    0.00022557733,
    0.00271555,
    0.000817647,
    -0.017173197,
    -0.0029146727,
    0.1574375,
    -0.4547919,
    0.7131369,
];

const ERFCX_K: f32 = 2.0;
/// `(a + k) * exp(a * a) * erfc(a)` in `(a - k) / (a + k)`.
const ERFCX: [f32; 11] = [
    8.2714825e-5,
    7.45906e-5,
    -0.0005954075,
    -0.0008641932,
    0.0030560144,
    0.0064888154,
    -0.021502681,
    -0.0364438,
    0.27947143,
    -0.6871606,
    1.0215827,
];

const INVERSE_CENTRE_END: f32 = -8.2;
/// `erf_inv(x) / x` in `log2(1 - x * x)`, from -8.2.
const INVERSE_CENTRE: [f32; 10] = [
    2.4307717e-10,
    9.1129255e-9,
    1.15794975e-7,
    1.7836842e-7,
    -8.244094e-6,
    -3.2176347e-5,
    0.0007735946,
    0.0055460026,
    -0.1608204,
    0.8862269,
];

/// `exp(-16.6)`.
const INVERSE_TAIL_END: f32 = 6.1761e-8;
const INVERSE_TAIL_MIDDLE: f32 = 11.005371;
/// `erf_inv(x) / x - 1` in `w - 11.0054` for w from 5.6875 to 16.7.
const INVERSE_TAIL: [f32; 10] = [
    -2.8000947e-11,
    3.389195e-10,
    -9.401919e-10,
    -9.122882e-9,
    2.9900337e-7,
    -6.8125782e-6,
    0.00014087261,
    -0.0033380317,
    0.15161338,
    2.151698,
];

const INVERSE_FAR_TAIL_MIDDLE: f32 = 7.125;
/// `erf_inv(x) / x - 1` in `sqrt(w) - 7.125` for w from 16.5 to 104.
const INVERSE_FAR_TAIL: [f32; 10] = [
    -2.3855005e-9,
    1.2631351e-8,
    -2.8216522e-8,
    2.2258355e-7,
    -1.5003138e-6,
    5.278201e-6,
    9.295302e-6,
    -0.0005099527,
    1.0084677,
    5.995086,
];

const ERF_INV_TAIL_MIDDLE: f32 = -15.625;
/// `erf_inv(x) / x` in `log2(1 - x * x) + 15.625`, to the greatest x below 1.
const ERF_INV_TAIL: [f32; 10] = [
    1.2499429e-12,
    1.937523e-11,
    8.583186e-11,
    -7.331111e-10,
    -4.8307573e-8,
    -1.638094e-6,
    -4.854487e-5,
    -0.001639848,
    -0.10590898,
    3.1250708,
];
