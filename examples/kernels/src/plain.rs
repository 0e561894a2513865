//! Kernels as a user writes them at first: slices with their checks, grid-stride loops, arrays by value, halves, and the
//! language's own 128-bit arithmetic. `examples/benches/plain` measures each beside nvcc's twin. Checks stay in loops on
//! purpose: that is how kernels come.

#![allow(
    clippy::too_many_arguments,
    clippy::chunks_exact_to_as_chunks,
    reason = "kernels as they come"
)]

use cuda_std::GpuFloat;
use cuda_std::prelude::*;

/// 7 points of a cube of n^3, safe.
#[kernel]
pub fn stencil_safe(x: &[f32], mut y: Output<f32>, n: u32) {
    let n = n as usize;
    if let Some((at, own)) = y.own_element() {
        let (i, j, k) = (at % n, at / n % n, at / (n * n));
        if i > 0 && i + 1 < n && j > 0 && j + 1 < n && k > 0 && k + 1 < n {
            *own = 0.4 * x[at]
                + 0.1
                    * (x[at - 1]
                        + x[at + 1]
                        + x[at - n]
                        + x[at + n]
                        + x[at - n * n]
                        + x[at + n * n]);
        } else {
            *own = x[at];
        }
    }
}

/// The standard normal distribution, by a polynomial.
fn cnd(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let c = 0.398_942_3
        * GpuFloat::exp(-0.5 * d * d)
        * (k * (0.319_381_53
            + k * (-0.356_563_78 + k * (1.781_478 + k * (-1.821_256 + k * 1.330_274_4)))));
    if d > 0.0 { 1.0 - c } else { c }
}

/// Prices of calls, by the formula.
#[kernel(allow(panic_in_loop))]
pub fn black_scholes(s: &[f32], x: &[f32], t: &[f32], mut call: Output<f32>, r: f32, v: f32) {
    for (i, call) in call.own() {
        let (s, x, t) = (s[i], x[i], t[i]);
        let root = GpuFloat::sqrt(t);
        let d1 = (GpuFloat::ln(s / x) + (r + 0.5 * v * v) * t) / (v * root);
        let d2 = d1 - v * root;
        *call = s * cnd(d1) - x * GpuFloat::exp(-r * t) * cnd(d2);
    }
}

/// 5 x 5 weights by value.
#[kernel]
pub fn conv5(x: &[f32], mut y: Output<f32>, w: [f32; 25], n: u32) {
    let n = n as usize;
    if let Some((at, own)) = y.own_element() {
        let (i, j) = (at % n, at / n);
        let mut sum = 0.0;
        for b in 0..5 {
            for a in 0..5 {
                let (u, v) = (i + a, j + b);
                if u >= 2 && u < n + 2 && v >= 2 && v < n + 2 {
                    sum += w[b * 5 + a] * x[(v - 2) * n + u - 2];
                }
            }
        }
        *own = sum;
    }
}

/// x^e modulo m, one for each element, by the language's own 128-bit product and remainder.
#[kernel(allow(panic_in_loop))]
pub fn power_mod(x: &[u64], mut y: Output<u64>, e: u32, m: u64) {
    for (i, y) in y.own() {
        let (mut base, mut e, mut product) = (x[i] % m, e, 1u64);
        while e > 0 {
            if e & 1 == 1 {
                product = (product as u128 * base as u128 % m as u128) as u64;
            }
            base = (base as u128 * base as u128 % m as u128) as u64;
            e >>= 1;
        }
        *y = product;
    }
}

/// A step of particles, each property in a slice of its own.
#[kernel(allow(panic_in_loop))]
pub fn particles(
    px: &[f32],
    py: &[f32],
    pz: &[f32],
    vx: &[f32],
    vy: &[f32],
    vz: &[f32],
    mass: &[f32],
    charge: &[f32],
    mut ox: Output<f32>,
    mut oy: Output<f32>,
    mut oz: Output<f32>,
    dt: f32,
) {
    for (((i, ox), (_, oy)), (_, oz)) in ox.own().zip(oy.own()).zip(oz.own()) {
        let (x, y, z) = (px[i], py[i], pz[i]);
        let a = charge[i] / mass[i];
        *ox = x + dt * (vx[i] - a * x * dt);
        *oy = y + dt * (vy[i] - a * y * dt);
        *oz = z + dt * (vz[i] - a * z * dt);
    }
}

/// 5 x 5 weights where they fit whole, with rows, windows and zips.
#[kernel]
pub fn conv_rows(x: &[f32], mut y: Output<f32>, w: [f32; 25], n: u32) {
    let n = n as usize;
    let m = n - 4;
    if let Some((at, own)) = y.own_element() {
        let (i, j) = (at % m, at / m);
        *own = x
            .chunks_exact(n)
            .skip(j)
            .zip(w.chunks_exact(5))
            .map(|(row, w)| row[i..i + 5].iter().zip(w).map(|(x, w)| x * w).sum::<f32>())
            .sum();
    }
}

/// Halves, with arithmetic in f32.
#[kernel(allow(panic_in_loop))]
pub fn swish_f16(x: &[f16], mut y: Output<f16>, a: f32) {
    for (i, y) in y.own() {
        let x = x[i].to_f32();
        *y = f16::from_f32(x / (1.0 + GpuFloat::exp(-a * x)));
    }
}

/// bfloat16 in its own arithmetic.
#[kernel(allow(panic_in_loop))]
pub fn axpy_bf16(x: &[bf16], z: &[bf16], mut y: Output<bf16>, a: bf16) {
    for (i, y) in y.own() {
        *y = a * x[i] + z[i];
    }
}

/// The sum of each column of a matrix, by its rows.
#[kernel(allow(panic_in_loop))]
pub fn column_sums(x: &[f32], mut y: Output<f32>) {
    let columns = y.len();
    if let Some((column, y)) = y.own_element() {
        let mut sum = 0.0;
        for row in 0..x.len() / columns {
            sum += x[row * columns + column];
        }
        *y = sum;
    }
}
