//! The hardware's fast approximations.
//!
//! Each function is one instruction of PTX, or its product with a constant. The errors are those that NVIDIA states in the PTX ISA;
//! `ex2.approx`'s for subnormal results was measured on an H200. On the host each returns what an H200 returns, but for
//! `fast_sin`, `fast_cos` and `fast_tanh`: these are accurate to about two units in the last place there, so that an emulated run
//! may differ from the GPU's by the stated error.

use core::f32::consts;

use crate::arch::float as arch;

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
///     (x.fast_exp2(), x.exp2()),
///     (x.fast_exp2_ftz(), x.exp2()),
///     (x.fast_exp(), x.exp()),
///     (x.fast_exp10(), x.exp10()),
///     (x.fast_ln(), x.ln()),
///     (x.fast_log2(), x.log2()),
///     (x.fast_log10(), x.log10()),
///     (x.fast_powf(3.0), x.powi(3)),
///     (x.fast_rcp(), 1.0 / x),
///     (x.fast_div(3.0), x / 3.0),
///     (x.fast_sqrt(), x.sqrt()),
///     (x.fast_rsqrt(), 1.0 / x.sqrt()),
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

    /// The hyperbolic tangent: `tanh.approx`. Relative error 2^-11. Needs `sm_75`.
    #[must_use]
    fn fast_tanh(self) -> Self;

    /// e to the power `self`: the [`fast_exp2`](ApproxFloat::fast_exp2) of a rounded product, as CUDA's `__expf`. Error
    /// 2 + 1.173 |`self`| units in the last place.
    #[must_use]
    fn fast_exp(self) -> Self;

    /// 10 to the power `self`, as [`fast_exp`](ApproxFloat::fast_exp) and CUDA's `__exp10f`. Error 2 + 2.97 |`self`| units in
    /// the last place.
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
                arch::exp2_approx(self * consts::LOG2_E)
            }

            #[inline(always)]
            fn fast_exp10(self) -> f32 {
                arch::exp2_approx(self * consts::LOG2_10)
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
