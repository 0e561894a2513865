//! The hardware's approximations, and what CUDA makes of them.

use core::f32::consts::{LOG2_10, LOG2_E};

use crate::approx::ApproxFloat;
use crate::intrinsics::{intrinsics, sines_and_cosines};

intrinsics! {
    /// The sine: [`ApproxFloat::fast_sin`].
    fast_sinf(x: f32) -> f32 = x.fast_sin();
    /// The cosine: [`ApproxFloat::fast_cos`].
    fast_cosf(x: f32) -> f32 = x.fast_cos();
    /// The tangent: the quotient of two approximations.
    fast_tanf(x: f32) -> f32 = x.fast_sin().fast_div(x.fast_cos());
    /// e to the power `x`: an approximate power of 2.
    fast_expf(x: f32) -> f32 = (x * LOG2_E).fast_exp2();
    /// 10 to the power `x`: an approximate power of 2.
    fast_exp10f(x: f32) -> f32 = (x * LOG2_10).fast_exp2();
    /// The natural logarithm: [`ApproxFloat::fast_ln`].
    fast_logf(x: f32) -> f32 = x.fast_ln();
    /// The logarithm to base 2: [`ApproxFloat::fast_log2`].
    fast_log2f(x: f32) -> f32 = x.fast_log2();
    /// The logarithm to base 10: [`ApproxFloat::fast_log10`].
    fast_log10f(x: f32) -> f32 = x.fast_log10();
    /// `x` to the power `y`: [`ApproxFloat::fast_powf`].
    fast_powf(x: f32, y: f32) -> f32 = x.fast_powf(y);
    /// `x / y`: [`ApproxFloat::fast_div`].
    fast_fdividef(x: f32, y: f32) -> f32 = x.fast_div(y);
}

sines_and_cosines! {
    /// Stores [`fast_sinf`] and [`fast_cosf`].
    fast_sincosf(x: f32) = (x.fast_sin(), x.fast_cos());
}
