//! The hardware's fast approximations.
//!
//! Most functions are one instruction of PTX, whose error is the one that NVIDIA states in the PTX ISA.
//! A few are built on `ex2.approx`, `lg2.approx` and `rcp.approx`, as CUDA's own functions are; their
//! errors, and `ex2.approx`'s for subnormal results, were measured on an H200 at every argument
//! (`crates/mathematics/tests/approximations.rs`). Where [`GpuFloat`](crate::GpuFloat) has a function of this name, too, it has the
//! same bits on GPU and host and takes longer. On the host each is accurate to about two units in the
//! last place, so that an emulated run may differ from the GPU's by the stated error.

use core::f32::consts;

use crate::arch::float::{self as arch, Exact};
use crate::math::single;

/// Approximations of one instruction or a few.
///
/// ```
/// use cuda_std::approx::ApproxFloat; // Or `cuda_std::ApproxFloat`.
///
/// let normalised = 3.0_f32 * 9.0_f32.fast_rsqrt();
/// assert!((normalised - 1.0).abs() < 1e-6);
/// ```
///
/// Each is near what it approximates, by the error that it states:
///
/// ```
/// use cuda_std::{ApproxFloat, FloatExt};
///
/// let x = 0.75_f32;
/// for (approximation, value) in [
///     (x.fast_sin(), x.sin()),
///     (x.fast_cos(), x.cos()),
///     (x.fast_accurate_tanh(), x.tanh()),
///     (x.fast_sinh(), x.sinh()),
///     (x.fast_cosh(), x.cosh()),
///     (x.fast_exp(), x.exp()),
///     (x.fast_exp2(), x.exp2()),
///     (x.fast_exp2_ftz(), x.exp2()),
///     (x.fast_exp10(), x.exp10()),
///     (x.fast_ln(), x.ln()),
///     (x.fast_log2(), x.log2()),
///     (x.fast_log10(), x.log10()),
///     (x.fast_powf(3.0), x.powi(3)),
///     (x.fast_rcp(), 1.0 / x),
///     (x.fast_div(3.0), x / 3.0),
///     (x.fast_sqrt(), x.sqrt()),
///     (x.fast_rsqrt(), 1.0 / x.sqrt()),
///     (x.fast_erf_inv(), x.inv_error_function()),
///     (x.fast_erfc_inv(), x.inv_complementary_error_function()),
///     (x.fast_norm_cdf_inv(), x.inv_norm_cdf()),
/// ] {
///     assert!((approximation / value - 1.0).abs() < 2e-6);
/// }
/// assert!((x.fast_tanh() / x.tanh() - 1.0).abs() < 5e-4, "11 bits");
/// assert_eq!((-130.0_f32).fast_exp2_ftz(), 0.0, "2^-130 is below the normal numbers");
/// ```
pub trait ApproxFloat: Copy {
    /// The sine of an angle in radians: `sin.approx`. Absolute error 2^-20.5 in [-2π, 2π], 2^-14.7
    /// in [-100π, 100π], and unbounded beyond.
    #[must_use]
    fn fast_sin(self) -> Self;

    /// The cosine of an angle in radians: `cos.approx`, of the error of
    /// [`fast_sin`](ApproxFloat::fast_sin).
    #[must_use]
    fn fast_cos(self) -> Self;

    /// 2 to the power `self`: `ex2.approx`. Error 2.4 units in the last place.
    #[must_use]
    fn fast_exp2(self) -> Self;

    /// As [`fast_exp2`](ApproxFloat::fast_exp2), with 0 for a result below the normal numbers:
    /// `ex2.approx.ftz`, which alone is one instruction of the machine, too.
    #[must_use]
    fn fast_exp2_ftz(self) -> Self;

    /// The logarithm to base 2: `lg2.approx`. Absolute error 2^-22 for `self` from 0.5 to 2,
    /// relative error 2^-22 outside.
    #[must_use]
    fn fast_log2(self) -> Self;

    /// One over `self`: `rcp.approx`. Within 1 unit in the last place.
    #[must_use]
    fn fast_rcp(self) -> Self;

    /// One over the square root: `rsqrt.approx`. Relative error 2^-22.9.
    #[must_use]
    fn fast_rsqrt(self) -> Self;

    /// The square root: `sqrt.approx`. Relative error 2^-23.
    #[must_use]
    fn fast_sqrt(self) -> Self;

    /// `self / divisor`: `div.approx`. Within 2 units in the last place for a divisor of magnitude
    /// 2^-126 to 2^126. For a greater one the result is 0, or NaN where `self` is infinite.
    #[must_use]
    fn fast_div(self, divisor: Self) -> Self;

