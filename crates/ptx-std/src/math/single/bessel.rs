//! Bessel functions and modified Bessel functions of the first kind.
//!
//! Up to 8 each function of order 0 and 1 is the product of its zeros there and a polynomial; those of
//! the second kind have one such interval for each zero, and near 0 the logarithm of their definition.
//! Beyond 8 they are `x^(-1/2) A(1/x²) cos(x - c + B(1/x²) / x)`: amplitude and phase as Hankel's
//! expansion has them, and x reduced by Cody and Waite's method or, far out, Payne and Hanek's. Other
//! orders follow from the recurrence, downwards (Miller's algorithm) where upwards it is not stable.
//! The modified functions are power series up to 9 and polynomials times `exp(x) / sqrt(x)` beyond. The
//! polynomials are minimax, fitted for this file in mpmath by Lawson's algorithm, with coefficients
//! rounded one after the other.

// Some coefficients are near constants with a name, and not meant as those.
#![allow(clippy::approx_constant)]

use super::gamma::{exp_scaled, ln_small, polynomial};
use crate::arch::float::Exact;

#[inline]
pub(crate) fn j0(x: f32) -> f32 {
    let x = x.abs();
    if x < 1.0 {
        let square = x * x;
        Exact::fma(square, polynomial(J0_SMALL, square), 1.0)
    } else if x <= 8.0 {
        let a = (x - 2.4048254) - 1.08705905e-7;
        let b = (x - 5.520078) + 7.1934146e-8;
        let c = (x - 8.653728) - 3.8147792e-7;
        a * polynomial(J0, x - 4.0) * b * c
    } else {
        wave(x, 0, AMPLITUDE_0, PHASE_0)
    }
}

