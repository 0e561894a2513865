//! The hardware's approximations, and what CUDA makes of them.

use crate::approx::ApproxFloat;
use crate::intrinsics::{intrinsics, sines_and_cosines};

intrinsics! {
    /// The sine: [`ApproxFloat::fast_sin`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_sinf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_sinf(1.0) };
    /// assert!((approximately / 1.0_f32.sin() - 1.0).abs() < 1e-5);
    /// ```
    fast_sinf(x: f32) -> f32 = x.fast_sin();
    /// The cosine: [`ApproxFloat::fast_cos`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_cosf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_cosf(1.0) };
    /// assert!((approximately / 1.0_f32.cos() - 1.0).abs() < 1e-5);
    /// ```
    fast_cosf(x: f32) -> f32 = x.fast_cos();
    /// The tangent: the quotient of two approximations.
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_tanf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_tanf(1.0) };
    /// assert!((approximately / 1.0_f32.tan() - 1.0).abs() < 1e-5);
    /// ```
    fast_tanf(x: f32) -> f32 = x.fast_sin().fast_div(x.fast_cos());
    /// e to the power `x`: [`ApproxFloat::fast_exp`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_expf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_expf(1.0) };
    /// assert!((approximately / 1.0_f32.exp() - 1.0).abs() < 1e-5);
    /// ```
    fast_expf(x: f32) -> f32 = x.fast_exp();
    /// 10 to the power `x`: [`ApproxFloat::fast_exp10`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_exp10f;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_exp10f(1.0) };
    /// assert!((approximately / 10.0 - 1.0).abs() < 1e-5);
    /// ```
    fast_exp10f(x: f32) -> f32 = x.fast_exp10();
    /// The natural logarithm: [`ApproxFloat::fast_ln`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_logf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_logf(3.0) };
    /// assert!((approximately / 3.0_f32.ln() - 1.0).abs() < 1e-5);
    /// ```
    fast_logf(x: f32) -> f32 = x.fast_ln();
    /// The logarithm to base 2: [`ApproxFloat::fast_log2`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_log2f;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_log2f(3.0) };
    /// assert!((approximately / 3.0_f32.log2() - 1.0).abs() < 1e-5);
    /// ```
    fast_log2f(x: f32) -> f32 = x.fast_log2();
    /// The logarithm to base 10: [`ApproxFloat::fast_log10`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_log10f;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_log10f(3.0) };
    /// assert!((approximately / 3.0_f32.log10() - 1.0).abs() < 1e-5);
    /// ```
    fast_log10f(x: f32) -> f32 = x.fast_log10();
    /// `x` to the power `y`: [`ApproxFloat::fast_powf`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_powf;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_powf(2.0, 3.0) };
    /// assert!((approximately / 8.0 - 1.0).abs() < 1e-5);
    /// ```
    fast_powf(x: f32, y: f32) -> f32 = x.fast_powf(y);
    /// `x / y`: [`ApproxFloat::fast_div`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fast_fdividef;
    ///
    /// // SAFETY: any numbers will do.
    /// let approximately = unsafe { fast_fdividef(1.0, 3.0) };
    /// assert!((approximately / (1.0 / 3.0) - 1.0).abs() < 1e-5);
    /// ```
    fast_fdividef(x: f32, y: f32) -> f32 = x.fast_div(y);
}

sines_and_cosines! {
    /// Stores [`fast_sinf`] and [`fast_cosf`].
    ///
    /// ```
    /// use cuda_std::intrinsics::{fast_cosf, fast_sincosf, fast_sinf};
    ///
    /// let (mut sine, mut cosine) = (0.0, 0.0);
    /// // SAFETY: both are this thread's.
    /// unsafe {
    ///     fast_sincosf(1.0, &mut sine, &mut cosine);
    ///     assert_eq!((sine, cosine), (fast_sinf(1.0), fast_cosf(1.0)));
    /// }
    /// ```
    fast_sincosf(x: f32) = (x.fast_sin(), x.fast_cos());
}
