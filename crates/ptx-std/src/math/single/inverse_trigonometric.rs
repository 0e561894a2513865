//! Arcs.

#[inline]
pub(crate) fn asin(x: f32) -> f32 {
    libm::asinf(x)
}

#[inline]
pub(crate) fn acos(x: f32) -> f32 {
    libm::acosf(x)
}

#[inline]
pub(crate) fn atan(x: f32) -> f32 {
    libm::atanf(x)
}

#[inline]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}
