//! Approximations, whose bits PTX leaves open: `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`, `div.approx`, `div.full`.
//!
//! The results are the same on every host: from one operation of IEEE 754, or from `libm` in `f64`. Modifiers
//! compose here, too: `ex2.approx.ftz.f32` is `flush(ex2(flush(a)))`.
//!
//! | instruction | error that the PTX ISA states | here |
//! |---|---|---|
//! | `rcp.approx.f32` | 1 ulp | rounded correctly |
//! | `sqrt.approx.f32` | relative 2^-23 | rounded correctly |
//! | `rsqrt.approx.f32` | relative 2^-22.9 | rounded correctly but for ties, 0.5 ulp |
//! | `div.approx.f32` | 2 ulp for a divisor from 2^-126 to 2^126 | rounded correctly there |
//! | `div.full.f32` | 2 ulp | rounded correctly |
//! | `sin.approx.f32`, `cos.approx.f32` | absolute 2^-20.5 in ±2π, 2^-14.7 in ±100π, none beyond | 0.5 ulp everywhere |
//! | `lg2.approx.f32` | absolute 2^-22 from 0.5 to 2, relative 2^-22 elsewhere | 0.5 ulp |
//! | `ex2.approx.f32` | 2 ulp | 0.5 ulp |
//! | `ex2.approx.f16`, `.bf16` | relative 2^-9.9, 2^-7 | 0.5 ulp |
//! | `tanh.approx.f32` | relative 2^-11 | 0.5 ulp |
//! | `tanh.approx.f16`, `.bf16` | absolute 2^-10.987, 2^-8 | 0.5 ulp |
//! | `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64` | that of the upper 32 bits; no bound stated | cut off after the 20th bit |
//! | `rsqrt.approx.f64` | no bound stated | 1 ulp |
//!
//! 0.5 ulp stands for a correct rounding of a result that has `f64`'s error. `normal_reciprocal` of `ptx_std` makes one Newton step
//! from `rcp.approx`, which keeps a start that is rounded correctly.

use super::float::{self, Float, Rounding, canonical};
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
    rsqrt(x) = 1.0 / x.sqrt();
    sin(x) = libm::sin(x);
    cos(x) = libm::cos(x);
    lg2(x) = libm::log2(x);
    ex2(x) = libm::exp2(x);
    tanh(x) = libm::tanh(x);
}

/// `rcp.approx.f32`.
#[inline(always)]
pub fn rcp(x: f32) -> f32 {
    float::rcp(x, Rounding::Nearest)
}

/// `sqrt.approx.f32`.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    float::sqrt(x, Rounding::Nearest)
}

/// `div.approx.f32`. By a finite divisor above 2^126 it is 0, of the quotient's sign, or NaN if the dividend is infinite.
#[inline(always)]
pub fn div(a: f32, b: f32) -> f32 {
    const GREATEST: f32 = f32::from_bits((126 + 127) << 23);
    let is_beyond = (b.abs() > GREATEST) & (b.abs() < f32::INFINITY);
    canonical(if is_beyond {
        a * 0f32.copysign(b)
    } else {
        a / b
    })
}

/// `div.approx.ftz.f32`, as [`float::div_ftz`].
#[inline(always)]
pub fn div_ftz(a: f32, b: f32) -> f32 {
    let [a, b] = [a, b].map(float::flush);
    let quotient = div(a, b);
    if quotient == 0.0 {
        quotient
    } else {
        float::div_ftz(a, b, Rounding::Nearest)
    }
}

/// `div.full.f32`; with `.ftz` it is [`float::div_ftz`].
#[inline(always)]
pub fn div_full(a: f32, b: f32) -> f32 {
    float::div(a, b, Rounding::Nearest)
}

/// `ex2.approx.f16`, `ex2.approx.ftz.bf16`.
#[inline]
pub fn ex2_half<H: Half>(x: u16) -> u16 {
    half::nearest::<H>(libm::exp2(H::to_f32(x).into()))
}

/// `tanh.approx.f16`, `tanh.approx.bf16`.
#[inline]
pub fn tanh_half<H: Half>(x: u16) -> u16 {
    half::nearest::<H>(libm::tanh(H::to_f32(x).into()))
}

/// `rcp.approx.ftz.f64`: from the upper 32 bits alone, and with 0 for the lower ones.
#[inline]
pub fn rcp_f64(x: f64) -> f64 {
    upper(1.0 / flush_f64(truncate(x)))
}

/// `rsqrt.approx.ftz.f64`: from the upper 32 bits alone, and with 0 for the lower ones.
#[inline]
pub fn rsqrt_ftz_f64(x: f64) -> f64 {
    upper(1.0 / flush_f64(truncate(x)).sqrt())
}

/// `rsqrt.approx.f64`.
#[inline]
pub fn rsqrt_f64(x: f64) -> f64 {
    canonical(1.0 / x.sqrt())
}

/// Without the lower 32 bits.
fn truncate(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & u64::MAX << 32)
}

/// Without the lower 32 bits; NaN is the hardware's.
fn upper(x: f64) -> f64 {
    const NAN: f64 = f64::from_bits(0x7fff_ffff << 32);
    if x.is_nan() {
        NAN
    } else {
        truncate(flush_f64(x))
    }
}

fn flush_f64(x: f64) -> f64 {
    if x.abs() < f64::MIN_POSITIVE {
        f64::ZERO.copysign(x)
    } else {
        x
    }
}
