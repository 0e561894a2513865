//! The same bytes read again and again: from the caches, or from shared memory.

use cuda_std::prelude::*;

use super::{put_warp_sum, word_sum};

/// Four words: what a thread reads at once.
pub type Words = [u32; 4];

/// Vectors that [`read_again()`] has in flight for each thread.
pub const UNROLL: usize = 8;

/// Bytes of a block's array in [`read_shared()`].
pub const SHARED_BYTES: usize = 32 << 10;

const SHARED_VECTORS: usize = SHARED_BYTES / size_of::<Words>();

/// Each block reads a chunk of `x` in each pass, and writes for each warp the wrapping sum of the
/// words that it read. `x` is divided evenly among the blocks. In pass p, block b reads the chunk of
/// the block that is `p * shift` further on: with a shift of 0 always its own, which may lie in the
/// multiprocessor's own cache, and with a shift of 1 one that another multiprocessor has read before.
///
/// # Safety
/// `x` is aligned to 16 bytes, and its length is a multiple of [`UNROLL`] times the threads of the
/// grid. The grid is one-dimensional, of whole warps, and `sums` has a place for each.
#[kernel]
pub unsafe fn read_again(x: &[Words], passes: u32, shift: u32, sums: *mut u32) {
    let threads = thread::block_dim_x() as usize;
    let blocks = thread::grid_dim_x();
    let chunk = x.len() / blocks as usize;
    let own = thread::thread_idx_x() as usize;
    let mut sum = [0u32; UNROLL];
    let mut block = thread::block_idx_x();
    for _ in 0..passes {
        let first = block as usize * chunk + own;
        let mut step = 0;
        while step < chunk {
            for (j, sum) in sum.iter_mut().enumerate() {
                let i = first + step + j * threads;
                // SAFETY: i is in the block's chunk, which a whole number of steps fills; the
                // caller vouches for that and for the alignment.
                let words: Words = unsafe { vector::load(x.as_ptr().add(i).cast()) };
                *sum = sum.wrapping_add(word_sum(words));
            }
            step += UNROLL * threads;
        }
        block = (block + shift) % blocks;
    }
    // SAFETY: every thread comes here; the caller vouches for the rest.
    unsafe { put_warp_sum(sums, sum.into_iter().fold(0, u32::wrapping_add)) };
}

/// Each block fills an array in shared memory, reads it again and again in vectors without bank
/// conflicts, and writes for each warp the wrapping sum of the words that it read. A thread reads
/// `passes` times [`UNROLL`] vectors.
///
/// # Safety
/// The grid is one-dimensional, of whole warps, and `sums` has a place for each.
#[kernel]
pub unsafe fn read_shared(passes: u32, sums: *mut u32) {
    let words = shared_array![Words; SHARED_VECTORS];
    let threads = thread::block_dim_x();
    let own = thread::thread_idx_x();
    let mut i = own;
    while i < SHARED_VECTORS as u32 {
        // SAFETY: i is below the array's length, and this thread's alone until the barrier.
        unsafe { vector::store(words.add(i as usize).cast(), shared_words(i)) };
        i += threads;
    }
    thread::sync_threads();
    let mut sum = [0u32; UNROLL];
    let mut first = own;
    for _ in 0..passes {
        for (j, sum) in sum.iter_mut().enumerate() {
            let i = shared_index(first, j as u32);
            // SAFETY: `shared_index` is below the array's length; all was written before the barrier.
            let words: Words = unsafe { vector::load(words.add(i as usize).cast()) };
            *sum = sum.wrapping_add(word_sum(words));
        }
        first = first.wrapping_add(threads);
    }
    // SAFETY: every thread comes here; the caller vouches for the rest.
    unsafe { put_warp_sum(sums, sum.into_iter().fold(0, u32::wrapping_add)) };
}

/// The vector that a thread reads as the `j`-th of a pass. Neighbouring threads read neighbouring
/// vectors, and the eight of a pass lie at fixed distances, which the load's offset holds.
#[inline(always)]
fn shared_index(first: u32, j: u32) -> u32 {
    const PART: u32 = (SHARED_VECTORS / UNROLL) as u32;
    first % PART + j * PART
}

/// Returns vector `i` of the shared array.
#[inline(always)]
fn shared_words(i: u32) -> Words {
    [i, i ^ 0x5555, i.wrapping_mul(0x9E37_79B1), !i]
}

/// The wrapping sum of all words that the threads of a [`read_shared()`] launch read.
#[cfg(not(target_arch = "nvptx64"))]
pub fn shared_reference(blocks: u32, threads: u32, passes: u32) -> u32 {
    let mut of_block = 0u32;
    for thread in 0..threads {
        for pass in 0..passes {
            let first = thread.wrapping_add(pass.wrapping_mul(threads));
            for j in 0..UNROLL as u32 {
                let words = shared_words(shared_index(first, j));
                of_block = of_block.wrapping_add(word_sum(words));
            }
        }
    }
    of_block.wrapping_mul(blocks)
}
