//! Functions that `libm` lacks, in `f64`.
//!
//! The Chebyshev coefficients were computed for this file with mpmath at 60 digits and more, as
//! cosine transforms of the function that each table names. The quantile of the normal
//! distribution is Wichura's algorithm AS 241 (Applied Statistics 37, 1988, pages 477-484).

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, PI};

use libm::{cbrt, cos, erfc, exp, ilogb, log, scalbn, sin};

use crate::arch::float::Exact;

/// Sine and cosine of `pi * x`.
pub(crate) fn sin_cos_pi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Both differences are exact: nothing is lost however large x is.
    let turn = x - 2.0 * Exact::round_ties_even(0.5 * x);
    let quarters = Exact::round_ties_even(2.0 * turn);
    let angle = PI * (turn - 0.5 * quarters);
    let (s, c) = (sin(angle), cos(angle));
    let (sine, cosine) = match quarters as i32 & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    };
    // IEEE 754: a zero of the sine has the sign of x, one of the cosine is positive.
    let sine = if sine == 0.0 { sine.copysign(x) } else { sine };
    (sine, cosine + 0.0)
}

/// The remainder of `x / y` with the sign of `x`, exactly. (`libm`'s has branches to panics.)
pub(crate) fn rem(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    let (mut rest, divisor) = (x.abs(), y.abs());
    while rest >= divisor {
        // The quotient fits a float's 53 bits.
        let excess = ilogb(rest) - ilogb(divisor) - 51;
        let step = scalbn(divisor, excess.max(0));
        // Division may round up to an integer, never below one: the quotient is right or one too
        // great, and what is left, less than a step, has no more digits than the step has.
        rest = Exact::fma(-Exact::trunc(rest / step), step, rest);
        if rest < 0.0 {
            rest += step;
        }
    }
    rest.copysign(x)
}

/// `1 / cbrt(x)`.
pub(crate) fn rcbrt(x: f64) -> f64 {
    1.0 / cbrt(x)
}

/// The exponent of two, with fixed answers where there is none.
pub(crate) fn unbiased_exponent(x: f64) -> i32 {
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.is_infinite() {
        i32::MAX
    } else {
        ilogb(x)
    }
}

/// `exp(x * x) * erfc(x)`.
pub(crate) fn erfcx(x: f64) -> f64 {
    // It overflows at -26.63, and what follows is not a number where the square does.
    if x < -26.64 {
        return f64::INFINITY;
    }
    if x < 1.0 {
        // The error of the square, times the exponential, would be many units of the result.
        let square = x * x;
        let square_error = Exact::fma(x, x, -square);
        let exponential = exp(square);
        return (exponential + exponential * square_error) * erfc(x);
    }
    let t = 1.0 - 2.0 * SCALED_ERFC_MIDDLE / (x + SCALED_ERFC_MIDDLE);
    chebyshev(&SCALED_ERFC, t) / (1.0 + 2.0 * x)
}

/// The standard normal distribution's cumulative distribution function.
pub(crate) fn norm_cdf(x: f64) -> f64 {
    let t = -x * FRAC_1_SQRT_2;
    let half = 0.5 * erfc(t);
    if !(1.0 < t && t < 28.0) {
        return half;
    }
    // In the tail the rounding error of t shows: the derivative of ln(erfc) is
    // -2 / (sqrt(pi) * erfcx).
    let t_error = Exact::fma(-x, FRAC_1_SQRT_2, -t) - x * FRAC_1_SQRT_2_REST;
    half - half * (t_error * FRAC_2_SQRT_PI / erfcx(t))
}

/// The inverse of [`norm_cdf`].
pub(crate) fn inv_norm_cdf(p: f64) -> f64 {
    quantile(p - 0.5, || log(p.min(1.0 - p)))
}

/// The inverse of the error function.
pub(crate) fn inv_erf(x: f64) -> f64 {
    quantile(0.5 * x, || log(1.0 - x.abs()) - LN_2) * FRAC_1_SQRT_2
}

/// The inverse of the complementary error function.
pub(crate) fn inv_erfc(x: f64) -> f64 {
    quantile(0.5 * (1.0 - x), || log(x.min(2.0 - x)) - LN_2) * FRAC_1_SQRT_2
}

