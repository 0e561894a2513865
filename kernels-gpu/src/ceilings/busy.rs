//! A chase in one block while others read: what a load takes where memory, or the level 2 cache, is busy.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{atomic_load_64_device, atomic_store_64_device};
use cuda_std::misc::globaltimer;
use cuda_std::prelude::*;
use cuda_std::unroll;

use super::cache::{UNROLL, Words};
use super::chase::follow;
use super::{put_warp_sum, word_sum};

/// Words of `out` in [`chase_while_read()`] before those of the blocks that read.
pub const HEAD: usize = 4;

/// The first block's first thread follows `next` as [`chase()`](super::chase::chase()) does, and then writes the number of this
/// `launch` to `out[3]`. The other blocks read `x` meanwhile, which is divided evenly among them: in each pass a block reads the
/// chunk of the block that is one further on, until the chase has ended, at least once and at most `most` times. Each writes its
/// passes and their nanoseconds to its pair of words, from `out[HEAD]` on, and for each warp the wrapping sum of what it read.
///
/// # Safety
/// As for [`chase()`](super::chase::chase()), of `next` and `out[2]`. `x` is aligned to 16 bytes, and its length is a multiple of
/// [`UNROLL`] times the threads of all blocks but the first, below 2^32. The grid is one-dimensional, of whole warps. `out` has room for
/// [`HEAD`] words and a pair for each other block, and `sums` for each warp. Launches are numbered from 1 on, and `out[3]` begins
/// below.
#[kernel]
pub unsafe fn chase_while_read(
    next: &[u32],
    steps: u32,
    x: &[Words],
    most: u32,
    launch: u64,
    out: *mut u64,
    sums: *mut u32,
) {
    let mut sum = 0;
    // SAFETY: the caller's contract. The word of the launch is touched by atomic accesses alone, the three before it by one
    // thread, and each pair by one block's first thread.
    unsafe {
        let ended = out.add(HEAD - 1);
        if thread::block_idx_x() > 0 {
            let began = globaltimer();
            let passes = read_until(ended, launch, x, most, &mut sum);
            if thread::thread_idx_x() == 0 {
                let pair = out.add(HEAD + 2 * (thread::block_idx_x() as usize - 1));
                *pair = passes.into();
                *pair.add(1) = globaltimer() - began;
            }
        } else if thread::thread_idx_x() == 0 {
            follow(next.as_ptr(), steps, out);
            atomic_store_64_device(ended, Ordering::Relaxed, launch);
        }
        put_warp_sum(sums, sum);
    }
}

/// Passes over `x` until `ended` says that this launch's chase has.
///
/// # Safety
/// As for [`chase_while_read()`]; all threads of the block come here.
#[inline(always)]
unsafe fn read_until(ended: *mut u64, launch: u64, x: &[Words], most: u32, sum: &mut u32) -> u32 {
    // This block is one. A compiler that did not know would keep a panic for a division by 0.
    let readers = (thread::grid_dim_x() - 1).max(1);
    // Of 32 bits: for a division of 64 `ptxas` calls a function, and keeps fewer loads in flight around it.
    let chunk = (x.len() as u32 / readers) as usize;
    let mut block = thread::block_idx_x() - 1;
    let mut passes = 0;
    while passes < most {
        // SAFETY: the caller's contract.
        unsafe { read_chunk(x.as_ptr().add(block as usize * chunk), chunk, sum) };
        passes += 1;
        block = if block + 1 < readers { block + 1 } else { 0 };
        // SAFETY: as above.
        let is_over = thread::thread_idx_x() == 0
            && unsafe { atomic_load_64_device(ended, Ordering::Relaxed) } >= launch;
        // All threads leave after the same pass.
        if thread::sync_threads_or(is_over.into()) != 0 {
            break;
        }
    }
    passes
}

/// The block reads so many vectors, and adds the words to `sum`.
///
/// # Safety
/// There are so many, a multiple of [`UNROLL`] times the block's threads, aligned to 16 bytes.
#[inline(always)]
unsafe fn read_chunk(chunk: *const Words, vectors: usize, sum: &mut u32) {
    let threads = thread::block_dim_x() as usize;
    let mut first = thread::thread_idx_x() as usize;
    while first < vectors {
        let mut words: [Words; UNROLL] = [[0; 4]; UNROLL];
        unroll!(J in 0..8 => {
            // SAFETY: a step's vectors are among those of the chunk, which has whole steps, by the contract.
            words[J] = unsafe { vector::load(chunk.add(first + J * threads).cast()) };
        });
        unroll!(J in 0..8 => {
            *sum = sum.wrapping_add(word_sum(words[J]));
        });
        first += UNROLL * threads;
    }
}
