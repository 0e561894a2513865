//! The hardware's fast approximations.
//!
//! Each function is one instruction of PTX. The errors are those that NVIDIA states for the
//! instruction in the PTX ISA. On the host each is accurate to about one unit in the last place, so
//! that an emulated run may differ from the GPU's by the stated error.

use crate::arch::float as arch;

/// Approximations of a single instruction.
///
/// ```
/// use ptx_std::ApproxFloat;
///
/// let normalised = 3.0_f32 * 9.0_f32.fast_rsqrt();
/// assert!((normalised - 1.0).abs() < 1e-6);
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

    /// 2 to the power `self`: `ex2.approx`. Within 2 units in the last place.
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
