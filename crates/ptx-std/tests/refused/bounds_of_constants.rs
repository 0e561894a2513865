extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

const WARPS: usize = 64;
const NOTHING: u32 = 0;

#[kernel(block = [32, WARPS])]
pub unsafe fn block_of_a_constant(_: *mut f32) {}

#[kernel(max_threads = WARPS * 32)]
pub unsafe fn threads_of_a_constant(_: *mut f32) {}

#[kernel(min_blocks = NOTHING)]
pub unsafe fn blocks_of_a_constant(_: *mut f32) {}

#[kernel(max_threads = 128, block = [WARPS * 4])]
pub unsafe fn block_above_max_threads(_: *mut f32) {}

#[kernel(block = [WARP])]
pub unsafe fn unknown_constant(_: *mut f32) {}

const LARGE: u64 = (1 << 32) + 256;

#[kernel(block = [LARGE], instances(generic_u32<u32>))]
pub unsafe fn generic<T: Copy + Sync + 'static>(_: *mut T) {}

fn main() {}