/// The normal distribution's quantile of the probability `0.5 + centred`. `log_tail` gives the
/// logarithm of the probability beyond it, which `centred` is too coarse for in the tails.
fn quantile(centred: f64, log_tail: impl FnOnce() -> f64) -> f64 {
    if centred.abs() <= 0.425 {
        let r = 0.180625 - centred * centred;
        return centred * polynomial(&CENTRE_NUMERATOR, r) / polynomial(&CENTRE_DENOMINATOR, r);
    }
    // Outside of [0, 1] this is the root of the logarithm of a negative number: NaN.
    let r = Exact::sqrt(-log_tail());
    let magnitude = if r <= 5.0 {
        polynomial(&TAIL_NUMERATOR, r - 1.6) / polynomial(&TAIL_DENOMINATOR, r - 1.6)
    } else if r.is_infinite() {
        r
    } else {
        polynomial(&FAR_TAIL_NUMERATOR, r - 5.0) / polynomial(&FAR_TAIL_DENOMINATOR, r - 5.0)
    };
    magnitude.copysign(centred)
}

/// The modified Bessel function of the first kind of order 0.
pub(crate) fn bessel_i0(x: f64) -> f64 {
    let half = 0.5 * x.abs();
    if half <= 3.0 {
        polynomial(&I0_SMALL, half * half)
    } else {
        bessel_i_large(x.abs(), &I0_LARGE)
    }
}

/// The modified Bessel function of the first kind of order 1.
pub(crate) fn bessel_i1(x: f64) -> f64 {
    let half = 0.5 * x.abs();
    if half <= 3.0 {
        0.5 * x * polynomial(&I1_SMALL, half * half)
    } else {
        bessel_i_large(x.abs(), &I1_LARGE).copysign(x)
    }
}

/// For x from 6 on.
fn bessel_i_large(x: f64, coefficients: &[f64]) -> f64 {
    // Otherwise infinity divided by infinity.
    if x.is_infinite() {
        return x;
    }
    // exp(x) overflows before the function does; its root does not.
    let root = exp(0.5 * x);
    root * (root * (chebyshev(coefficients, 12.0 / x - 1.0) / Exact::sqrt(x)))
}

/// The polynomial with these coefficients, the highest power's first.
#[inline]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The sum of Chebyshev polynomials with these coefficients, the highest degree's first, for t in
/// [-1, 1], by Clenshaw's recurrence.
#[inline]
fn chebyshev(coefficients: &[f64], t: f64) -> f64 {
    let (sum, next) = coefficients
        .iter()
        .fold((0.0, 0.0), |(sum, next), c| (c + 2.0 * t * sum - next, sum));
    // Degree 0 has t once where the recurrence has it twice.
    sum - t * next
}

/// What the `f64` next to the square root of 0.5 leaves.
const FRAC_1_SQRT_2_REST: f64 = -4.833646656726457e-17;

/// Where the argument of [`SCALED_ERFC`] is 0.
const SCALED_ERFC_MIDDLE: f64 = 3.75;

/// `(1 + 2x) * erfcx(x)` over `t = (x - 3.75) / (x + 3.75)`.
const SCALED_ERFC: [f64; 25] = [
    5.068148904796111e-17,
    7.418235256624044e-17,
    -1.2507950530688648e-15,
    -1.864562880419313e-15,
    3.3478119482868056e-14,
    3.25254814814874e-14,
    -9.65469674843344e-13,
    1.9455868545777347e-13,
    2.86879501093067e-11,
    -6.318088340886684e-11,
    -7.754400208831351e-10,
    4.521959811218287e-09,
    1.076499946567091e-08,
    -2.1886401049234397e-07,
    7.74038306619849e-07,
    4.13902798607301e-06,
    -6.916973302501207e-05,
    0.0004907758365258086,
    -0.002413163540417608,
    0.009074997670705265,
    -0.026658668435305753,
    0.05920993999819189,
    -0.08424913336651792,
    -0.004590054580646478,
    1.1775789345674017,
];

/// One over `(k!)²`, for k down to 0.
const I0_SMALL: [f64; 19] = [
    2.4395962632753253e-32,
    7.904291893012054e-30,
    2.2843403570804838e-27,
    5.8479113141260385e-25,
    1.3157800456783586e-22,
    2.5789288895295828e-20,
    4.358389823304995e-18,
    6.276081345559193e-16,
    7.594058428126623e-14,
    7.594058428126624e-12,
    6.151187326782565e-10,
    3.936759889140842e-08,
    1.9290123456790124e-06,
    6.944444444444444e-05,
    0.001736111111111111,
    0.027777777777777776,
    0.25,
    1.0,
    1.0,
];

