//! Modified Bessel functions of the first kind: their power series up to 6, beyond it a Chebyshev
//! series of the function without its exponential growth. Its coefficients were computed for this
//! file with mpmath at 60 digits, as cosine transforms of the function that each table names.

use libm::exp;

use crate::arch::float::Exact;
use crate::math::{chebyshev, polynomial};

/// The modified Bessel function of the first kind of order 0.
pub(crate) fn cyl_bessel_i0(x: f64) -> f64 {
    let half = 0.5 * x.abs();
    if half <= 3.0 {
        polynomial(&I0_SMALL, half * half)
    } else {
        large(x.abs(), &I0_LARGE)
    }
}

/// The modified Bessel function of the first kind of order 1.
pub(crate) fn cyl_bessel_i1(x: f64) -> f64 {
    let half = 0.5 * x.abs();
    if half <= 3.0 {
        0.5 * x * polynomial(&I1_SMALL, half * half)
    } else {
        large(x.abs(), &I1_LARGE).copysign(x)
    }
}

/// For x from 6 on.
fn large(x: f64, coefficients: &[f64]) -> f64 {
    // Otherwise infinity divided by infinity.
    if x.is_infinite() {
        return x;
    }
    // exp(x) overflows before the function does; its root does not.
    let root = exp(0.5 * x);
    root * (root * (chebyshev(coefficients, 12.0 / x - 1.0) / Exact::sqrt(x)))
}

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
#[inline]
pub(crate) fn j0(x: f64) -> f64 {
    libm::j0(x)
}

#[inline]
pub(crate) fn j1(x: f64) -> f64 {
    libm::j1(x)
}

#[inline]
pub(crate) fn jn(x: f64, order: i32) -> f64 {
    libm::jn(order, x)
}

#[inline]
pub(crate) fn y0(x: f64) -> f64 {
    libm::y0(x)
}

#[inline]
pub(crate) fn y1(x: f64) -> f64 {
    libm::y1(x)
}

#[inline]
pub(crate) fn yn(x: f64, order: i32) -> f64 {
    libm::yn(order, x)
}
