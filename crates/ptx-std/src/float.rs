//! Floating-point functions that `core` lacks.

use crate::arch;

/// The methods that `std` gives `f32` and `f64`, for kernels, which have no `std`.
pub trait GpuFloat: Copy {
    /// `self * a + b` with one rounding: a single instruction on the GPU.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
}

impl GpuFloat for f32 {
    #[inline(always)]
    fn mul_add(self, a: f32, b: f32) -> f32 {
        arch::fma_f32(self, a, b)
    }
}

impl GpuFloat for f64 {
    #[inline(always)]
    fn mul_add(self, a: f64, b: f64) -> f64 {
        arch::fma_f64(self, a, b)
    }
}
