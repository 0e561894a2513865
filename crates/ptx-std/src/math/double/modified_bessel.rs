//! Modified Bessel functions of the first kind.
//!
//! Polynomials of x² up to 10.25, the first coefficients of which are those of the power series, and
//! beyond polynomials of 1/x times `exp(x) / sqrt(x)`. All are minimax, fitted for this file in mpmath by
//! the algorithm of Remez. What is lost of x² in rounding is up to 5 units of the result, and the border
//! is where it is.

use super::bessel::reciprocal_root;
use super::exp;
use super::gamma::polynomial;
use crate::arch::float::Exact;

#[inline]
pub(crate) fn cyl_bessel_i0(x: f64) -> f64 {
    let x = x.abs();
    if x <= BORDER {
        let square = x * x;
        let p = Exact::fma(square, polynomial(I0_SMALL, square), 0.25);
        Exact::fma(square, p, 1.0)
    } else {
        large(x, I0_LARGE)
    }
}

#[inline]
pub(crate) fn cyl_bessel_i1(x: f64) -> f64 {
    let y = x.abs();
    if y <= BORDER {
        let square = y * y;
        x * Exact::fma(square, polynomial(I1_SMALL, square), 0.5)
    } else {
        large(y, I1_LARGE).copysign(x)
    }
}

/// The polynomial of 1 / x times `exp(x) / sqrt(x)`, for x above the border or NaN.
#[inline(always)]
fn large<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    // It is infinite long before.
    let x = if x > 800.0 { 800.0 } else { x };
    let root = reciprocal_root(x);
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

/// `((I0(x) - 1) / x² - 1/4) / x²` over x².
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

/// `I0(x) sqrt(x) / exp(x)` over 1/x.
const I0_LARGE: [f64; 17] = [
    4472442412.792395,
    -2533163349.549978,
    566227867.1621397,
    -56183747.16793966,
    121190.80411422813,
    640643.4248616078,
    -84411.47949751318,
    6081.616018117095,
    -281.6186348462589,
    9.74701057217795,
    0.030371530313958502,
    0.09351587868642972,
    0.04471459131872076,
    0.029219561775235405,
    0.028050628628951503,
    0.04986778505071539,
    0.3989422804014326,
];

/// `(I1(x) / x - 1/2) / x²` over x².
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

/// `I1(x) sqrt(x) / exp(x)` over 1/x.
const I1_LARGE: [f64; 17] = [
    -4983874755.1411295,
    2891241878.234775,
    -676888964.9113493,
    76203938.7776491,
    -2490996.8990560523,
    -446939.43898110057,
    73176.65025963409,
    -5617.3370567946295,
    267.6066851526508,
    -9.574521790291938,
    -0.075607182400564,
    -0.11362151717022578,
    -0.057498151532157545,
    -0.040907324447372995,
    -0.0467510480186545,
    -0.14960335515108103,
    0.39894228040143276,
];
