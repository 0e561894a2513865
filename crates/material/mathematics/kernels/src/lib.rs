//! Each function of `GpuFloat` and `FloatExt` in a loop, for its speed: the loops of
//! `benches/peers/mathematics.cu`.

#![no_std]

use core::ops::Add;

use cuda_std::prelude::*;
use cuda_std::{ApproxFloat, FloatExt};

/// `f32` and `f64`. In code that is generic over it the host's own methods do not come in.
pub trait Float: GpuFloat + FloatExt + Add<Output = Self> + Default + Sync + 'static {
    /// The nearest number.
    fn from_i32(n: i32) -> Self;
    /// The integer part, as [`FloatExt::jn`] and [`FloatExt::ldexp`] take it.
    fn to_i32(self) -> i32;
}

macro_rules! float {
    ($($float:ident)*) => {$(
        impl Float for $float {
            #[inline(always)]
            fn from_i32(n: i32) -> Self {
                n as Self
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                self as i32
            }
        }
    )*};
}

float!(f32 f64);

/// For each function a module with its value and its kernels, and [`FUNCTIONS`], the table of all.
macro_rules! functions {
    (|$x:ident, $y:ident, $z:ident| $($name:ident($f32:ident, $f64:ident) = $value:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($value), "`")]
            pub mod $name {
                use super::*;

                /// The function's value; of a pair, the sum.
                #[inline(always)]
                #[allow(unused_variables, reason = "most functions have one argument")]
                pub fn value<T: Float>($x: T, $y: T, $z: T) -> T {
                    $value
                }

                /// The sum of the values at four times `rounds` places, from the thread's `x` in steps of
                /// `step`.
                #[kernel(instances($f32<f32>, $f64<f64>), allow(local_memory))]
                pub fn speed<T: Float>(x: &[T], y: &[T], z: T, step: T, rounds: u32, mut out: Output<T>) {
                    sum(x, y, z, step, rounds, &mut out, value);
                }
            }
        )*

        /// Every function.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            single: $name::value::<f32>,
            double: $name::value::<f64>,
        }),*];
    };
}

/// A kernel for each approximation that has a slower form, for its speed beside CUDA's full function.
macro_rules! approximations {
    (|$x:ident, $y:ident| $($kernel:ident = $value:expr;)*) => {$(
        #[doc = concat!("`", stringify!($value), "`")]
        #[kernel]
        pub fn $kernel(x: &[f32], y: &[f32], z: f32, step: f32, rounds: u32, mut out: Output<f32>) {
            #[allow(unused_variables, reason = "most functions have one argument")]
            let value = |$x: f32, $y: f32, _: f32| $value;
            sum(x, y, z, step, rounds, &mut out, value);
        }
    )*};
}

/// The sum of the values at four times `rounds` places, from the thread's `x` in steps of `step`.
#[inline(always)]
fn sum<T: Float>(
    x: &[T],
    y: &[T],
    z: T,
    step: T,
    rounds: u32,
    out: &mut Output<T>,
    value: impl Fn(T, T, T) -> T,
) {
    if let Some((i, out)) = out.own_element()
        && let (Some(&first), Some(&y)) = (x.get(i), y.get(i))
    {
        let (mut x, mut sum) = (first, T::default());
        for _ in 0..rounds {
            sum = sum + value(x, y, z);
            x = x + step;
            sum = sum + value(x, y, z);
            x = x + step;
            sum = sum + value(x, y, z);
            x = x + step;
            sum = sum + value(x, y, z);
            x = x + step;
        }
        *out = sum;
    }
}

/// A function in both types.
pub struct Function {
    /// Its name, which its kernels' begin with.
    pub name: &'static str,
    /// For `f32`.
    pub single: fn(f32, f32, f32) -> f32,
    /// For `f64`.
    pub double: fn(f64, f64, f64) -> f64,
}

