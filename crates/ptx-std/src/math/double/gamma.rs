//! The gamma function.

#[inline]
pub(crate) fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

#[inline]
pub(crate) fn log_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}
