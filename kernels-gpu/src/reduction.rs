//! Sums over a block, and over a grid in one launch. The order of the additions depends on the
//! launch's shape alone, so the same launch gives the same bits.

use cuda_std::atomic::{Ordering, mid::atomic_fetch_add_u32_device};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_xor};

use crate::real::Float;

/// The most warps that a block has.
const MOST_WARPS: usize = 32;

/// The sum over the lanes of a warp, in all of them. Every lane comes here.
#[inline(always)]
pub fn warp_sum<T: Float, const K: usize>(mut sums: [T; K]) -> [T; K] {
    let mut bits = WARP_SIZE / 2;
    while bits > 0 {
        for k in 0..K {
            // SAFETY: all lanes come here.
            let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, sums[k], bits, WARP_SIZE) };
            // Both lanes add the same two numbers, so all lanes end with the same bits.
            sums[k] = sums[k] + other;
        }
        bits /= 2;
    }
    sums
}

/// The sums over the threads of a block, in all of them. All threads come here, whole warps of them;
/// between two calls lies a barrier.
#[inline(always)]
pub fn block_sum<T: Float, const K: usize>(own: [T; K]) -> [T; K] {
    let warp_sums = shared_array![[T; K]; MOST_WARPS];
    let lane = lane_id() as usize;
    let warp = (thread::thread_idx_x() / WARP_SIZE) as usize;
    let sum = warp_sum(own);
    if lane == 0 {
        // SAFETY: a block has at most MOST_WARPS warps.
        unsafe { *warp_sums.add(warp) = sum };
    }
    thread::sync_threads();
    let warps = (thread::block_dim_x() / WARP_SIZE) as usize;
    let of_lane = if lane < warps {
        // SAFETY: in the array, and written before the barrier.
        unsafe { *warp_sums.add(lane) }
    } else {
        [T::default(); K]
    };
    warp_sum(of_lane)
}

/// The sums over all threads of a one-dimensional grid, in all threads of one block: the one that
/// is done last. The others get `None`.
///
/// # Safety
/// `partials` has `K` elements a block. `ticket` is 0 before its first use, and again after the
/// launch. Nothing else touches either meanwhile. All threads of the grid come here once, in blocks
/// of one dimension and whole warps.
#[inline(always)]
pub unsafe fn grid_sum<const K: usize>(
    own: [f64; K],
    partials: *mut [f64; K],
    ticket: *mut u32,
) -> Option<[f64; K]> {
    let of_block = block_sum(own);
    let blocks = thread::grid_dim_x();
    if blocks == 1 {
        return Some(of_block);
    }
    let is_last = shared_array![u32; 1];
    if thread::thread_idx_x() == 0 {
        // SAFETY: an element a block. The ticket releases it, and acquires those of the blocks that
        // came before; the barrier below hands that on to the block.
        unsafe {
            *partials.add(thread::block_idx_x() as usize) = of_block;
            let before = atomic_fetch_add_u32_device(ticket, Ordering::AcqRel, 1);
            *is_last = u32::from(before == blocks - 1);
        }
    }
    thread::sync_threads();
    // SAFETY: written before the barrier.
    if unsafe { *is_last } == 0 {
        return None;
    }
    if thread::thread_idx_x() == 0 {
        // SAFETY: no other block reads the ticket any more.
        unsafe { *ticket = 0 };
    }
    // SAFETY: every block has written its element.
    Some(unsafe { sum_of_blocks(partials) })
}

/// Adds up an element of `partials` for each block of the grid, in the same order in every block.
///
/// # Safety
/// Each block has written its element, and a barrier lies between.
#[inline(always)]
pub unsafe fn sum_of_blocks<const K: usize>(partials: *const [f64; K]) -> [f64; K] {
    let mut own = [0.0; K];
    let mut block = thread::thread_idx_x();
    while block < thread::grid_dim_x() {
        // SAFETY: an element for each block.
        let of_block = unsafe { *partials.add(block as usize) };
        for k in 0..K {
            own[k] += of_block[k];
        }
        block += thread::block_dim_x();
    }
    block_sum(own)
}