#[inline]
pub(crate) fn j1(x: f32) -> f32 {
    let y = x.abs();
    if y <= 8.0 {
        let a = (y - 3.831706) + 7.685059e-8;
        let b = (y - 7.015587) + 1.8321172e-7;
        x * (a * polynomial(J1, y - 4.0) * b)
    } else {
        let value = wave(y, 3, AMPLITUDE_1, PHASE_1);
        if x < 0.0 { -value } else { value }
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y0(x: f32) -> f32 {
    if x > 8.0 {
        wave(x, 3, AMPLITUDE_0, PHASE_0)
    } else if x >= 5.5 {
        about((x - 7.086051) - 7.305812e-8, Y0_3)
    } else if x >= 1.95 {
        about((x - 3.9576783) - 1.0129118e-7, Y0_2)
    } else if x >= 0.6 {
        about((x - 0.893577) + 1.3357979e-8, Y0_1)
    } else if x >= 0.0 {
        let square = x * x;
        let rest = polynomial(Y0_SMALL, square);
        Exact::fma(ln_small(x), polynomial(Y0_LOGARITHM, square), rest)
    } else {
        f32::NAN
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y1(x: f32) -> f32 {
    if x > 8.0 {
        wave(x, 2, AMPLITUDE_1, PHASE_1)
    } else if x >= 7.0 {
        about((x - 8.596005) - 4.2857286e-7, Y1_3)
    } else if x >= 3.8 {
        about((x - 5.429681) - 2.1651435e-7, Y1_2)
    } else if x >= 1.2 {
        about((x - 2.1971414) + 8.288927e-8, Y1_1)
    } else if x > 0.0 {
        let square = x * x;
        let rest = polynomial(Y1_SMALL, square);
        let smooth = Exact::fma(ln_small(x), polynomial(Y1_LOGARITHM, square), rest);
        Exact::fma(x, smooth, -core::f32::consts::FRAC_2_PI / x)
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    }
}

/// A function near the zero at this distance.
#[inline(always)]
fn about<const N: usize>(distance: f32, coefficients: [f32; N]) -> f32 {
    distance * polynomial(coefficients, distance)
}

#[inline]
pub(crate) fn jn(x: f32, order: i32) -> f32 {
    let n = order.unsigned_abs();
    let y = x.abs();
    let value = if n == 0 {
        j0(y)
    } else if n == 1 {
        j1(y)
    } else if y.is_nan() || y.is_infinite() {
        if y.is_nan() { y } else { 0.0 }
    } else if y < 1.0 {
        series(y, n)
    } else if y > n as f32 {
        upwards(y, n, j0(y), j1(y))
    } else {
        downwards(y, n)
    };
    // Odd orders are odd in x and in the order.
    if n & 1 == 1 && (x.is_sign_negative() != (order < 0)) {
        -value
    } else {
        value
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn yn(x: f32, order: i32) -> f32 {
    let n = order.unsigned_abs();
    let value = if n == 0 {
        y0(x)
    } else if n == 1 {
        y1(x)
    } else if x.is_infinite() && x > 0.0 {
        0.0
    } else {
        upwards(x, n, y0(x), y1(x))
    };
    if n & 1 == 1 && order < 0 {
        -value
    } else {
        value
    }
}

/// The function of order n from those of orders 0 and 1. An infinite one stays so.
#[inline(always)]
fn upwards(x: f32, n: u32, order_0: f32, order_1: f32) -> f32 {
    let step = 2.0 / x;
    let (mut last, mut value, mut k) = (order_0, order_1, 0.0);
    for _ in 1..n {
        if !value.is_finite() {
            break;
        }
        k += 1.0;
        (last, value) = (value, Exact::fma(k * step, value, -last));
    }
    value
}

/// Miller's algorithm: the recurrence from an order that is so high that its starting values do not
/// matter, made to size by `J0 + 2 J2 + 2 J4 + .. = 1`. For x from 1 to n.
#[inline(always)]
fn downwards(x: f32, n: u32) -> f32 {
    let top = (n + Exact::sqrt(30.0 * n as f32) as u32 + 2) & !1;
    let step = 2.0 / x;
    let (mut last, mut value, mut wanted, mut sum) = (0.0, 1e-30, 0.0, 0.0);
    let mut k = top;
    while k > 0 {
        // value is of order k, last of k + 1; k is even.
        sum += value;
        wanted = if k == n { value } else { wanted };
        let odd = Exact::fma(k as f32 * step, value, -last);
        wanted = if k - 1 == n { odd } else { wanted };
        let even = Exact::fma((k - 1) as f32 * step, odd, -value);
        (last, value) = (odd, even);
        k -= 2;
        // Two steps multiply by less than 2^42, for n up to 2^20.
        if value.abs() > 1e20 {
            (last, value) = (last * 1e-20, value * 1e-20);
            (wanted, sum) = (wanted * 1e-20, sum * 1e-20);
        }
    }
    wanted / Exact::fma(2.0, sum, value)
}

/// The power series for x below 1 and n from 2 on.
#[inline(always)]
fn series(x: f32, n: u32) -> f32 {
    let half = 0.5 * x;
    let mut factor = half;
    let mut k = 2;
    while k <= n && factor != 0.0 {
        factor *= half / k as f32;
        k += 1;
    }
    let square = -half * half;
    let n = n as f32;
    let term = square / (2.0 * (n + 2.0));
    let sum = Exact::fma(term, Exact::fma(square, 1.0 / (3.0 * (n + 3.0)), 1.0), 1.0);
    factor * Exact::fma(square / (n + 1.0), sum, 1.0)
}

/// `x^(-1/2) A(1/x²) cos(x - pi/4 + B(1/x²) / x + quarters pi/2)` for x above 8; 0 at infinity.
#[inline(always)]
fn wave(x: f32, quarters: u32, amplitude: [f32; 4], phase: [f32; 4]) -> f32 {
    let root = reciprocal_root(x);
    let reciprocal = root * root;
    let square = reciprocal * reciprocal;
    let (r, n) = if x < 1_048_576.0 {
        reduced(x)
    } else {
        reduced_far(x)
    };
    let angle = Exact::fma(reciprocal, polynomial(phase, square), r);
    let value = root * polynomial(amplitude, square) * cosine(angle, n.wrapping_add(quarters));
    if x == f32::INFINITY { 0.0 } else { value }
}

/// `x - pi/4 - n pi/2`, within pi/4 of 0, and n; for x up to 2^20.
#[inline(always)]
fn reduced(x: f32) -> (f32, u32) {
    let shifted = Exact::fma(x, core::f32::consts::FRAC_2_PI, -0.5) + SHIFT;
    let quarters = (shifted - SHIFT) + 0.5;
    let r = Exact::fma(-quarters, core::f32::consts::FRAC_PI_2, x);
    (Exact::fma(quarters, 4.371139e-8, r), shifted.to_bits())
}

/// The same for larger numbers. The product of x and 2 / pi without multiples of 4 is a fraction of 2^62.
#[inline(always)]
fn reduced_far(x: f32) -> (f32, u32) {
    let bits = x.to_bits();
    // x is an integer of 24 bits times 2^(e - 23).
    let e = (bits >> 23) & 0xff;
    let digits = (bits & 0x007f_ffff) | 0x0080_0000;
    // The first digit of 2 / pi that matters is worth 2 after the multiplication: number e - 151.
    let first = e - (127 + 23 + 2 - 32);
    let index = (first >> 5) as usize;
    let word = |i: usize| {
        // SAFETY: e is 254 at most, thus first 134 and the index of the word 6.
        u64::from(unsafe { *TWO_OVER_PI.get_unchecked(index + i) })
    };
    let shift = first & 31;
    let window = (word(0) << 32 | word(1)) << shift | (word(2) << shift) >> 32;
    let turns = window.wrapping_mul(u64::from(digits));
    let fraction = (turns & ((1 << 62) - 1)) as i64 - (1 << 61);
    // The upper half of the fraction in units of 2^-30.
    let r = (fraction >> 32) as i32 as f32 * (core::f32::consts::FRAC_PI_2 / 1_073_741_824.0);
    (r, (turns >> 62) as u32)
}

/// `cos(x + n pi/2)` for |x| up to 0.81.
#[inline(always)]
fn cosine(x: f32, n: u32) -> f32 {
    let square = x * x;
    let odd = n & 1 == 1;
    let coefficients = if odd { SINE } else { COSINE };
    let sum = polynomial(coefficients, square);
    let first = if odd { x } else { 1.0 };
    let value = Exact::fma(first * square, sum, first);
    // cos, -sin, -cos, sin.
    f32::from_bits(value.to_bits() ^ (n.wrapping_add(1) & 2) << 30)
}

/// `1 / sqrt(x)` for x from 8 on, within 1 unit, by Newton's method.
#[inline(always)]
fn reciprocal_root(x: f32) -> f32 {
    let half = 0.5 * x;
    let y = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
    let y = y * Exact::fma(-half * y, y, 1.5);
    let y = y * Exact::fma(-half * y, y, 1.5);
    Exact::fma(y, Exact::fma(-half * y, y, 0.5), y)
}

#[inline]
pub(crate) fn cyl_bessel_i0(x: f32) -> f32 {
    let x = x.abs();
    if x <= 9.0 {
        let square = x * x;
        Exact::fma(square, polynomial(I0_SMALL, square), 1.0)
    } else {
        modified(x, I0_LARGE)
    }
}

#[inline]
pub(crate) fn cyl_bessel_i1(x: f32) -> f32 {
    let y = x.abs();
    if y <= 9.0 {
        x * polynomial(I1_SMALL, x * x)
    } else {
        modified(y, I1_LARGE).copysign(x)
    }
}

/// The polynomial of 1 / x times `C exp(x) / sqrt(x)`, for x above 9 or NaN.
#[inline(always)]
fn modified(x: f32, coefficients: [f32; 5]) -> f32 {
    // It is infinite long before.
    let x = if x > 100.0 { 100.0 } else { x };
    let root = reciprocal_root(x);
    let (value, exponent) = exp_scaled(x, 0.0);
    let value = value * (root * polynomial(coefficients, root * root));
    // exp(x) overflows before the function does.
    value * f32::from_bits(((exponent + 127 - 16) as u32) << 23) * 65_536.0
}

/// 1.5 * 2^23: added to a number up to 2^22 it leaves the nearest integer in the last bits.
const SHIFT: f32 = 12_582_912.0;

/// 2 / pi in 32 bits each, after 32 zeros.
static TWO_OVER_PI: [u32; 7] = [
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
];

/// `J0(x)` over its three zeros up to 9, over x - 4.
const J0: [f32; 13] = [
    -8.985213e-14,
    9.473453e-13,
    2.66279e-11,
    -2.1364513e-10,
    -4.6245052e-09,
    2.888059e-08,
    5.5069785e-07,
    -2.5394797e-06,
    -4.2778618e-05,
    0.00012922368,
    0.001897065,
    -0.0028000502,
    -0.035194863,
];

/// `(J0(x) - 1) / x²` over x², for x below 1.
const J0_SMALL: [f32; 4] = [6.6363427e-06, -0.0004339281, 0.015624979, -0.25];

/// `J1(x)` over 0 and its two zeros up to 8, over x - 4.
const J1: [f32; 13] = [
    1.02468754e-13,
    1.0845324e-12,
    -2.5161083e-11,
    -2.4378133e-10,
    4.201602e-09,
    3.2875533e-08,
    -4.9972346e-07,
    -2.8830543e-06,
    3.900355e-05,
    0.00014619382,
    -0.0017405102,
    -0.003152394,
    0.032533325,
];

/// `2/pi J0(x)` over x², for x up to 0.6.
const Y0_LOGARITHM: [f32; 4] = [-0.00026842437, 0.009943449, -0.15915434, 0.63661975];

/// `Y0(x) - 2/pi ln(x) J0(x)` over x², for x up to 0.6.
const Y0_SMALL: [f32; 4] = [0.0005307262, -0.01607178, 0.1776058, -0.07380429];

/// `Y0` from 0.6 to 1.95 over the distance d from its first zero, as a polynomial of d.
const Y0_1: [f32; 13] = [
    0.007848464,
    -0.04544505,
    0.11672904,
    -0.18126598,
    0.20420189,
    -0.20021008,
    0.19768287,
    -0.20444205,
    0.21889003,
    -0.22613281,
    0.22055362,
    -0.4920788,
    0.8794208,
];

/// `Y0` from 1.95 to 5.5, likewise with its second zero.
const Y0_2: [f32; 12] = [
    -1.20597035e-08,
    2.6321352e-08,
    3.287817e-08,
    -3.2228323e-07,
    -5.038222e-06,
    5.0990442e-05,
    0.00019544663,
    -0.002183608,
    -0.006852659,
    0.058523875,
    0.050855923,
    -0.40254268,
];

/// `Y0` from 5.5 to 8, likewise with its third zero.
const Y0_3: [f32; 9] = [
    6.2363273e-07,
    2.6809169e-06,
    -4.604289e-05,
    -0.00014062562,
    0.002176033,
    0.003318367,
    -0.048024077,
    -0.02117524,
    0.3000976,
];

/// `2/pi J1(x) / x` over x², for x up to 1.2.
const Y1_LOGARITHM: [f32; 5] = [
    3.4360858e-07,
    -3.427571e-05,
    0.0016575841,
    -0.039788622,
    0.31830987,
];

/// `(Y1(x) - 2/pi (ln(x) J1(x) - 1 / x)) / x` over x², for x up to 1.2.
const Y1_SMALL: [f32; 5] = [
    -9.928689e-07,
    7.170852e-05,
    -0.0029554022,
    0.054348733,
    -0.1960571,
];

/// `Y1` from 1.2 to 3.8 over the distance d from its first zero, as a polynomial of d.
const Y1_1: [f32; 14] = [
    -2.342124e-06,
    1.4871277e-05,
    -3.730338e-05,
    5.3919615e-05,
    -8.787867e-05,
    0.00022120021,
    -0.00052070053,
    0.0010779543,
    -0.0025925187,
    0.0074191573,
    -0.0047980743,
    -0.03285702,
    -0.11851454,
    0.5207864,
];

/// `Y1` from 3.8 to 7, likewise with its second zero.
const Y1_2: [f32; 10] = [
    2.0957295e-08,
    -5.158936e-07,
    -2.848678e-06,
    4.641016e-05,
    0.00014660167,
    -0.0021659893,
    -0.0041601076,
    0.050947964,
    0.031338677,
    -0.34031805,
];

/// `Y1` from 7 to 8, likewise with its third zero.
const Y1_3: [f32; 7] = [
    -3.934301e-05,
    -6.7319226e-05,
    0.002096619,
    0.0025190646,
    -0.043339387,
    -0.015766311,
    0.2714633,
];

/// `sqrt(x (J0² + Y0²))` over 1/x².
const AMPLITUDE_0: [f32; 4] = [-0.38612217, 0.08326983, -0.049877457, 0.7978846];

/// x times what the phase of order 0 is beyond x - pi/4, over 1/x².
const PHASE_0: [f32; 4] = [1.0960706, -0.20415951, 0.06508292, -0.12499998];

/// `sqrt(x (J1² + Y1²))` over 1/x².
const AMPLITUDE_1: [f32; 4] = [0.44857708, -0.15163337, 0.14958887, 0.7978846];

/// x times what the phase of order 1 is beyond x - 3 pi/4, over 1/x².
const PHASE_1: [f32; 4] = [-1.647767, 0.36364537, -0.164034, 0.37499997];

/// `(sin(x) / x - 1) / x²` over x².
const SINE: [f32; 4] = [2.7894898e-06, -0.00019848975, 0.00833337, -0.16666667];

/// `(cos(x) - 1) / x²` over x².
const COSINE: [f32; 4] = [2.4412371e-05, -0.0013887133, 0.04166664, -0.5];

/// `(I0(x) - 1) / x²` over x², for x up to 9.
const I0_SMALL: [f32; 10] = [
    1.5810193e-19,
    1.33811965e-17,
    1.0860353e-14,
    2.3205535e-12,
    4.737655e-10,
    6.7757945e-08,
    6.7824085e-06,
    0.00043402295,
    0.015625015,
    0.24999999,
];

/// `I0(x) sqrt(x) / (C exp(x))` over 1/x; C as in [`exp_scaled`].
const I0_LARGE: [f32; 5] = [
    0.061364803,
    0.015435484,
    0.018614747,
    0.032797948,
    0.26240215,
];

/// `I1(x) / x` over x², for x up to 9.
const I1_SMALL: [f32; 10] = [
    3.1879487e-18,
    2.3557199e-16,
    1.7404868e-13,
    3.2498115e-11,
    5.6835106e-09,
    6.7764864e-07,
    5.4257973e-05,
    0.0026041488,
    0.06250002,
    0.5,
];

/// `I1(x) sqrt(x) / (C exp(x))` over 1/x.
const I1_LARGE: [f32; 5] = [
    -0.074753374,
    -0.022717996,
    -0.03091939,
    -0.09839889,
    0.26240215,
];
