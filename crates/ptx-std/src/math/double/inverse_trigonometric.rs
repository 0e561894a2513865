//! Arcs.

#[inline]
pub(crate) fn asin(x: f64) -> f64 {
    libm::asin(x)
}

#[inline]
pub(crate) fn acos(x: f64) -> f64 {
    libm::acos(x)
}

#[inline]
pub(crate) fn atan(x: f64) -> f64 {
    libm::atan(x)
}

#[inline]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}
