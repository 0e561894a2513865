//! Remainders, fractions and exponents.

#[inline]
pub(crate) fn rem(x: f32, y: f32) -> f32 {
    crate::math::double::rem(x.into(), y.into()) as f32
}

#[inline]
pub(crate) fn frexp(x: f32) -> (f32, i32) {
    libm::frexpf(x)
}

#[inline]
pub(crate) fn ldexp(x: f32, exponent: i32) -> f32 {
    libm::ldexpf(x, exponent)
}

#[inline]
pub(crate) fn unbiased_exponent(x: f32) -> i32 {
    crate::math::double::unbiased_exponent(x.into())
}
