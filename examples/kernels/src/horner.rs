//! x + x^2 + .. + x^k by Horner's rule: one fused multiply-add a step.

use cuda_std::prelude::*;

/// Writes the polynomial of degree `k` at each element of `x` to the element of `y`.
#[kernel]
pub fn horner(x: &[f32], mut y: Output<f32>, k: u32) {
    for (&x, y) in y.own_with(x) {
        let mut sum = 0.0;
        for _ in 0..k {
            sum = x.mul_add(sum, x);
        }
        *y = sum;
    }
}