/// `sqrt(x) * exp(-x) * I0(x)` over `t = 12 / x - 1`.
const I0_LARGE: [f64; 31] = [
    4.90700860899428e-18,
    -2.1623133664154044e-18,
    -2.025799273068102e-17,
    3.2350544234065055e-17,
    6.418155658412475e-17,
    -2.211289582668625e-16,
    -1.246003514392757e-16,
    1.2392804092835035e-15,
    -2.5127422627483686e-16,
    -6.54263854149791e-15,
    4.9065778303218866e-15,
    3.5390485056639414e-14,
    -3.9440093829469826e-14,
    -2.102743189557381e-13,
    2.4835306549294827e-13,
    1.433708285979293e-12,
    -1.1369521684549784e-12,
    -1.1071539467665867e-11,
    -1.586537205602996e-12,
    8.709536616768745e-11,
    1.5820431644228437e-10,
    -4.634016091623222e-10,
    -2.869883546921831e-09,
    -5.091942749215154e-09,
    1.2106709234628352e-08,
    1.463458728877647e-07,
    1.0056616887658951e-06,
    8.806600788332188e-06,
    0.00013584531414120412,
    0.00463274823559421,
    0.40344711573727093,
];

/// One over `k! (k + 1)!`, for k down to 0.
const I1_SMALL: [f64; 18] = [
    4.391273273895586e-31,
    1.3437296218120491e-28,
    3.654944571328774e-26,
    8.771866971189057e-24,
    1.842092063949702e-21,
    3.352607556388458e-19,
    5.230067787965994e-17,
    6.903689480115112e-15,
    7.594058428126623e-13,
    6.834652585313961e-11,
    4.920949861426052e-09,
    2.755731922398589e-07,
    1.1574074074074073e-05,
    0.00034722222222222224,
    0.006944444444444444,
    0.08333333333333333,
    0.5,
    1.0,
];

/// `sqrt(x) * exp(-x) * I1(x)` over `t = 12 / x - 1`.
const I1_LARGE: [f64; 31] = [
    -5.049810448837838e-18,
    2.563182773104464e-18,
    2.0485993889478778e-17,
    -3.4580980837479477e-17,
    -6.302445877064096e-17,
    2.315227306257877e-16,
    1.0921440241884257e-16,
    -1.283143743048933e-15,
    3.6854599274208975e-16,
    6.720821447337417e-15,
    -5.6901752071100504e-15,
    -3.6169953218918343e-14,
    4.458467714664401e-14,
    2.1485973918352874e-13,
    -2.8311901635972394e-13,
    -1.4758956674402961e-12,
    1.375808825275706e-12,
    1.1589232729690695e-11,
    1.5402752739447084e-13,
    -9.38358930625145e-11,
    -1.5752988391429342e-10,
    5.356985955224047e-10,
    3.099171622566994e-09,
    5.133959758339682e-09,
    -1.5291032789587892e-08,
    -1.7157721967574232e-07,
    -1.2115312340642534e-06,
    -1.155641124662166e-05,
    -0.00021412156530710997,
    -0.013235172822670692,
    0.385910730621062,
];

const CENTRE_NUMERATOR: [f64; 8] = [
    2509.0809287301227,
    33430.57558358813,
    67265.7709270087,
    45921.95393154987,
    13731.69376550946,
    1971.5909503065513,
    133.14166789178438,
    3.3871328727963665,
];
const CENTRE_DENOMINATOR: [f64; 8] = [
    5226.495278852854,
    28729.085735721943,
    39307.89580009271,
    21213.794301586597,
    5394.196021424751,
    687.1870074920579,
    42.31333070160091,
    1.0,
];
const TAIL_NUMERATOR: [f64; 8] = [
    0.0007745450142783414,
    0.022723844989269184,
    0.2417807251774506,
    1.2704582524523684,
    3.6478483247632045,
    5.769497221460691,
    4.630337846156546,
    1.4234371107496835,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    1.0507500716444169e-09,
    0.0005475938084995345,
    0.015198666563616457,
    0.14810397642748008,
    0.6897673349851,
    1.6763848301838038,
    2.053191626637759,
    1.0,
];
const FAR_TAIL_NUMERATOR: [f64; 8] = [
    2.0103343992922881e-07,
    2.7115555687434876e-05,
    0.0012426609473880784,
    0.026532189526576124,
    0.29656057182850487,
    1.7848265399172913,
    5.463784911164114,
    6.657904643501103,
];
const FAR_TAIL_DENOMINATOR: [f64; 8] = [
    2.0442631033899397e-15,
    1.421511758316446e-07,
    1.8463183175100548e-05,
    0.0007868691311456133,
    0.014875361290850615,
    0.1369298809227358,
    0.599832206555888,
    1.0,
];
