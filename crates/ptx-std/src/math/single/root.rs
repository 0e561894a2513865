//! Roots and lengths.

#[inline]
pub(crate) fn cbrt(x: f32) -> f32 {
    crate::math::double::cbrt(x.into()) as f32
}

#[inline]
pub(crate) fn rcbrt(x: f32) -> f32 {
    crate::math::double::rcbrt(x.into()) as f32
}

#[inline]
pub(crate) fn rsqrt(x: f32) -> f32 {
    crate::arch::float::rsqrt_approx(x)
}

#[inline]
pub(crate) fn hypot(x: f32, y: f32) -> f32 {
    libm::hypotf(x, y)
}

#[inline]
pub(crate) fn rhypot(x: f32, y: f32) -> f32 {
    1.0 / hypot(x, y)
}

#[inline]
pub(crate) fn norm3d(x: f32, y: f32, z: f32) -> f32 {
    hypot(hypot(x, y), z)
}
