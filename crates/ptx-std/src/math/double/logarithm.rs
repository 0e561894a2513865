//! Logarithms.

#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    libm::log(x)
}

#[inline]
pub(crate) fn log2(x: f64) -> f64 {
    libm::log2(x)
}

#[inline]
pub(crate) fn log10(x: f64) -> f64 {
    libm::log10(x)
}

#[inline]
pub(crate) fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}
