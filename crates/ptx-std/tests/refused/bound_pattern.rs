extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn scale(pair @ (a, b): (u32, u32), y: *mut u32) {}

fn main() {}
