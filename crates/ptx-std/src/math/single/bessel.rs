//! Bessel functions.

#[inline]
pub(crate) fn j0(x: f32) -> f32 {
    libm::j0f(x)
}

#[inline]
pub(crate) fn j1(x: f32) -> f32 {
    libm::j1f(x)
}

#[inline]
pub(crate) fn jn(x: f32, order: i32) -> f32 {
    libm::jnf(order, x)
}

#[inline]
pub(crate) fn y0(x: f32) -> f32 {
    libm::y0f(x)
}

#[inline]
pub(crate) fn y1(x: f32) -> f32 {
    libm::y1f(x)
}

#[inline]
pub(crate) fn yn(x: f32, order: i32) -> f32 {
    libm::ynf(order, x)
}

#[inline]
pub(crate) fn cyl_bessel_i0(x: f32) -> f32 {
    crate::math::double::cyl_bessel_i0(x.into()) as f32
}

#[inline]
pub(crate) fn cyl_bessel_i1(x: f32) -> f32 {
    crate::math::double::cyl_bessel_i1(x.into()) as f32
}
