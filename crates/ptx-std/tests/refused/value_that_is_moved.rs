#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

/// # Safety
/// None.
#[kernel]
pub unsafe fn list(list: Vec<f32>, mut y: Output<f32>) {}

fn main() {}
