//! `remainder` of inputs/building/kernels.rs, and a kernel that panics.
#![no_std]

use cuda_std::prelude::*;

/// 4: the remainder of floats: 2147483648.0 % 15.0 is -112 here and 8 in Rust.
#[kernel]
pub fn remainder(x: &[f32], mut y: Output<f32>) {
    for (x, y) in y.own_with(x) {
        *y = *x % 15.0;
    }
}

/// Reads the element whose index is given.
#[kernel]
pub fn gathers(x: &[f32], at: u32, mut y: Output<f32>) {
    for (_, y) in y.own() {
        *y = x[at as usize];
    }
}

/// Adds up to more than a number holds, divides by zero, unwraps nothing, and so on.
#[kernel]
pub fn panics(x: &[u32], way: u32, mut y: Output<u32>) {
    for (_, y) in y.own() {
        *y = match way {
            0 => x[0] + x[1],
            1 => x[0] / x[2],
            2 => x.get(99).copied().unwrap(),
            3 => x.get(99).copied().expect("an element"),
            4 => x[1..x[2] as usize].len() as u32,
            5 => 1 << x[3],
            6 => x[2] - x[0],
            7 => unreachable!(),
            _ => panic!("the author's {}", x[0]),
        };
    }
}
