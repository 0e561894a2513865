//! The sum of many numbers: in each warp by shuffles, in each block by shared memory, and over the
//! blocks by a second launch.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_down};

/// Threads per block.
pub const BLOCK: u32 = 256;
/// Elements that a thread reads at once.
pub const WIDTH: usize = 4;
const WARPS: usize = (BLOCK / WARP_SIZE) as usize;

/// Adds up `x` by blocks: `sums` gets the sum of each block's elements. The order of the additions
/// depends on the grid alone, so the same grid gives the same bits.
///
/// # Safety
/// `sums` has room for one element per block, and `x` is aligned to 16 bytes.
#[kernel(block = [BLOCK])]
pub unsafe fn block_sums(x: &[f32], sums: *mut f32) {
    let mut sum = 0.0;
    for i in thread::grid_stride(x.len() / WIDTH) {
        // SAFETY: WIDTH elements from there are in `x`.
        let values: [f32; WIDTH] = unsafe { vector::load(x.as_ptr().add(i * WIDTH)) };
        sum += (values[0] + values[1]) + (values[2] + values[3]);
    }
    // What is left is less than WIDTH elements, one for each of the grid's first threads.
    if let Some(value) = x.get(x.len() / WIDTH * WIDTH + thread::global_index()) {
        sum += value;
    }
    let total = block_sum(sum);
    if thread::thread_idx_x() == 0 {
        // SAFETY: the caller's contract.
        unsafe { *sums.add(thread::block_idx_x() as usize) = total };
    }
}

/// The sum over the block, in its first thread.
fn block_sum(value: f32) -> f32 {
    let warp_sums = shared_array![f32; WARPS];
    let lane = lane_id();
    let warp = (thread::thread_idx_x() / WARP_SIZE) as usize;
    let sum = warp_sum(value);
    if lane == 0 {
        // SAFETY: a block of BLOCK threads has WARPS warps.
        unsafe { *warp_sums.add(warp) = sum };
    }
    thread::sync_threads();
    let of_warp = if (lane as usize) < WARPS {
        // SAFETY: in the array, and written before the barrier.
        unsafe { *warp_sums.add(lane as usize) }
    } else {
        0.0
    };
    warp_sum(of_warp)
}

/// The sum over the warp, in its first lane.
fn warp_sum(mut value: f32) -> f32 {
    let mut delta = WARP_SIZE / 2;
    while delta > 0 {
        // SAFETY: blocks are of whole warps, all lanes of which come here.
        let (other, _) = unsafe { warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE) };
        value += other;
        delta /= 2;
    }
    value
}
