extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel(max_threads = 128, block = [16, 16])]
pub unsafe fn block_above_max_threads(y: *mut f32) {}

#[kernel(min_blocks = 0)]
pub unsafe fn no_blocks(y: *mut f32) {}

#[kernel(block = [4294967295, 4294967295, 4294967295])]
pub unsafe fn overflowing_block(y: *mut f32) {}

#[kernel(block = [2, 2, 2, 2])]
pub unsafe fn four_dimensions(y: *mut f32) {}

#[kernel(max_threads = 128, max_threads = 256)]
pub unsafe fn repeated(y: *mut f32) {}

#[kernel(block = 256)]
pub unsafe fn block_without_brackets(y: *mut f32) {}

fn main() {}
