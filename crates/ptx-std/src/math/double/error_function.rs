//! The error function, its relatives and the normal distribution.
//!
//! The complementary functions are `exp(-a * a)` times a polynomial in `(a - k) / (a + k)` over
//! `a + k` (Schonfelder, Mathematics of Computation 32, 1978, pages 1232-1240). These coefficients
//! were computed for this file with the exchange algorithm of Remez at 220 bits, and rounded one
//! after the other, each time with the others fitted again.
//!
//! Giles (Approximating the erfinv function, GPU Computing Gems, 2011) has `erf_inv(x) / x` as a
//! polynomial in the logarithm of `1 - x * x`, so that nearly all warps have one path. Here it is in
//! the eighth root, which is half as many instructions: interpolated at Chebyshev's points in mpmath.
//! The rest, near the ends, is the tail of Wichura's algorithm AS 241 (Applied Statistics 37, 1988,
//! pages 477-484).

use core::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E, SQRT_2};
use core::hint::cold_path;

use super::bits::{ROUNDER, first_bits, high};
use super::ln;
use crate::arch::float::Exact;
use crate::math::polynomial::{horner, polynomial};

pub(crate) fn erf(x: f64) -> f64 {
    let a = x.abs();
    let small = Exact::fma(a, polynomial(&ERF_SMALL, x * x), a);
    let beyond = at_most(a, ERF_IS_1) - ERF_BORDER;
    let slope = polynomial(&ERF_LARGE, beyond);
    let shifted = Exact::fma(beyond, slope, ROUNDER);
    let fraction = Exact::fma(beyond, slope, ROUNDER - shifted);
    let large = 1.0 - times_exp2(ERFC_OF_BORDER, shifted, fraction);
    // A comparison of integers, since the units for f64 are the ones that are busy.
    let value = if high(a) >= high(ERF_BORDER) {
        large
    } else {
        small
    };
    value.copysign(x)
}

pub(crate) fn erfc(x: f64) -> f64 {
    let a = at_most(x.abs(), 27.3);
    let scaled = over_sum(a, ERFC_K, &ERFC);
    let rate = [-LOG2_E, -LOG2_E_REST];
    let tail = times_exp2_of_square::<512>(scaled, a, rate) * POW2_M512;
    if x < 0.0 { 2.0 - tail } else { tail }
}

