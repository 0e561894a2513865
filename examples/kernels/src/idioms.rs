//! Pairs of kernels with one result: as one writes it at first, and with the idiom that is faster. docs/fast-kernels.md explains
//! them, and `examples/benches/idioms` measures each pair. The first of the last two pairs are in `plain`.

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// y = a x + b, in a loop over all that is the thread's.
#[kernel]
pub fn axpb_in_a_loop(x: &[f32], mut y: Output<f32>, a: f32, b: f32) {
    for (x, y) in y.own_with(x) {
        *y = a * x + b;
    }
}

/// y = a x + b, of the one element that is the thread's where the grid has as many threads as elements.
#[kernel]
pub fn axpb_once(x: &[f32], mut y: Output<f32>, a: f32, b: f32) {
    if let Some((i, y)) = y.own_element() {
        *y = a * x[i] + b;
    }
}

/// The matrix turned over, with coordinates made of one index.
#[kernel]
pub fn mirror_by_division(x: &[f32], mut y: Output<f32>, columns: u32) {
    let columns = columns as usize;
    if let Some((at, y)) = y.own_element() {
        let (row, column) = (at / columns, at % columns);
        *y = x[row * columns + columns - 1 - column];
    }
}

/// The matrix turned over, with the coordinates of a thread in two dimensions.
#[kernel]
pub fn mirror_in_two_dimensions(x: &[f32], mut y: Output2<f32>) {
    let [_, columns] = y.extents();
    if let Some(([row, column], y)) = y.own_element() {
        *y = x[row * columns + columns - 1 - column];
    }
}

/// 255 for each byte above the threshold, and 0 for the others, a byte per thread.
#[kernel]
pub fn threshold_bytes(x: &[u8], mut y: Output<u8>, threshold: u8) {
    for (x, y) in y.own_with(x) {
        *y = if *x > threshold { 255 } else { 0 };
    }
}

/// Bytes that are read and written by one instruction.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Bytes(pub [u8; 16]);

/// 255 for each byte above the threshold, and 0 for the others, sixteen bytes per thread.
#[kernel]
pub fn threshold_by_sixteen(x: &[Bytes], mut y: Output<Bytes>, threshold: u8) {
    for (x, y) in y.own_with(x) {
        *y = Bytes(x.0.map(|x| if x > threshold { 255 } else { 0 }));
    }
}

/// `conv_rows`, in loops of five turns.
#[kernel]
pub fn taps_by_five(x: &[f32], mut y: Output<f32>, w: [f32; 25], n: u32) {
    let n = n as usize;
    let m = n - 4;
    if let Some((at, y)) = y.own_element() {
        let (i, j) = (at % m, at / m);
        let mut sum = 0.0;
        for b in 0..5 {
            let row = &x[(j + b) * n + i..][..5];
            for a in 0..5 {
                sum += w[5 * b + a] * row[a];
            }
        }
        *y = sum;
    }
}

/// An odd modulus, with what Montgomery's product takes of it: "Modular multiplication without trial division" (1985).
#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Modulus {
    m: u64,
    /// -1 / m modulo 2^64.
    inverse: u64,
    /// 2^64 and 2^128 modulo m.
    one: u64,
    square: u64,
}

impl Modulus {
    /// Panics if the modulus is even.
    pub fn new(m: u64) -> Self {
        assert!(m % 2 == 1, "{m} is even");
        // Each step doubles the bits that are right; m itself has three.
        let inverse = (0..5).fold(m, |inverse: u64, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse)))
        });
        let one = (u128::from(u64::MAX) + 1) % u128::from(m);
        Modulus {
            m,
            inverse: inverse.wrapping_neg(),
            one: one as u64,
            square: (one * one % u128::from(m)) as u64,
        }
    }

    /// a b / 2^64 modulo m, of numbers of which one is below m.
    #[inline(always)]
    fn times(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        let factor = (product as u64).wrapping_mul(self.inverse);
        let more = u128::from(factor) * u128::from(self.m);
        // The lower words add up to 2^64, or both are 0.
        let carry = u64::from(product as u64 != 0);
        let (sum, over) = ((product >> 64) as u64).overflowing_add((more >> 64) as u64);
        let (sum, more) = sum.overflowing_add(carry);
        if over || more || sum >= self.m {
            sum.wrapping_sub(self.m)
        } else {
            sum
        }
    }
}

/// `power_mod`, with Montgomery's product, whose remainder is a multiplication.
#[kernel]
pub fn power_by_product(x: &[u64], mut y: Output<u64>, e: u32, m: Modulus) {
    for (x, y) in y.own_with(x) {
        let (mut base, mut e, mut product) = (m.times(*x, m.square), e, m.one);
        while e > 0 {
            if e & 1 == 1 {
                product = m.times(product, base);
            }
            base = m.times(base, base);
            e >>= 1;
        }
        *y = m.times(product, 1);
    }
}