    /// The hyperbolic tangent: `tanh.approx`. Relative error 2^-11. Needs `sm_75`. A slower one of full
    /// accuracy is [`fast_accurate_tanh`](ApproxFloat::fast_accurate_tanh).
    #[must_use]
    fn fast_tanh(self) -> Self;

    /// e to the power `self`: `ex2.approx` of what an exact reduction leaves, as in CUDA's `expf`. Error
    /// 2.1 units in the last place, subnormal results included.
    #[must_use]
    fn fast_exp(self) -> Self;

    /// 10 to the power `self`, as [`fast_exp`](ApproxFloat::fast_exp). Error 2.1 units in the last place.
    #[must_use]
    fn fast_exp10(self) -> Self;

    /// The natural logarithm: [`fast_log2`](ApproxFloat::fast_log2) times a constant, as CUDA's
    /// `__logf`. Absolute error 2^-21.4 for `self` from 0.5 to 2, 3 units in the last place outside.
    #[must_use]
    fn fast_ln(self) -> Self;

    /// The logarithm to base 10: [`fast_log2`](ApproxFloat::fast_log2) times a constant, as CUDA's
    /// `__log10f`. Absolute error 2^-23 for `self` from 0.5 to 2, 3 units in the last place outside.
    #[must_use]
    fn fast_log10(self) -> Self;

    /// `self` to the power `n`, for a `self` from 0 on: the
    /// [`fast_exp2`](ApproxFloat::fast_exp2) of `n` times the
    /// [`fast_log2`](ApproxFloat::fast_log2), as CUDA's `__powf`. With e the exponent of 2 of the result,
    /// n log2(self), the relative error is about (1 + |e|) 2^-22 for `self` outside of 0.5 to 2, and
    /// (1 + |e| / 4 + |n|) 2^-22 within. NaN for a negative `self`, and where 1 is raised to an
    /// infinite power or 0 or infinity to the power 0.
    #[must_use]
    fn fast_powf(self, n: Self) -> Self;

    /// The hyperbolic sine, by the exponential and its inverse, below 1 by a polynomial, as in CUDA's
    /// `sinhf`. Error 3.1 units in the last place.
    #[must_use]
    fn fast_sinh(self) -> Self;

    /// The hyperbolic cosine, by the exponential and its inverse, as in CUDA's `coshf`. Error 2.5 units
    /// in the last place.
    #[must_use]
    fn fast_cosh(self) -> Self;

    /// The hyperbolic tangent by `ex2.approx` and `rcp.approx`, below 0.6 by a polynomial, as in CUDA's
    /// `tanhf`. Error 2 units in the last place, where [`fast_tanh`](ApproxFloat::fast_tanh) has 11
    /// bits.
    #[must_use]
    fn fast_accurate_tanh(self) -> Self;

    /// The inverse of the error function, by `lg2.approx`, as in CUDA's `erfinvf`. Error 2.5 units in the
    /// last place.
    #[must_use]
    fn fast_erf_inv(self) -> Self;

    /// The inverse of the complementary error function, by `lg2.approx`, as in CUDA's `erfcinvf`. Error 4
    /// units in the last place.
    #[must_use]
    fn fast_erfc_inv(self) -> Self;

    /// The inverse of the normal distribution's cumulative distribution function, by `lg2.approx`, as in
    /// CUDA's `normcdfinvf`. Error 4 units in the last place.
    #[must_use]
    fn fast_norm_cdf_inv(self) -> Self;
}

/// 1.5 * 2^23, whose sum with a small number has the nearest integer in its last bits.
const ROUND: f32 = 12_582_912.0;

/// log2 e and log2 10, each in two parts.
const LOG2_E: [f32; 2] = [consts::LOG2_E, 1.925_963e-8];
const LOG2_10: [f32; 2] = [consts::LOG2_10, 7.059_537e-8];

/// (sinh(x) - x) / x^3 below 1 and (tanh(x) - x) / x^3 below 0.6, as polynomials in x^2, the lowest
/// power first: Sollya's fpminimax.
const SINH: [f32; 4] = [0.166_666_67, 8.333_315e-3, 1.984_166_6e-4, 2.789_984e-6];
const TANH: [f32; 4] = [-0.333_325_9, 0.133_129_46, -5.220_218_4e-2, 1.559_664_7e-2];

