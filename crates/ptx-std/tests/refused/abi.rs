extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe extern "system" fn scale(x: &[f32], y: *mut f32) {}

fn main() {}
