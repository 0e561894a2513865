//! Roots and lengths.

use crate::arch::float::Exact;

/// The cube root. (`libm`'s has six multiply-adds in software.)
pub(crate) fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let thirds = libm::ilogb(x).div_euclid(3);
    let cube = libm::scalbn(x.abs(), -3 * thirds);
    // 24 bits are right, so that the square is exact; Halley's step triples them.
    let root = f64::from(libm::cbrtf(cube as f32));
    let excess = Exact::fma(root * root, root, -cube);
    let root = root - root * excess / (3.0 * cube + 2.0 * excess);
    libm::scalbn(root, thirds).copysign(x)
}

#[inline]
pub(crate) fn rcbrt(x: f64) -> f64 {
    1.0 / cbrt(x)
}

#[inline]
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / Exact::sqrt(x)
}

#[inline]
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[inline]
pub(crate) fn rhypot(x: f64, y: f64) -> f64 {
    1.0 / hypot(x, y)
}

#[inline]
pub(crate) fn norm3d(x: f64, y: f64, z: f64) -> f64 {
    hypot(hypot(x, y), z)
}
