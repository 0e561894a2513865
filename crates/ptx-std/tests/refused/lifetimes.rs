extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn table(x: &'static [f32], y: *mut f32) {}

#[kernel]
pub fn fill(mut y: Output<'static, f32>) {}

fn main() {}
