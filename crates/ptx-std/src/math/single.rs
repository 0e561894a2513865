//! The functions of `f32`, one file per family.

mod arithmetic;
mod bessel;
mod bessel_coefficients;
mod bessel_orders;
mod bits;
mod error_function;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod modified_bessel;
mod payne_hanek;
mod power;
mod root;
mod trigonometric;

pub(crate) use arithmetic::{frexp, ldexp, rem, unbiased_exponent};
pub(crate) use bessel::{j0, j1, y0, y1};
pub(crate) use bessel_orders::{jn, yn};
pub(crate) use error_function::{erf, erf_inv, erfc, erfc_inv, erfcx, norm_cdf, norm_cdf_inv};
pub(crate) use exponential::{exp, exp_m1, exp2, exp10};
pub(crate) use gamma::{gamma, log_gamma};
pub(crate) use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub(crate) use inverse_trigonometric::{acos, asin, atan, atan2};
pub(crate) use logarithm::{ln, ln_1p, log2, log10};
pub(crate) use modified_bessel::{cyl_bessel_i0, cyl_bessel_i1};
pub(crate) use power::powf;
pub(crate) use root::{cbrt, hypot, norm3d, rcbrt, rhypot, rsqrt};
pub(crate) use trigonometric::{cos, cospi, sin, sin_cos, sincospi, sinpi, tan};
