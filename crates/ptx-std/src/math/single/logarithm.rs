//! Logarithms.

#[inline]
pub(crate) fn ln(x: f32) -> f32 {
    libm::logf(x)
}

#[inline]
pub(crate) fn log2(x: f32) -> f32 {
    libm::log2f(x)
}

#[inline]
pub(crate) fn log10(x: f32) -> f32 {
    libm::log10f(x)
}

#[inline]
pub(crate) fn ln_1p(x: f32) -> f32 {
    libm::log1pf(x)
}
