//! Hyperbolic functions and their inverses.

#[inline]
pub(crate) fn sinh(x: f32) -> f32 {
    libm::sinhf(x)
}

#[inline]
pub(crate) fn cosh(x: f32) -> f32 {
    libm::coshf(x)
}

#[inline]
pub(crate) fn tanh(x: f32) -> f32 {
    libm::tanhf(x)
}

#[inline]
pub(crate) fn asinh(x: f32) -> f32 {
    libm::asinhf(x)
}

#[inline]
pub(crate) fn acosh(x: f32) -> f32 {
    libm::acoshf(x)
}

#[inline]
pub(crate) fn atanh(x: f32) -> f32 {
    libm::atanhf(x)
}
