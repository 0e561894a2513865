//! Sines, cosines and tangents.

#[inline]
pub(crate) fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

#[inline]
pub(crate) fn cos(x: f32) -> f32 {
    libm::cosf(x)
}

#[inline]
pub(crate) fn tan(x: f32) -> f32 {
    libm::tanf(x)
}

#[inline]
pub(crate) fn sin_cos(x: f32) -> (f32, f32) {
    libm::sincosf(x)
}

#[inline]
pub(crate) fn sinpi(x: f32) -> f32 {
    crate::math::double::sinpi(x.into()) as f32
}

#[inline]
pub(crate) fn cospi(x: f32) -> f32 {
    crate::math::double::cospi(x.into()) as f32
}

#[inline]
pub(crate) fn sincospi(x: f32) -> (f32, f32) {
    {
        let (s, c) = crate::math::double::sincospi(x.into());
        (s as f32, c as f32)
    }
}
