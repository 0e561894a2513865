//! The kernels. They are compiled twice: to PTX, which GPUs and the emulator execute, and for the host, where
//! launches take their names and parameters from.

#![no_std]

use cuda_std::prelude::*;

/// Writes `a` times each element of `x` to the element of `y` of the same index.
#[kernel]
pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
    for (x, y) in y.own_with(x) {
        *y = a * x;
    }
}

/// The exact product, which [`scale`] rounds.
pub fn reference(x: f32, a: f32) -> f64 {
    f64::from(a) * f64::from(x)
}
