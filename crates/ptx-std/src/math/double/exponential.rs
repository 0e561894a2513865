//! Exponentials.

#[inline]
pub(crate) fn exp(x: f64) -> f64 {
    libm::exp(x)
}

#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

#[inline]
pub(crate) fn exp10(x: f64) -> f64 {
    libm::exp10(x)
}

#[inline]
pub(crate) fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}
