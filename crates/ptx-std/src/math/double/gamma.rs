//! The gamma function and its logarithm.
//!
//! From 2.5 on the gamma function is Stirling's formula with base and exponent in one power,
//! `(x / e)^(x - 1/2)`, whose logarithm is carried in two floats; what the formula lacks is a
//! polynomial in `ln(x)`. Below, `1 / gamma(1 + f)` is a polynomial for f in [-1/2, 1/2], and the
//! recurrence gives the rest. Negative arguments are reflected. The logarithm has polynomials about
//! its zeros 1 and 2 and Stirling's series from 8 on. The polynomials are minimax, fitted for this file
//! in mpmath by Lawson's algorithm, with coefficients rounded one after the other.

use super::bits::{ROUNDER, power_of_two};
use super::ln;
use crate::arch::float::Exact;
use crate::math::gamma::gamma_parts;
use crate::math::polynomial::polynomial;

gamma_parts!(f64, ln);

/// The gamma function. At ±0 infinity with the sign of the zero; NaN at the negative integers.
#[inline]
pub(crate) fn gamma(x: f64) -> f64 {
    if x >= 2.5 {
        let (power, rest) = stirling(x.min(173.0));
        let (value, exponent) = exp_scaled(power, rest);
        let value = f64::from_bits(value.to_bits().wrapping_add(exponent << 52));
        if x > LARGEST { f64::INFINITY } else { value }
    } else if x > -2.5 {
        near_zero(x)
    } else {
        reflected(x)
    }
}

/// The gamma function for x up to -2.5, or NaN.
#[inline(always)]
fn reflected(x: f64) -> f64 {
    let y = -x;
    // Even integers from here on.
    let whole = y.min(9_007_199_254_740_992.0);
    let n = Exact::round_ties_even(whole);
    let f = whole - n;
    let (power, rest) = stirling(y.min(185.0));
    let (value, exponent) = exp_scaled(-power, -rest);
    // -pi / (y sin(pi y) gamma(y)); both signs of an odd n cancel.
    let value = value * (REFLECTION / (y.min(185.0) * sine_pi_over_pi(f)));
    // SAFETY: n is an integer up to 2^53.
    let odd = unsafe { n.to_int_unchecked::<i64>() } & 1;
    let value = if odd == 0 { -value } else { value };
    // Exact but for the last product, which rounds below the normal numbers.
    let exponent = exponent as i32;
    let half = exponent >> 1;
    let value = value * power_of_two(half) * power_of_two(exponent - half);
    if f == 0.0 { f64::NAN } else { value }
}

/// The natural logarithm of the gamma function's absolute value: infinity at 0 and at the negative
/// integers.
#[inline]
pub(crate) fn log_gamma(x: f64) -> f64 {
    let y = x.abs();
    // As 1 / gamma(x) is x times the polynomial, on both sides of 0.
    if y < 0.65 {
        return -ln(y * polynomial(&RECIPROCAL, x));
    }
    let value = if y >= 8.0 {
        let w = 1.0 / y;
        Exact::fma(
            y - 0.5,
            ln(y) - 1.0,
            Exact::fma(w, polynomial(&STIRLING, w * w), 0.4189385332046727),
        )
    } else {
        log_below_8(y)
    };
    if x < 0.0 {
        log_reflected(y, value)
    } else {
        value
    }
}

/// The natural logarithm of `gamma(x) / C` in two parts, for x from 2.5 to 185; C is the constant
/// coefficient of [`EXP`].
#[inline(always)]
fn stirling(x: f64) -> (f64, f64) {
    // x = 2^k (1 + r) with 1 + r from sqrt(1/2) to sqrt(2).
    let exponent = (x.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd) >> 52) as i32;
    let r = f64::from_bits(x.to_bits().wrapping_sub((exponent as u64) << 52)) - 1.0;
    let k = f64::from(exponent);
    let (power, rest, ln) = stirling_power(x, k, r);
    (power, rest + polynomial(&CORRECTION, ln - 2.0))
}

/// `C exp(x + rest)` as a number near 1 and the exponent of a power of two, for |x| up to 1000.
#[inline(always)]
fn exp_scaled(x: f64, rest: f64) -> (f64, u64) {
    let shifted = Exact::fma(x + rest, core::f64::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let f = Exact::fma(n, -LN_2_HI, x);
    let f = Exact::fma(n, -LN_2_LO, f);
    let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits());
    (polynomial(&EXP, f + rest), exponent)
}

/// `ln(2)`: 32 bits and the rest.
const LN_2_HI: f64 = 0.6931471806019545;
const LN_2_LO: f64 = -4.2009150726810846e-11;

/// `1 / C²`, with C as in [`stirling`].
const REFLECTION: f64 = 0.4326279897161325;

/// The last number whose gamma function does not round to infinity.
const LARGEST: f64 = 171.6243769563027;

/// `1 / gamma(1 + f)` for |f| up to 0.65.
const RECIPROCAL: [f64; 17] = [
    5.355599368399489e-09,
    3.998430373437241e-09,
    -2.0605728634924787e-07,
    1.1345998729380378e-06,
    -1.2502430102953666e-06,
    -2.0135476153408107e-05,
    0.00012805020049901588,
    -0.00021524153395601246,
    -0.0011651675767080888,
    0.007218943228680502,
    -0.009621971529401217,
    -0.042197734554316885,
    0.16653861138236523,
    -0.042002635034132964,
    -0.6558780715202551,
    0.5772156649015332,
    1.0,
];

