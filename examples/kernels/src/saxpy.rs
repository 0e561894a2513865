//! `y = a x + y`, without `unsafe`.

use cuda_std::prelude::*;

/// Adds `a` times each element of `x` to the element of `y` of the same index.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: Output<f32>) {
    for (x, y) in y.own_with(x) {
        *y += a * x;
    }
}
