//! Exchanges between the lanes of a warp: shuffles and votes, each of which waits for the one before. With one warp they
//! show what one takes, and with many warps how many a multiprocessor does.

use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;
use cuda_std::unroll;
use cuda_std::warp::{FULL_MASK, warp_shuffle_idx, warp_vote_all};

use super::WARP;

/// Shuffles or votes between two looks at the loop's counter.
pub const LINE: u32 = 128;

/// Each lane takes the value of the next one, `lines` times [`LINE`] times, and writes the last. Values begin with
/// [`value()`]. The first thread of each block writes how long that took, in cycles and in nanoseconds.
///
/// # Safety
/// The grid is one-dimensional, of whole warps; `values` has a place for each thread, and `clocks` for each block.
#[kernel]
pub unsafe fn shuffle(lines: u32, values: *mut u32, clocks: *mut [u64; 2]) {
    let next = (warp::lane_id() + 1) % WARP;
    let mut own = value(thread::global_index() as u32);
    let begun = [clock(), globaltimer()];
    for _ in 0..lines {
        unroll!(_STEP in 0..128 => {
            // SAFETY: whole warps are here.
            own = unsafe { warp_shuffle_idx(FULL_MASK, own, next, WARP) }.0;
        });
    }
    // SAFETY: the caller's contract.
    unsafe { put(begun, own, values, clocks) };
}

/// All lanes vote on whether the last vote did not have all of them, `lines` times [`LINE`] times, and write what came of it.
/// In the first vote every other lane is for it. It comes out yes and no in turn, so the results do not tell how many votes
/// there were; the instructions do (`tests/library/ptx.rs`).
///
/// # Safety
/// As for [`shuffle()`].
#[kernel]
pub unsafe fn vote(lines: u32, values: *mut u32, clocks: *mut [u64; 2]) {
    let mut is_for = thread::thread_idx_x().is_multiple_of(2);
    let begun = [clock(), globaltimer()];
    for _ in 0..lines {
        unroll!(_STEP in 0..128 => {
            // SAFETY: whole warps are here.
            is_for = !unsafe { warp_vote_all(FULL_MASK, is_for) };
        });
    }
    // SAFETY: the caller's contract.
    unsafe { put(begun, u32::from(is_for), values, clocks) };
}

/// Returns the value of thread `i` before the first [`shuffle()`].
#[inline(always)]
pub fn value(i: u32) -> u32 {
    i.wrapping_mul(0x9E37_79B1)
}

/// # Safety
/// There is a place for each thread, and a clock for each block.
#[inline(always)]
unsafe fn put(begun: [u64; 2], value: u32, values: *mut u32, clocks: *mut [u64; 2]) {
    // SAFETY: the value's place is this thread's, and the clock's its block's, of which one thread writes it. The value is
    // written before the clocks are read.
    unsafe {
        *values.add(thread::global_index()) = value;
        if thread::thread_idx_x() == 0 {
            let passed = [clock() - begun[0], globaltimer() - begun[1]];
            *clocks.add(thread::block_idx_x() as usize) = passed;
        }
    }
}