/// `(ln(1 + r) - r + r²/2) / r³` for 1 + r from `sqrt(1/2)` to `sqrt(2)`.
const LN: [f64; 21] = [
    0.022662472698080628,
    -0.054733970825800206,
    0.061079315658533855,
    -0.05186089908098913,
    0.05005756832127526,
    -0.05474187045742394,
    0.059058928775516335,
    -0.06261709105034825,
    0.06665650249599729,
    -0.07141936534635816,
    0.0769231258205075,
    -0.08333377214296636,
    0.09090910572431611,
    -0.09999998709658911,
    0.11111111045154479,
    -0.1250000002259272,
    0.1428571428694371,
    -0.16666666666454874,
    0.19999999999989967,
    -0.25000000000000794,
    0.3333333333333336,
];

/// The logarithm of `gamma(x) / (C (x / e)^(x - 1/2))` as a polynomial in `ln(x) - 3`.
const CORRECTION: [f64; 30] = [
    1.1393621582093507e-20,
    -6.254443938814759e-20,
    -2.4092601035951243e-19,
    2.1914585165167437e-18,
    -1.656099035723611e-18,
    -2.0224634317318743e-17,
    6.269151183701385e-17,
    -9.429216254693153e-17,
    2.392179186417848e-16,
    -9.103632752512824e-17,
    -5.883924989758095e-15,
    4.0159425170009135e-14,
    -1.653994773473548e-13,
    4.7012872882312e-13,
    -4.897193519271796e-13,
    -4.893284865251864e-12,
    4.5930142308717286e-11,
    -2.60096625000797e-10,
    1.1415952148088294e-09,
    -3.81522047947934e-09,
    5.90263929308651e-09,
    4.9406716477673056e-08,
    -6.781370348083751e-07,
    5.4204981493977895e-06,
    -3.388643282375955e-05,
    0.00017172107591285595,
    -0.0006899494704109135,
    0.002072921583194129,
    -0.004147895159707446,
    0.004148579801307099,
];

/// `C exp(f)` for |f| up to 0.35, where C is `sqrt(2 pi / e)` rounded.
const EXP: [f64; 13] = [
    3.1721073891659566e-09,
    3.818011296935241e-08,
    4.189686844602309e-07,
    4.189655377638935e-06,
    3.7707016135649034e-05,
    0.00030165613202593893,
    0.0021115929181611225,
    0.012669557508860178,
    0.06334778754442814,
    0.25339115017771374,
    0.7601734505331404,
    1.520346901066281,
    1.520346901066281,
];

/// `(sin(pi f) / (pi f) - 1) / f²` as a polynomial in f², for |f| up to 1/2.
const SINE_PI: [f64; 8] = [
    2.4527152422122647e-07,
    -6.972351547438473e-06,
    0.00014842794868941107,
    -0.0023460809194829485,
    0.026147847808569737,
    -0.1907518241217062,
    0.8117424252833467,
    -1.6449340668482264,
];

/// `ln(gamma(1 + f)) / f` for f in [-0.35, 0.5].
const ABOUT_1: [f64; 24] = [
    0.019250912238269104,
    -0.055324281546023014,
    0.06772147747574123,
    -0.05294623684570941,
    0.044304379773462806,
    -0.04972041543933306,
    0.05614390908249437,
    -0.05940828520384743,
    0.06249746091375503,
    -0.06660351780870996,
    0.07142769852121461,
    -0.07693698324157806,
    0.08335440395685534,
    -0.09095382386947233,
    0.10009942883438672,
    -0.11133427111329347,
    0.1255096703166861,
    -0.1440498966827026,
    0.16955717698600875,
    -0.20738555102947093,
    0.27058080842785687,
    -0.4006856343865279,
    0.8224670334241131,
    -0.5772156649015329,
];

/// `ln(gamma(2 + f)) / f` for f in [-0.5, 1].
const ABOUT_2: [f64; 22] = [
    1.8783268785208433e-09,
    -1.3746946846511602e-08,
    4.7337959348371264e-08,
    -1.0996730195344579e-07,
    2.2012924240395542e-07,
    -4.4788722330073053e-07,
    9.50222134269984e-07,
    -2.0379423066599424e-06,
    4.376178786594616e-06,
    -9.440149395217583e-06,
    2.050703802625346e-05,
    -4.492609113646197e-05,
    9.945752240547308e-05,
    -0.00022315477625944028,
    0.0005096695249378633,
    -0.0011927539104465079,
    0.002890510330695939,
    -0.0073855510287226265,
    0.020580808427786177,
    -0.06735230105319721,
    0.3224670334241132,
    0.42278433509846713,
];

/// `ln(gamma(5.5 + f))` for f in [-2.5, 2.5].
const ABOUT_5_5: [f64; 25] = [
    3.930372805771063e-19,
    -1.434962574314709e-18,
    -6.558048370766631e-18,
    6.671597334449915e-18,
    2.067591715779548e-16,
    -6.868416428207899e-16,
    1.684987344364916e-15,
    -1.486359367302722e-14,
    1.0203145691069299e-13,
    -5.772140522904965e-13,
    3.405291087181855e-12,
    -2.0727091254583662e-11,
    1.2691075071639684e-10,
    -7.858937718234776e-10,
    4.946437019080404e-09,
    -3.1761690376668435e-08,
    2.0921360044591937e-07,
    -1.4252016064020866e-06,
    1.0165250952778364e-05,
    -7.745505034068561e-05,
    0.000653774694855811,
    -0.006601491253550294,
    0.09967119349480931,
    1.611093148581751,
    3.9578139676187165,
];

/// `x ln(gamma(x) / (C (x / e)^(x - 1/2)))` as a polynomial in `1 / x²`, for x from 8 on.
const STIRLING: [f64; 6] = [
    -0.001634095105659932,
    0.0008364873796937824,
    -0.0005951901384467662,
    0.0007936505796337979,
    -0.002777777777367545,
    0.0833333333333331,
];
