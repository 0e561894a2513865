extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn scale<T>(x: &[T], y: *mut T) {}

fn main() {}
