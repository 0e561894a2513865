//! The error function's relatives and the normal distribution.
//!
//! The scaled complementary error function is a Chebyshev series, whose coefficients were computed
//! for this file with mpmath at 300 digits, as the cosine transform of the function that the table
//! names. The quantile of the normal distribution is Wichura's algorithm AS 241 (Applied
//! Statistics 37, 1988, pages 477-484).

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2};

use libm::{exp, log};

use crate::arch::float::Exact;
use crate::math::{chebyshev, polynomial};

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
pub(crate) fn norm_cdf_inv(p: f64) -> f64 {
    quantile(p - 0.5, || log(p.min(1.0 - p)))
}

/// The inverse of the error function.
pub(crate) fn erf_inv(x: f64) -> f64 {
    quantile(0.5 * x, || log(1.0 - x.abs()) - LN_2) * FRAC_1_SQRT_2
}

/// The inverse of the complementary error function.
pub(crate) fn erfc_inv(x: f64) -> f64 {
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
#[inline]
pub(crate) fn erf(x: f64) -> f64 {
    libm::erf(x)
}

#[inline]
pub(crate) fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}
