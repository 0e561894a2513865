//! Hyperbolic functions and their inverses.

#[inline]
pub(crate) fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

#[inline]
pub(crate) fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

#[inline]
pub(crate) fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

#[inline]
pub(crate) fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}

#[inline]
pub(crate) fn acosh(x: f64) -> f64 {
    libm::acosh(x)
}

#[inline]
pub(crate) fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}
