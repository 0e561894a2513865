//! Exponentials.

#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    libm::expf(x)
}

#[inline]
pub(crate) fn exp2(x: f32) -> f32 {
    libm::exp2f(x)
}

#[inline]
pub(crate) fn exp10(x: f32) -> f32 {
    libm::exp10f(x)
}

#[inline]
pub(crate) fn exp_m1(x: f32) -> f32 {
    libm::expm1f(x)
}
