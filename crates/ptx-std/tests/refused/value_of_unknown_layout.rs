#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[derive(Clone, Copy)]
pub struct Rust(u32, u8);

#[kernel]
pub fn by_value(value: Rust, pair: (u32, f32), mut y: Output<f32>) {}

fn main() {}
