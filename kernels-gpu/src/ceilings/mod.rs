//! Kernels that measure what a device can do: each does one thing as fast as it can be done.
//!
//! * [`stream`]: memory read, written, copied, scaled and combined
//! * [`cache`]: the same bytes read again and again, from a cache or from shared memory
//! * [`chains`](mod@chains): arithmetic in independent chains of dependent operations
//! * [`banks`]: words of shared memory from one bank or from many
//! * [`atomics`]: additions to one counter or to many
//! * [`exchange`]: shuffles and votes of a warp
//! * [`chase`](mod@chase): loads and atomic operations of which each needs the one before
//! * [`busy`]: a chase while others read
//! * [`partitions`]: loads from lines of the level 2 cache that are near or far
//! * [`barrier`]: what barriers of a block and of the grid take
//! * [`clock`]: what the multiprocessors' clocks show
//! * [`peer`]: additions to another device's memory

pub mod atomics;
pub mod banks;
pub mod barrier;
pub mod busy;
pub mod cache;
pub mod chains;
pub mod chase;
pub mod clock;
pub mod exchange;
pub mod partitions;
pub mod peer;
pub mod stream;

use cuda_std::warp::{FULL_MASK, WarpReductionOp, warp_reduce};
use cuda_std::{thread, warp};

/// Threads of a block of these kernels that have a sum to write come in whole warps.
pub const WARP: u32 = warp::WARP_SIZE;

/// Writes the wrapping sum of the `sum` of each lane to the warp's place.
///
/// # Safety
/// All threads of the warp come here, blocks are whole warps, and `sums` has a place for each warp
/// of the grid.
#[inline(always)]
unsafe fn put_warp_sum(sums: *mut u32, sum: u32) {
    // SAFETY: all lanes are here, by the contract.
    let sum = unsafe { warp_reduce(FULL_MASK, sum, WarpReductionOp::Add) };
    if thread::thread_idx_x().is_multiple_of(WARP) {
        // SAFETY: one thread a warp writes, to the warp's own place.
        unsafe { *sums.add(thread::global_index() / WARP as usize) = sum };
    }
}

/// The wrapping sum of a vector's words.
#[inline(always)]
fn word_sum(vector: [u32; 4]) -> u32 {
    vector.into_iter().fold(0, u32::wrapping_add)
}
