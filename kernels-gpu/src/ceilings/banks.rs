//! Words of shared memory, of which several lanes want some from the same bank at a time.

use cuda_std::prelude::*;

use super::put_warp_sum;

/// Words that a thread reads in a pass of [`read_banks()`].
pub const UNROLL: usize = 8;

const WORDS: usize = 8192;
const PART: u32 = (WORDS / UNROLL) as u32;

/// Each block fills an array in shared memory and reads it again and again: neighbouring lanes read words that are `stride`
/// apart. There are 32 banks, and word i is in bank i % 32, so with a stride of 2^n as many lanes want words from the same
/// bank, up to all of them. Writes for each warp the wrapping sum of the words that it read. A thread reads `passes` times
/// [`UNROLL`] words.
///
/// # Safety
/// The grid is one-dimensional, of whole warps, and `sums` has a place for each.
#[kernel]
pub unsafe fn read_banks(stride: u32, passes: u32, sums: *mut u32) {
    let words = shared_array![u32; WORDS];
    let mut i = thread::thread_idx_x();
    while i < WORDS as u32 {
        // SAFETY: i is below the array's length, and this thread's alone until the barrier.
        unsafe { *words.add(i as usize) = word(i) };
        i += thread::block_dim_x();
    }
    thread::sync_threads();
    let mut sum = [0u32; UNROLL];
    let mut first = warp::lane_id() * stride;
    for _ in 0..passes {
        for (j, sum) in sum.iter_mut().enumerate() {
            let i = index(first, j as u32);
            // SAFETY: `index` is below the array's length; all was written before the barrier.
            *sum = sum.wrapping_add(unsafe { *words.add(i as usize) });
        }
        first = first.wrapping_add(1);
    }
    // SAFETY: every thread comes here; the caller vouches for the rest.
    unsafe { put_warp_sum(sums, sum.into_iter().fold(0, u32::wrapping_add)) };
}

/// The word that a lane reads as the `j`-th of a pass. The eight of a pass lie at fixed distances, which the load's offset
/// holds.
#[inline(always)]
fn index(first: u32, j: u32) -> u32 {
    first % PART + j * PART
}

/// Returns word `i` of the array.
#[inline(always)]
fn word(i: u32) -> u32 {
    i.wrapping_mul(0x9E37_79B1) ^ 0x5555
}

/// Returns what each warp of a [`read_banks()`] launch writes.
#[cfg(not(target_arch = "nvptx64"))]
pub fn banks_reference(stride: u32, passes: u32) -> u32 {
    let mut sum = 0u32;
    for lane in 0..super::WARP {
        for pass in 0..passes {
            let first = (lane * stride).wrapping_add(pass);
            for j in 0..UNROLL as u32 {
                sum = sum.wrapping_add(word(index(first, j)));
            }
        }
    }
    sum
}
