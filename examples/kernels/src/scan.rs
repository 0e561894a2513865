//! The exclusive prefix sum, in three launches: the sum of each tile, the prefix of these sums, and
//! the prefix within each tile with its tile's added.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_idx, warp_shuffle_up};

/// Threads per block.
pub const BLOCK: u32 = 256;
/// Elements that a thread reads at once.
const WIDTH: usize = 4;
/// How often it does.
const ROUNDS: usize = 4;
/// Elements that a block reads at once.
const ROUND: usize = BLOCK as usize * WIDTH;
/// Elements that a block works on.
pub const TILE: usize = ROUND * ROUNDS;
const WARPS: usize = (BLOCK / WARP_SIZE) as usize;

/// The sum, wrapping, of each tile of `x`: a block for each.
///
/// # Safety
/// `sums` has room for one element per block, and `x` is aligned to 16 bytes.
#[kernel(block = [BLOCK])]
pub unsafe fn tile_sums(x: &[u32], sums: *mut u32) {
    let mut sum = 0u32;
    for round in 0..ROUNDS {
        sum = sum.wrapping_add(total(load(x, own_index(round))));
    }
    let (_, total) = block_scan(sum);
    if thread::thread_idx_x() == 0 {
        // SAFETY: the caller's contract.
        unsafe { *sums.add(thread::block_idx_x() as usize) = total };
    }
}

/// Replaces each element of `sums` by the sum, wrapping, of those before it: one block.
///
/// # Safety
/// `sums` has `len` elements and is aligned to 16 bytes.
#[kernel(block = [BLOCK])]
pub unsafe fn scan_sums(sums: *mut u32, len: u32) {
    let mut before = 0u32;
    let len = len as usize;
    for first in (0..len).step_by(ROUND) {
        let index = first + thread::thread_idx_x() as usize * WIDTH;
        // SAFETY: the caller's contract; no other thread writes the elements that this one reads.
        let values = load(unsafe { core::slice::from_raw_parts(sums, len) }, index);
        let (own, round) = block_scan(total(values));
        // SAFETY: as above.
        unsafe { store(sums, len, index, prefix(values, before.wrapping_add(own))) };
        before = before.wrapping_add(round);
    }
}

/// `y` gets for each element of `x` the sum, wrapping, of those before it: a block for each tile.
/// `sums` has for each tile the sum of those before it.
///
/// # Safety
/// `y` has room for as many elements as `x`, and all are aligned to 16 bytes. A block without a sum does nothing.
#[kernel(block = [BLOCK])]
pub unsafe fn scan_tiles(x: &[u32], sums: &[u32], y: *mut u32) {
    let Some(&(mut before)) = sums.get(thread::block_idx_x() as usize) else {
        return;
    };
    for round in 0..ROUNDS {
        let index = own_index(round);
        let values = load(x, index);
        let (own, round) = block_scan(total(values));
        // SAFETY: the caller's contract; each element is one thread's.
        unsafe { store(y, x.len(), index, prefix(values, before.wrapping_add(own))) };
        before = before.wrapping_add(round);
    }
}

/// Where this thread's elements of the round begin.
fn own_index(round: usize) -> usize {
    let tile = thread::block_idx_x() as usize * TILE;
    tile + round * ROUND + thread::thread_idx_x() as usize * WIDTH
}

/// The elements from `index` on, 0 behind the end.
fn load(x: &[u32], index: usize) -> [u32; WIDTH] {
    if index + WIDTH <= x.len() {
        // SAFETY: inside `x`, whose start is aligned to 16 bytes, as is `index` to 4 elements.
        unsafe { vector::load(x.as_ptr().add(index)) }
    } else {
        core::array::from_fn(|i| x.get(index + i).copied().unwrap_or(0))
    }
}

/// # Safety
/// `y` has `len` elements, of which no other thread has those from `index` on.
unsafe fn store(y: *mut u32, len: usize, index: usize, values: [u32; WIDTH]) {
    if index + WIDTH <= len {
        // SAFETY: as in `load`.
        unsafe { vector::store(y.add(index), values) };
    } else {
        for (i, value) in values.into_iter().enumerate() {
            if index + i < len {
                // SAFETY: below `len`.
                unsafe { *y.add(index + i) = value };
            }
        }
    }
}

fn total(values: [u32; WIDTH]) -> u32 {
    values.into_iter().fold(0, u32::wrapping_add)
}

/// For each value the sum of `before` and the values before it.
fn prefix(values: [u32; WIDTH], mut before: u32) -> [u32; WIDTH] {
    values.map(|value| {
        let own = before;
        before = before.wrapping_add(value);
        own
    })
}

/// The sum over the threads of the block before this one, and over all of them.
fn block_scan(value: u32) -> (u32, u32) {
    let warp_sums = shared_array![u32; WARPS];
    let lane = lane_id();
    let warp = (thread::thread_idx_x() / WARP_SIZE) as usize;
    let inclusive = warp_scan(value);
    if lane == WARP_SIZE - 1 {
        // SAFETY: a block of BLOCK threads has WARPS warps.
        unsafe { *warp_sums.add(warp) = inclusive };
    }
    thread::sync_threads();
    let of_warp = if (lane as usize) < WARPS {
        // SAFETY: in the array, and written before the barrier.
        unsafe { *warp_sums.add(lane as usize) }
    } else {
        0
    };
    let warps = warp_scan(of_warp);
    // SAFETY: blocks are of whole warps, all lanes of which come here.
    let (through_own, _) = unsafe { warp_shuffle_idx(FULL_MASK, warps, warp as u32, WARP_SIZE) };
    // SAFETY: as above.
    let (own, _) = unsafe { warp_shuffle_idx(FULL_MASK, of_warp, warp as u32, WARP_SIZE) };
    // SAFETY: as above.
    let (all, _) = unsafe { warp_shuffle_idx(FULL_MASK, warps, WARPS as u32 - 1, WARP_SIZE) };
    // The next call must not overwrite what a slow warp has still to read.
    thread::sync_threads();
    let before_warp = through_own.wrapping_sub(own);
    (before_warp.wrapping_add(inclusive).wrapping_sub(value), all)
}

/// The sum over this lane and those before it.
fn warp_scan(mut value: u32) -> u32 {
    let mut delta = 1;
    while delta < WARP_SIZE {
        // SAFETY: blocks are of whole warps, all lanes of which come here.
        let (other, in_warp) = unsafe { warp_shuffle_up(FULL_MASK, value, delta, WARP_SIZE) };
        if in_warp {
            value = value.wrapping_add(other);
        }
        delta *= 2;
    }
    value
}