functions! { |x, y, z|
    round(round_f32, round_f64) = x.round();
    sqrt(sqrt_f32, sqrt_f64) = x.sqrt();
    rem_euclid(rem_euclid_f32, rem_euclid_f64) = x.rem_euclid(y);
    div_euclid(div_euclid_f32, div_euclid_f64) = x.div_euclid(y);
    powi(powi_f32, powi_f64) = x.powi(z.to_i32());
    powf(powf_f32, powf_f64) = x.powf(y);
    exp(exp_f32, exp_f64) = x.exp();
    exp2(exp2_f32, exp2_f64) = x.exp2();
    exp10(exp10_f32, exp10_f64) = x.exp10();
    exp_m1(exp_m1_f32, exp_m1_f64) = x.exp_m1();
    ln(ln_f32, ln_f64) = x.ln();
    log(log_f32, log_f64) = x.log(y);
    log2(log2_f32, log2_f64) = x.log2();
    log10(log10_f32, log10_f64) = x.log10();
    ln_1p(ln_1p_f32, ln_1p_f64) = x.ln_1p();
    cbrt(cbrt_f32, cbrt_f64) = x.cbrt();
    rcbrt(rcbrt_f32, rcbrt_f64) = x.rcbrt();
    rsqrt(rsqrt_f32, rsqrt_f64) = x.rsqrt();
    hypot(hypot_f32, hypot_f64) = x.hypot(y);
    rhypot(rhypot_f32, rhypot_f64) = x.rhypot(y);
    norm3d(norm3d_f32, norm3d_f64) = x.norm3d(y, z);
    sin(sin_f32, sin_f64) = x.sin();
    cos(cos_f32, cos_f64) = x.cos();
    tan(tan_f32, tan_f64) = x.tan();
    sin_cos(sin_cos_f32, sin_cos_f64) = { let (s, c) = x.sin_cos(); s + c };
    sinpi(sinpi_f32, sinpi_f64) = x.sinpi();
    cospi(cospi_f32, cospi_f64) = x.cospi();
    sincospi(sincospi_f32, sincospi_f64) = { let (s, c) = x.sincospi(); s + c };
    asin(asin_f32, asin_f64) = x.asin();
    acos(acos_f32, acos_f64) = x.acos();
    atan(atan_f32, atan_f64) = x.atan();
    atan2(atan2_f32, atan2_f64) = x.atan2(y);
    sinh(sinh_f32, sinh_f64) = x.sinh();
    cosh(cosh_f32, cosh_f64) = x.cosh();
    tanh(tanh_f32, tanh_f64) = x.tanh();
    asinh(asinh_f32, asinh_f64) = x.asinh();
    acosh(acosh_f32, acosh_f64) = x.acosh();
    atanh(atanh_f32, atanh_f64) = x.atanh();
    erf(erf_f32, erf_f64) = x.error_function();
    erfc(erfc_f32, erfc_f64) = x.complementary_error_function();
    erf_inv(erf_inv_f32, erf_inv_f64) = x.inv_error_function();
    erfc_inv(erfc_inv_f32, erfc_inv_f64) = x.inv_complementary_error_function();
    erfcx(erfcx_f32, erfcx_f64) = x.scaled_complementary_error_function();
    norm_cdf(norm_cdf_f32, norm_cdf_f64) = x.norm_cdf();
    norm_cdf_inv(norm_cdf_inv_f32, norm_cdf_inv_f64) = x.inv_norm_cdf();
    gamma(gamma_f32, gamma_f64) = x.gamma();
    log_gamma(log_gamma_f32, log_gamma_f64) = x.log_gamma();
    j0(j0_f32, j0_f64) = x.j0();
    j1(j1_f32, j1_f64) = x.j1();
    jn(jn_f32, jn_f64) = x.jn(z.to_i32());
    y0(y0_f32, y0_f64) = x.y0();
    y1(y1_f32, y1_f64) = x.y1();
    yn(yn_f32, yn_f64) = x.yn(z.to_i32());
    cyl_bessel_i0(cyl_bessel_i0_f32, cyl_bessel_i0_f64) = x.cyl_bessel_i0();
    cyl_bessel_i1(cyl_bessel_i1_f32, cyl_bessel_i1_f64) = x.cyl_bessel_i1();
    frexp(frexp_f32, frexp_f64) = { let (fraction, exponent) = x.frexp(); fraction + T::from_i32(exponent) };
    ldexp(ldexp_f32, ldexp_f64) = x.ldexp(y.to_i32());
    unbiased_exp(unbiased_exp_f32, unbiased_exp_f64) = T::from_i32(x.unbiased_exp());
}

approximations! { |x, y|
    fast_exp_f32 = x.fast_exp();
    fast_exp10_f32 = x.fast_exp10();
    fast_powf_f32 = x.fast_powf(y);
}

/// A module with its value for each of the special function unit's instructions.
macro_rules! instructions {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, in the place of a [`Function`].")]
        pub mod $name {
            use super::*;

            /// The function's value.
            #[inline(always)]
            pub fn value(x: f32, _: f32, _: f32) -> f32 {
                x.$name()
            }
        }
    )*};
}

instructions! { fast_exp2 fast_exp2_ftz fast_log2 fast_rcp fast_rsqrt fast_sqrt }

