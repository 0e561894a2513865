extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn scale<'a>(x: &'a [f32], y: *mut f32) {}

#[kernel(instances(copy_f32<f32>))]
pub fn copy<'a, T: Copy>(x: &'a [T], mut y: Output<'a, T>) {}

#[kernel]
pub unsafe fn table(x: &'static [f32], y: *mut f32) {}

#[kernel]
pub fn fill(mut y: Output<'static, f32>) {}

fn main() {}
