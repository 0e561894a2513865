//! Approximations, whose bits PTX leaves open: `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`, `div.approx`, `div.full`.
//!
//! Functions that a GPU's special function units interpolate have the bits of an H200 (the crate `sfu`), and `ex2` of
//! halves those of an H100, which gives the upper digits of the `f32` result and does not round. The other results are
//! the same on every host: `libm`'s in `f64`, rounded. Modifiers compose here, too: `ex2.approx.ftz.f32` is
//! `flush(ex2(flush(a)))`.
//!
//! | instruction | error that the PTX ISA states | here |
//! |---|---|---|
//! | `rcp.approx.f32`, `sqrt`, `rsqrt`, `lg2`, `ex2`, `div.approx`, `div.full` | 1 to 2 ulp | an H200's bits |
//! | `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64` | that of the upper 32 bits; no bound stated | an H200's bits |
//! | `sin.approx.f32`, `cos.approx.f32` | absolute 2^-20.5 in ±2π, 2^-14.7 in ±100π, none beyond | 0.5 ulp everywhere |
//! | `ex2.approx.f16`, `.bf16` | relative 2^-9.9, 2^-7 | an H100's bits |
//! | `tanh.approx.f32` | relative 2^-11 | 0.5 ulp |
//! | `tanh.approx.f16`, `.bf16` | absolute 2^-10.987, 2^-8 | 0.5 ulp |
//! | `rsqrt.approx.f64` | no bound stated | 1 ulp |
//!
//! 0.5 ulp stands for a correct rounding of a result that has `f64`'s error.

pub use sfu::{div, div_full, ex2, lg2, rcp, rcp_f64, rsqrt, rsqrt_f64 as rsqrt_ftz_f64, sqrt};

use super::float::{self, Rounding, canonical};
use super::half::{self, Half};

/// Of an instruction whose result is that of `f64`, rounded.
macro_rules! through_f64 {
    ($($name:ident($x:ident) = $value:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), ".approx.f32`.")]
        #[inline]
        pub fn $name(x: f32) -> f32 {
            let $x = f64::from(x);
            canonical($value as f32)
        }
    )*};
}

through_f64! {
    sin(x) = libm::sin(x);
    cos(x) = libm::cos(x);
    tanh(x) = libm::tanh(x);
}

/// `div.approx.ftz.f32`: the product with the reciprocal.
#[inline(always)]
pub fn div_ftz(a: f32, b: f32) -> f32 {
    let reciprocal = float::flush(rcp(float::flush(b)));
    float::mul_ftz(reciprocal, a, Rounding::Nearest)
}

/// `div.full.ftz.f32`: the same of quarters, if the reciprocal would be below the normal numbers.
#[inline(always)]
pub fn div_full_ftz(a: f32, b: f32) -> f32 {
    const GREATEST: f32 = f32::from_bits((126 + 127) << 23);
    if b.abs() > GREATEST {
        div_ftz(float::mul_ftz(a, 0.25, Rounding::Nearest), b * 0.25)
    } else {
        div_ftz(a, b)
    }
}

/// `ex2.approx.f16`, `ex2.approx.ftz.bf16`: the digits of [`ex2`] that the format has, or infinity.
#[inline]
pub fn ex2_half<H: Half>(x: u16) -> u16 {
    let power = ex2(H::to_f32(x));
    match power > H::to_f32(H::INFINITY - 1) {
        true => H::INFINITY,
        false => half::from_f32::<H>(power, Rounding::Zero),
    }
}

/// `tanh.approx.f16`, `tanh.approx.bf16`.
#[inline]
pub fn tanh_half<H: Half>(x: u16) -> u16 {
    half::nearest::<H>(libm::tanh(H::to_f32(x).into()))
}

/// `rsqrt.approx.f64`.
#[inline]
pub fn rsqrt_f64(x: f64) -> f64 {
    canonical(1.0 / x.sqrt())
}
