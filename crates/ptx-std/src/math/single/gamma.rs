//! The gamma function.

#[inline]
pub(crate) fn gamma(x: f32) -> f32 {
    libm::tgammaf(x)
}

#[inline]
pub(crate) fn log_gamma(x: f32) -> f32 {
    libm::lgammaf(x)
}