/// Calls a macro with `f32` functions of one argument and with instructions, and for each the name of the kernel of its bits.
#[macro_export]
macro_rules! with_bits {
    ($callback:ident) => {
        $callback! {
            exp(exp_bits),
            exp2(exp2_bits),
            exp10(exp10_bits),
            exp_m1(exp_m1_bits),
            ln(ln_bits),
            log2(log2_bits),
            log10(log10_bits),
            ln_1p(ln_1p_bits),
            sin(sin_bits),
            cos(cos_bits),
            tan(tan_bits),
            sinpi(sinpi_bits),
            cospi(cospi_bits),
            asin(asin_bits),
            acos(acos_bits),
            atan(atan_bits),
            sinh(sinh_bits),
            cosh(cosh_bits),
            tanh(tanh_bits),
            asinh(asinh_bits),
            acosh(acosh_bits),
            atanh(atanh_bits),
            cbrt(cbrt_bits),
            rcbrt(rcbrt_bits),
            erf(erf_bits),
            erfc(erfc_bits),
            erfcx(erfcx_bits),
            norm_cdf(norm_cdf_bits),
            gamma(gamma_bits),
            log_gamma(log_gamma_bits),
            j0(j0_bits),
            j1(j1_bits),
            y0(y0_bits),
            y1(y1_bits),
            cyl_bessel_i0(cyl_bessel_i0_bits),
            cyl_bessel_i1(cyl_bessel_i1_bits),
            erf_inv(erf_inv_bits),
            erfc_inv(erfc_inv_bits),
            norm_cdf_inv(norm_cdf_inv_bits),
            fast_exp2(fast_exp2_bits),
            fast_exp2_ftz(fast_exp2_ftz_bits),
            fast_log2(fast_log2_bits),
            fast_rcp(fast_rcp_bits),
            fast_rsqrt(fast_rsqrt_bits),
            fast_sqrt(fast_sqrt_bits),
        }
    };
}

macro_rules! bits {
    ($($name:ident($kernel:ident),)*) => {$(
        /// A word of the function's bits for each 2^16 arguments.
        #[kernel(allow(local_memory))]
        pub fn $kernel(mut out: Output<u64>) {
            for (i, word) in out.own() {
                *word = digest((0..1 << 16).map(|lower| {
                    let value = $name::value(f32::from_bits((i as u32) << 16 | lower), 1.0, 1.0);
                    u64::from(if value.is_nan() { u32::MAX } else { value.to_bits() })
                }));
            }
        }
    )*};
}

with_bits!(bits);

/// Calls a macro with `f64` functions that begin with a guess of the special function unit, and for each the name of
/// the kernel of its bits.
#[macro_export]
macro_rules! with_double_bits {
    ($callback:ident) => {
        $callback! {
            rsqrt(rsqrt_double_bits),
            rhypot(rhypot_double_bits),
            atan(atan_double_bits),
            atan2(atan2_double_bits),
            asin(asin_double_bits),
            acos(acos_double_bits),
            sinh(sinh_double_bits),
            tanh(tanh_double_bits),
            asinh(asinh_double_bits),
            acosh(acosh_double_bits),
            atanh(atanh_double_bits),
            erf(erf_double_bits),
            erfcx(erfcx_double_bits),
            norm_cdf(norm_cdf_double_bits),
            j0(j0_double_bits),
            cyl_bessel_i1(cyl_bessel_i1_double_bits),
        }
    };
}

macro_rules! double_bits {
    ($($name:ident($kernel:ident),)*) => {$(
        /// A word of the function's bits for 256 of the arguments that begin with each 16 bits.
        #[kernel(allow(local_memory))]
        pub fn $kernel(mut out: Output<u64>) {
            for (i, word) in out.own() {
                *word = digest((0..256).map(|step| {
                    // The lower bits look random: those that the unit looks at, and the others.
                    let lower = (i as u64 * 256 + step).wrapping_mul(GOLDEN_RATIO) >> 16;
                    let value = $name::value(f64::from_bits((i as u64) << 48 | lower), 1.0, 1.0);
                    if value.is_nan() { u64::MAX } else { value.to_bits() }
                }));
            }
        }
    )*};
}

with_double_bits!(double_bits);

/// 2^64 over the golden ratio: odd, so that a product with it loses nothing, and with its bits well spread.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// A word that no change of one of the values leaves as it is. Whoever calls it gives each NaN as the same one: sign and
/// payload of the GPU's are its own.
#[inline(always)]
fn digest(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, |word, bits| (word ^ bits).wrapping_mul(GOLDEN_RATIO))
}

/// How far a value is from the true one, in units in the last place of an `f32` of its magnitude.
pub fn units(value: f32, true_value: f64) -> f64 {
    let rounded = true_value as f32;
    if value == rounded || (value.is_nan() && rounded.is_nan()) {
        // Never more than the half unit of the rounding.
        if !rounded.is_finite() || rounded == 0.0 {
            return 0.0;
        }
    } else if !value.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    let exponent = ((true_value.abs().to_bits() >> 52) as i32 - 1023).max(-126) - 23;
    (f64::from(value) - true_value).abs() * f64::from_bits(((1023 - exponent) as u64) << 52)
}
