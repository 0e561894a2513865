extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn scale(ref a: u32, y: *mut u32) {}

fn main() {}