/// The power of the base whose binary logarithm is given, as `power * 2^n` with n from -126 to 126 such
/// that `power` is small only if the result is no normal number; the second is 2^(n + bias - 127).
#[inline(always)]
fn exponential(x: f32, log2_base: [f32; 2], bias: f32) -> (f32, f32) {
    // (n + 126) / 252, clamped to 0 and 1: one instruction, which takes NaN to 0.
    let position = x.fma(log2_base[0] / 252.0, 0.5);
    #[allow(clippy::manual_clamp, reason = "`clamp` keeps NaN")]
    let position = position.max(0.0).min(1.0);
    let origin = ROUND - 126.0 + bias;
    let rounded = position.fma(252.0, origin);
    let n = rounded - (origin + 126.0);
    let rest = x.fma(log2_base[1], x.fma(log2_base[0], -n));
    (
        arch::exp2_approx_ftz(rest),
        f32::from_bits(rounded.to_bits() << 23),
    )
}

/// `e^x / 2` and `e^-x / 2` for x from 0 on.
#[inline(always)]
fn half_exponentials(x: f32) -> (f32, f32) {
    let (power, half_scale) = exponential(x, LOG2_E, 126.0);
    let half = power * half_scale;
    (half, 0.25 * arch::rcp_approx_ftz(half))
}

macro_rules! implement {
    ($($name:ident = $function:ident;)*) => {
        impl ApproxFloat for f32 {
            $(
                #[inline(always)]
                fn $name(self) -> f32 {
                    arch::$function(self)
                }
            )*

            #[inline(always)]
            fn fast_div(self, divisor: f32) -> f32 {
                arch::div_approx(self, divisor)
            }

            #[inline(always)]
            fn fast_exp(self) -> f32 {
                let (power, scale) = exponential(self, LOG2_E, 127.0);
                power * scale
            }

            #[inline(always)]
            fn fast_exp10(self) -> f32 {
                let (power, scale) = exponential(self, LOG2_10, 127.0);
                power * scale
            }

            #[inline(always)]
            fn fast_ln(self) -> f32 {
                consts::LN_2 * arch::log2_approx(self)
            }

            #[inline(always)]
            fn fast_log10(self) -> f32 {
                consts::LOG10_2 * arch::log2_approx(self)
            }

            #[inline(always)]
            fn fast_powf(self, n: f32) -> f32 {
                arch::exp2_approx(n * arch::log2_approx(self))
            }

            #[inline(always)]
            fn fast_sinh(self) -> f32 {
                let (half, inverse) = half_exponentials(self.abs());
                let square = self * self;
                // sinh(x) = x + x^3 p(x^2)
                let p = square
                    .fma(SINH[3], SINH[2])
                    .fma(square, SINH[1])
                    .fma(square, SINH[0]);
                let small = (square * p).fma(self, self);
                if self.abs() < 1.0 {
                    small
                } else {
                    (half - inverse).copysign(self)
                }
            }

            #[inline(always)]
            fn fast_cosh(self) -> f32 {
                let (half, inverse) = half_exponentials(self.abs());
                half + inverse
            }

            #[inline(always)]
            fn fast_accurate_tanh(self) -> f32 {
                let square = self * self;
                // tanh(x) = x + x^3 p(x^2)
                let p = square
                    .fma(TANH[3], TANH[2])
                    .fma(square, TANH[1])
                    .fma(square, TANH[0]);
                let small = (square * p).fma(self, self);
                // 1 - 2 / (e^2x + 1), where infinity gives 1.
                let power = arch::exp2_approx_ftz(self.abs() * (2.0 * consts::LOG2_E));
                let large = arch::rcp_approx_ftz(power + 1.0).fma(-2.0, 1.0);
                if self.abs() < 0.6 { small } else { large }.copysign(self)
            }

            #[inline(always)]
            fn fast_erf_inv(self) -> f32 {
                single::fast_erf_inv(self)
            }

            #[inline(always)]
            fn fast_erfc_inv(self) -> f32 {
                single::fast_erfc_inv(self)
            }

            #[inline(always)]
            fn fast_norm_cdf_inv(self) -> f32 {
                single::fast_norm_cdf_inv(self)
            }
        }
    };
}

implement! {
    fast_sin = sin_approx;
    fast_cos = cos_approx;
    fast_exp2 = exp2_approx;
    fast_exp2_ftz = exp2_approx_ftz;
    fast_log2 = log2_approx;
    fast_rcp = rcp_approx;
    fast_rsqrt = rsqrt_approx;
    fast_sqrt = sqrt_approx;
    fast_tanh = tanh_approx;
}
