//! The time of a barrier of all threads of a grid, or of a block.

use cuda_std::cooperative::sync_grid;
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;
use cuda_std::unroll;

/// Barriers between two looks at the loop's counter of [`wait_for_block()`].
pub const LINE: u32 = 8;

/// Waits `rounds` times for all threads of the grid. The first thread writes how long that took, in
/// cycles and in nanoseconds, and how many barriers it has passed.
///
/// # Safety
/// The launch keeps [`sync_grid`]'s contract, and `out` has room for 3 words.
#[kernel]
pub unsafe fn wait_for_grid(rounds: u32, arrivals: *mut u32, out: *mut u64) {
    let mut passed = 0u64;
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..rounds {
        // SAFETY: all threads come here as often; the caller vouches for the rest.
        unsafe { sync_grid(arrivals) };
        passed += 1;
    }
    if thread::first() {
        // SAFETY: three words, of one thread.
        unsafe {
            *out = clock() - ticks;
            *out.add(1) = globaltimer() - nanoseconds;
            *out.add(2) = passed;
        }
    }
}

/// Waits `lines` times [`LINE`] times for all threads of the block, the only one of the grid. The first thread writes how long
/// that took, in cycles and in nanoseconds, and how many barriers it has passed.
///
/// # Safety
/// `out` has room for 3 words.
#[kernel]
pub unsafe fn wait_for_block(lines: u32, out: *mut u64) {
    let mut passed = 0u64;
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..lines {
        unroll!(_BARRIER in 0..8 => {
            thread::sync_threads();
            passed += 1;
        });
    }
    if thread::first() {
        // SAFETY: three words, of one thread.
        unsafe {
            *out = clock() - ticks;
            *out.add(1) = globaltimer() - nanoseconds;
            *out.add(2) = passed;
        }
    }
}
