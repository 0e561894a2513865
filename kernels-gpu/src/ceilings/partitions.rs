//! Loads from the level 2 cache, each timed by itself: how far from a multiprocessor a line is.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{atomic_load_32_device, atomic_store_32_device};
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;

/// Lines of each block in [`time_lines()`]. A power of two.
pub const LINES: u32 = 512;

/// Elements of a line of 128 bytes.
pub const LINE: u32 = 32;

/// From a line to the next that is loaded. Odd, so that all come in turn.
const STEP: u32 = 97;

/// Each block, of one thread, loads the first word of each of its lines, by which it finds the next, and writes how many cycles
/// each load took to the line's place. The first block writes the cycles and nanoseconds of all its loads to `out`. Then each
/// block writes the lines of the next block anew, with the same words: where a partition of the cache keeps copies of another's
/// lines, the next launch finds none.
///
/// # Safety
/// `words` has [`LINES`] lines for each block: line j of block b begins at [`element`] of the two, with [`next`] of j. `cycles` has
/// as many places, and `out` two. Blocks are of one thread, in a grid of one dimension.
#[kernel]
pub unsafe fn time_lines(words: *mut u32, cycles: *mut u32, out: *mut u64) {
    let found = shared_array![u32; 1];
    let times = shared_array![u32; LINES as usize];
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    let began = (clock(), globaltimer());
    let mut line = 0;
    for _ in 0..LINES {
        // SAFETY: there is such a line, by the contract, and each of its words names one; the block has no other thread.
        unsafe {
            let place = words.add(element(line, block, blocks) as usize);
            let before = clock();
            let after = atomic_load_32_device(place, Ordering::Relaxed);
            // Written before the clock is read, so that the load has come.
            *found = after;
            *times.add(line as usize) = (clock() - before) as u32;
            line = after;
        }
    }
    // SAFETY: the places exist, by the contract, and are this block's; two blocks may write a line, the same and by atomic stores.
    unsafe {
        if block == 0 {
            *out = clock() - began.0;
            *out.add(1) = globaltimer() - began.1;
        }
        for line in 0..LINES {
            *cycles.add((block * LINES + line) as usize) = *times.add(line as usize);
            let place = words.add(element(line, (block + 1) % blocks, blocks) as usize);
            atomic_store_32_device(place, Ordering::Relaxed, next(line));
        }
    }
}

/// Where a block's line begins: neighbouring lines are of neighbouring blocks.
#[inline(always)]
pub fn element(line: u32, block: u32, blocks: u32) -> u32 {
    (line * blocks + block) * LINE
}

/// The line that is loaded after this one.
#[inline(always)]
pub fn next(line: u32) -> u32 {
    (line + STEP) % LINES
}
