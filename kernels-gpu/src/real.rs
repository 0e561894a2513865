//! The requirements of the kernels on an element type.

use core::ops::{Add, Div, Mul};

use cuda_std::prelude::*;
use cuda_std::warp::ShuffleValue;

/// `f32` or `f64`.
pub trait Float:
    GpuFloat
    + ShuffleValue
    + Default
    + Into<f64>
    + Send
    + Sync
    + Add<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// Its name: "f32".
    const NAME: &'static str;
    /// About the root of the greatest number, a power of two.
    const LARGE: Self;
    /// One over [`Float::LARGE`].
    const SMALL: Self;

    /// The nearest value to `value`.
    fn from_f64(value: f64) -> Self;
}

impl Float for f32 {
    const NAME: &'static str = "f32";
    const LARGE: f32 = f32::from_bits((127 + 64) << 23);
    const SMALL: f32 = f32::from_bits((127 - 64) << 23);

    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Float for f64 {
    const NAME: &'static str = "f64";
    const LARGE: f64 = f64::from_bits((1023 + 512) << 52);
    const SMALL: f64 = f64::from_bits((1023 - 512) << 52);

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
}
