//! The error function, its relatives and the normal distribution.

#[inline]
pub(crate) fn erf(x: f32) -> f32 {
    libm::erff(x)
}

#[inline]
pub(crate) fn erfc(x: f32) -> f32 {
    libm::erfcf(x)
}

#[inline]
pub(crate) fn erf_inv(x: f32) -> f32 {
    crate::math::double::erf_inv(x.into()) as f32
}

#[inline]
pub(crate) fn erfc_inv(x: f32) -> f32 {
    crate::math::double::erfc_inv(x.into()) as f32
}

#[inline]
pub(crate) fn erfcx(x: f32) -> f32 {
    crate::math::double::erfcx(x.into()) as f32
}

#[inline]
pub(crate) fn norm_cdf(x: f32) -> f32 {
    crate::math::double::norm_cdf(x.into()) as f32
}

#[inline]
pub(crate) fn norm_cdf_inv(x: f32) -> f32 {
    crate::math::double::norm_cdf_inv(x.into()) as f32
}
