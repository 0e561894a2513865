//! Modified Bessel functions of the first kind.
//!
//! Polynomials of x² up to 10.25, the first coefficients of which are those of the power series, and
//! beyond polynomials of 1/x times `exp(x) / sqrt(x)`. All are minimax, fitted for this file in mpmath by
//! the algorithm of Remez. What is lost of x² in rounding is up to 5 units of the result, and the border
//! is where it is.

use super::exp;
use super::root::rsqrt;
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;

#[inline]
pub(crate) fn cyl_bessel_i0(x: f64) -> f64 {
    let x = x.abs();
    if x <= BORDER {
        let square = x * x;
        let p = Exact::fma(square, polynomial(&I0_SMALL, square), 0.25);
        Exact::fma(square, p, 1.0)
    } else {
        large(x, &I0_LARGE)
    }
}

#[inline]
pub(crate) fn cyl_bessel_i1(x: f64) -> f64 {
    let y = x.abs();
    if y <= BORDER {
        let square = y * y;
        x * Exact::fma(square, polynomial(&I1_SMALL, square), 0.5)
    } else {
        large(y, &I1_LARGE).copysign(x)
    }
}

/// The polynomial of 1 / x times `exp(x) / sqrt(x)`, for x above the border or NaN.
#[inline(always)]
fn large(x: f64, coefficients: &[f64]) -> f64 {
    // It is infinite long before.
    let x = if x > 800.0 { 800.0 } else { x };
    let root = rsqrt(x);
    // exp(x) overflows before the function does; x - 32 is exact.
    let (power, rest) = if x >= 64.0 {
        (x - 32.0, EXP_32)
    } else {
        (x, 1.0)
    };
    exp(power) * (root * polynomial(coefficients, root * root)) * rest
}

const BORDER: f64 = 10.25;

const EXP_32: f64 = 78962960182680.69;

/// `((I0(x) - 1) / x² - 1/4) / x²` as a polynomial in x².
const I0_SMALL: [f64; 15] = [
    1.044687358682943e-36,
    3.430395641134462e-34,
    5.350000506973531e-31,
    3.7779985868937973e-28,
    2.604319068237633e-25,
    1.4958661289633988e-22,
    7.242502741937738e-20,
    2.8968941253192445e-17,
    9.385969526123727e-15,
    2.4028075004035463e-12,
    4.709502803594559e-10,
    6.781684027211813e-08,
    6.781684027807342e-06,
    0.0004340277777776971,
    0.015625000000000083,
];

/// `I0(x) sqrt(x) / exp(x)` as a polynomial in 1/x.
const I0_LARGE: [f64; 18] = [
    -113008568706.44577,
    99402546899.58911,
    -38923965699.84943,
    8995262987.056532,
    -1372687062.660892,
    146640115.03309357,
    -11330994.867884645,
    644646.8756305188,
    -27170.670368174076,
    850.111874756875,
    -18.65370182296796,
    0.5447280984717506,
    0.08701672659939018,
    0.044768979231590976,
    0.029219284155680474,
    0.028050629379900303,
    0.04986778504990347,
    0.3989422804014327,
];

/// `(I1(x) / x - 1/2) / x²` as a polynomial in x².
const I1_SMALL: [f64; 16] = [
    3.0186653674133865e-38,
    1.1122905232082466e-35,
    1.7698340485064674e-32,
    1.3519645902024468e-29,
    1.001310700541781e-26,
    6.233093557641674e-24,
    3.29202618123966e-21,
    1.4484480120784748e-18,
    5.214427200884001e-16,
    1.5017546950238928e-13,
    3.363930572851279e-11,
    5.651403356125214e-09,
    6.781684027800718e-07,
    5.425347222221369e-05,
    0.002604166666666682,
    0.06249999999999999,
];

/// `I1(x) sqrt(x) / exp(x)` as a polynomial in 1/x.
const I1_LARGE: [f64; 18] = [
    114192482169.55748,
    -100946173898.55493,
    39693294626.563934,
    -9205077225.355564,
    1408853676.2638412,
    -150886849.74479458,
    11685190.335862298,
    -666131.8688499478,
    28126.39980340126,
    -881.7525321535398,
    19.29380281166256,
    -0.5989446033620551,
    -0.10700157851022528,
    -0.0575536199615772,
    -0.040907040902315686,
    -0.04675104878692657,
    -0.1496033551502487,
    0.39894228040143265,
];