/// The standard normal distribution's cumulative distribution function.
pub(crate) fn norm_cdf(x: f64) -> f64 {
    let a = at_most(x.abs(), 38.7);
    let scaled = over_sum(a, NORM_CDF_K, &NORM_CDF);
    let rate = [-0.5 * LOG2_E, -0.5 * LOG2_E_REST];
    let tail = times_exp2_of_square::<512>(scaled, a, rate) * POW2_M512;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// `exp(x * x) * erfc(x)`.
pub(crate) fn erfcx(x: f64) -> f64 {
    // In units of 2^512 the reciprocal of any a + k is a normal number.
    let a = at_most(x.abs() * POW2_M512, 1e180);
    let value = over_sum(a, ERFCX_K * POW2_M512, &ERFCX) * POW2_M512;
    if x >= 0.0 {
        return value;
    }
    // Twice the exponential overflows at -26.63; NaN comes here too.
    let a = at_most(-x, 27.0);
    let power = times_exp2_of_square::<-512>(1.0, a, [LOG2_E, LOG2_E_REST]);
    Exact::fma(power, 2.0 / POW2_M512, -value)
}

/// The inverse of [`norm_cdf`].
pub(crate) fn norm_cdf_inv(p: f64) -> f64 {
    let fourfold = 4.0 * p;
    let product = Exact::fma(-fourfold, p, fourfold);
    if is_central(product) {
        return 2.0 * SQRT_2 * (p - 0.5) * central_inverse(product);
    }
    cold_path();
    tail_quantile(p - 0.5, ln(p.min(1.0 - p)))
}

/// The inverse of the error function.
pub(crate) fn erf_inv(x: f64) -> f64 {
    let product = Exact::fma(-x, x, 1.0);
    if is_central(product) {
        return x * central_inverse(product);
    }
    cold_path();
    tail_quantile(x, ln(1.0 - x.abs()) - LN_2) * FRAC_1_SQRT_2
}

/// The inverse of the complementary error function.
pub(crate) fn erfc_inv(x: f64) -> f64 {
    let product = Exact::fma(-x, x, 2.0 * x);
    if is_central(product) {
        return (1.0 - x) * central_inverse(product);
    }
    cold_path();
    tail_quantile(1.0 - x, ln(x.min(2.0 - x)) - LN_2) * FRAC_1_SQRT_2
}

/// Whether [`central_inverse`] takes this `1 - x * x`. Of NaN the answer does not matter.
#[inline(always)]
fn is_central(product: f64) -> bool {
    high(product) as i32 >= high(CENTRAL_LEAST) as i32
}

/// `erf_inv(x) / x` for `1 - x * x` of at least [`CENTRAL_LEAST`].
#[inline(always)]
fn central_inverse(product: f64) -> f64 {
    let single = first_bits(product);
    // The difference of the bits is roughly that of an eighth of the logarithm.
    let y = f32::from_bits(0x7f6a_0800_u32.wrapping_sub(high(product)));
    let square = y * y;
    let fourth = square * square;
    let e = Exact::fma(-single * fourth, fourth, 1.0);
    let p = Exact::fma(0.025_873_83, e, 0.039_957_63);
    let p = Exact::fma(p, e, 0.050_075_717);
    let p = Exact::fma(p, e, 0.070_303_89);
    let p = Exact::fma(p, e, 0.124_998_67);
    let y = f64::from(Exact::fma(y * e, p, y));
    // The eighth root, from the first terms of the binomial series; y^2 is exact.
    let square = y * y;
    let root = product * y * square * (square * square);
    let e = Exact::fma(-root, y, 1.0);
    let p = Exact::fma(0.8203125, e, 0.875);
    polynomial(&CENTRE, Exact::fma(root * e, p, root - 0.734375))
}

/// The normal distribution's quantile with this logarithm of the probability beyond it, in a tail.
#[inline(always)]
fn tail_quantile(sign: f64, log_tail: f64) -> f64 {
    // Outside of [0, 1] this is the root of the logarithm of a negative number: NaN.
    let r = Exact::sqrt(-log_tail);
    let magnitude = if r <= 5.0 {
        polynomial(&TAIL_NUMERATOR, r - 1.6) / polynomial(&TAIL_DENOMINATOR, r - 1.6)
    } else if r.is_infinite() {
        r
    } else {
        polynomial(&FAR_TAIL_NUMERATOR, r - 5.0) / polynomial(&FAR_TAIL_DENOMINATOR, r - 5.0)
    };
    magnitude.copysign(sign)
}

/// `factor * 2^(n + fraction)` for a fraction from -0.5 to 0.5. The lowest bits of `shifted` are n.
#[inline]
fn times_exp2(factor: f64, shifted: f64, fraction: f64) -> f64 {
    let least = f64::from(exp2_m1_least(fraction as f32));
    // Without a rounding of the power by itself.
    let growth = fraction * horner(least, &EXP2_M1, fraction);
    let scaled = f64::from_bits(factor.to_bits().wrapping_add(shifted.to_bits() << 52));
    Exact::fma(scaled, growth, scaled)
}

/// `factor * 2^SCALE * exp2(a * a * rate)`, whose rate is a sum.
#[inline]
fn times_exp2_of_square<const SCALE: i32>(factor: f64, a: f64, rate: [f64; 2]) -> f64 {
    let square = a * a;
    let square_error = Exact::fma(a, a, -square);
    let rounder = ROUNDER + SCALE as f64;
    let shifted = Exact::fma(square, rate[0], rounder);
    let fraction = Exact::fma(square, rate[0], rounder - shifted);
    let fraction = Exact::fma(square, rate[1], fraction);
    let fraction = Exact::fma(square_error, rate[0], fraction);
    times_exp2(factor, shifted, fraction)
}

/// The polynomial at `(a - k) / (a + k)`, over `a + k`, which is from `2^-1000` to `2^1000`.
#[inline]
fn over_sum(a: f64, k: f64, coefficients: &[f64]) -> f64 {
    // The reciprocal: the exponent is negated, and with it the mantissa comes within 6 %. What is
    // left is cubed twice, then squared, which is fewer instructions than a division.
    let sum = a + k;
    let guess = f64::from_bits(0x7fde_6238_0000_0000_u64.wrapping_sub(sum.to_bits()));
    let error = Exact::fma(-sum, guess, 1.0);
    let guess = Exact::fma(guess, Exact::fma(error, error, error), guess);
    let error = Exact::fma(-sum, guess, 1.0);
    let guess = Exact::fma(guess, Exact::fma(error, error, error), guess);
    // Near 0 the result follows a + k more than twice over, so here neither the rounding of the
    // sum comes in, nor that of the reciprocal in the polynomial's argument.
    let error = Exact::fma(-guess, a, Exact::fma(-guess, k, 1.0));
    let correction = guess * error;
    let t = Exact::fma(correction, -2.0 * k, Exact::fma(guess, -2.0 * k, 1.0));
    polynomial(coefficients, t) * (guess + correction)
}

/// The lesser of the two, and NaN if x is, unlike [`f64::min`].
#[inline]
fn at_most(x: f64, limit: f64) -> f64 {
    if x > limit { limit } else { x }
}

/// The highest powers of [`EXP2_M1`], which are below 2^-31 with what they are multiplied by: enough in
/// `f32`, whose constants need no registers.
#[inline(always)]
fn exp2_m1_least(x: f32) -> f32 {
    let p = Exact::fma(4.457_315_5e-10, x, 7.073_773_4e-9);
    Exact::fma(p, x, 1.017_804_7e-7)
}

const POW2_M512: f64 = 7.458340731200207e-155;

/// The rest of log2(e) beyond [`LOG2_E`].
const LOG2_E_REST: f64 = 2.0355273740931033e-17;

/// From here on erf rounds to 1.
const ERF_IS_1: f64 = 5.93;

/// Between the two forms of erf.
const ERF_BORDER: f64 = 0.84375;
const ERFC_OF_BORDER: f64 = 0.23277433876765838;

/// `erf(x) / x - 1` in `x * x`, up to the border.
const ERF_SMALL: [f64; 11] = [
    1.0713692441570394e-8,
    -1.5709856392825213e-7,
    1.6400929766426552e-6,
    -1.4922062636344213e-5,
    0.00012055196940190448,
    -0.000854832369651377,
    0.005223977574559105,
    -0.02686617064057896,
    0.11283791670934183,
    -0.37612638903183376,
    0.12837916709551256,
];

/// `log2(erfc(x) / erfc(border)) / beyond` in `beyond = x - border` to 5.93, where little of it is
/// left to be seen.
const ERF_LARGE: [f64; 17] = [
    -1.188218273773245e-11,
    3.055902197957039e-10,
    -3.5815852729362935e-9,
    2.510130831926294e-8,
    -1.1380162211488749e-7,
    3.138230053220691e-7,
    -1.9681227840162854e-7,
    -3.016851954563851e-6,
    1.8601157497143914e-5,
    -6.196374284111753e-5,
    0.00010040614864259041,
    0.0002693480990903882,
    -0.0031455910565092514,
    0.016823575688098228,
    -0.06972910128728735,
    -1.1860081184097502,
    -3.4317381894090695,
];

/// `(exp2(x) - 1) / x` from -0.5 to 0.5, but for the highest powers.
const EXP2_M1: [f64; 8] = [
    1.3215435379071859e-6,
    1.5252733866056019e-5,
    0.0001540353045680365,
    0.0013333558146380855,
    0.009618129107594506,
    0.055504108664821736,
    0.2402265069591013,
    0.6931471805599453,
];

const ERFC_K: f64 = 2.984375;
/// `(a + k) * exp(a * a) * erfc(a)` in `(a - k) / (a + k)`, for a to 27.3.
const ERFC: [f64; 23] = [
    -1.5898902070956966e-9,
    -6.020698603162314e-9,
    4.154699440611668e-9,
    4.925631743899165e-8,
    2.7900757899671093e-8,
    -2.490464674790984e-7,
    -3.4783876019159094e-7,
    1.1144609702460707e-6,
    2.528781602019553e-6,
    -5.4049373416198125e-6,
    -1.6246467851527495e-5,
    3.3809404517443916e-5,
    9.895520380806322e-5,
    -0.00029078133234670375,
    -0.0004771531200277487,
    0.003010483606069201,
    -0.0016713504170520147,
    -0.02519713347637315,
    0.116338750295348,
    -0.30628514184258876,
    0.5864999039684188,
    -0.8813594483038381,
    1.0735072208971674,
];

const NORM_CDF_K: f64 = 5.0;
/// `(a + k) * exp(a * a / 2) * norm_cdf(-a)` in `(a - k) / (a + k)`, for a to 38.7.
const NORM_CDF: [f64; 22] = [
    2.022627927305311e-9,
    7.202276093583024e-9,
    -1.022320558272975e-8,
    -6.537710170080117e-8,
    4.360722515741192e-8,
    4.3275522439292297e-7,
    -3.377216014864471e-7,
    -2.7691011913861865e-6,
    3.981472379217076e-6,
    1.668116358969597e-5,
    -4.976300187788827e-5,
    -5.937571609035006e-5,
    0.0005448991037634299,
    -0.000797869400712027,
    -0.0029933767753949738,
    0.02079506680016978,
    -0.06911863870597472,
    0.16502036617036514,
    -0.313533156671315,
    0.49530561596997696,
    -0.6653825028900566,
    0.769193049750063,
];

const ERFCX_K: f64 = 3.828125;
/// `(a + k) * exp(a * a) * erfc(a)` in `(a - k) / (a + k)`.
const ERFCX: [f64; 24] = [
    3.7043196512146754e-10,
    4.669018634829203e-10,
    -4.86923504726066e-9,
    -5.278254965340206e-9,
    3.924982409945402e-8,
    3.178600977730249e-8,
    -2.8354571722511123e-7,
    -7.86874183832369e-8,
    2.0613323668625865e-6,
    -1.3507363203280314e-6,
    -1.4101876562445909e-5,
    3.2047381333967685e-5,
    5.926296365386731e-5,
    -0.00042248345402831237,
    0.0006141437144370699,
    0.002258252863356325,
    -0.016385111277202335,
    0.05718627376136915,
    -0.1449042151916805,
    0.2954516086737822,
    -0.5067260507959809,
    0.7483804543519524,
    -0.9646134483004573,
    1.0932725406451944,
];

/// `1 - x * x` where |x| is 0.99902.
const CENTRAL_LEAST: f64 = 0.001953125;

/// `erf_inv(x) / x` in the eighth root of `1 - x * x`, less 0.734375.
const CENTRE: [f64; 23] = [
    159.48184780976842,
    -183.30183989674558,
    -88.31842615345393,
    125.49158941586239,
    67.39961662026452,
    -92.10225994342629,
    -20.82099069843049,
    42.044575655018946,
    15.914141175923143,
    -28.906818789616697,
    -2.6505671994416016,
    12.226782635560825,
    3.697966206531226,
    -9.27782837433628,
    0.4488311215660006,
    3.413250236815195,
    1.048597043288554,
    -3.1967621974622706,
    0.5843346930210981,
    0.6477142916822616,
    1.3490008394318445,
    -2.6895082621738244,
    1.4939777419727174,
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
