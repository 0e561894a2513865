extern crate ptx_std as cuda_std;

use cuda_std::prelude::*;

#[kernel(block = [64, 32])]
pub unsafe fn scale(y: *mut f32) {}

fn main() {}
