//! Shared memory of another block of the cluster: read again and again, and followed load by load.

use cuda_std::cluster::{self, BlockRank};
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;

use crate::{Piece, put_warp_sum, word_sum};

/// Vectors that a thread of [`read_neighbour()`] reads in a pass.
pub const UNROLL: usize = 8;

const PIECES: usize = 2048;
const PART: u32 = (PIECES / UNROLL) as u32;

/// Each block fills an array in shared memory, and reads that of the next block of its cluster again and again, in vectors
/// without bank conflicts. Writes for each warp the wrapping sum of the words that it read. A thread reads `passes` times
/// [`UNROLL`] vectors.
///
/// # Safety
/// The grid is one-dimensional, of whole warps, and `sums` has a place for each.
#[kernel]
pub unsafe fn read_neighbour(passes: u32, sums: *mut u32) {
    let pieces = shared_array![Piece; PIECES];
    let own = thread::thread_idx_x();
    let BlockRank(rank) = cluster::rank();
    let mut i = own;
    while i < PIECES as u32 {
        // SAFETY: i is below the array's length, and this thread's alone until the barrier.
        unsafe { vector::store(pieces.add(i as usize).cast(), piece(rank, i)) };
        i += thread::block_dim_x();
    }
    // SAFETY: all threads of the cluster come here.
    unsafe { cluster::sync() };
    let next = BlockRank((rank + 1) % cluster::size());
    // SAFETY: the block is of this cluster, and does not end before all have read.
    let there = unsafe { cluster::map_shared(pieces, next) };
    let mut sum = [0u32; UNROLL];
    let mut first = own;
    for _ in 0..passes {
        for (j, sum) in sum.iter_mut().enumerate() {
            let i = index(first, j as u32);
            // SAFETY: `index` is below the array's length; all was written before the barrier.
            let piece: Piece = unsafe { vector::load(there.add(i as usize).cast()) };
            *sum = sum.wrapping_add(word_sum(piece));
        }
        first = first.wrapping_add(thread::block_dim_x());
    }
    // SAFETY: all threads come here; the caller vouches for the rest.
    unsafe {
        put_warp_sum(sums, sum.into_iter().fold(0, u32::wrapping_add));
        cluster::sync();
    }
}

/// The vector that a thread reads as the `j`-th of a pass.
#[inline(always)]
fn index(first: u32, j: u32) -> u32 {
    first % PART + j * PART
}

/// Vector `i` of the block of this rank.
#[inline(always)]
fn piece(rank: u32, i: u32) -> Piece {
    [i ^ rank << 16, i.wrapping_mul(0x9E37_79B1), !i, rank]
}

/// Elements of the array of [`chase_neighbour()`].
pub const ELEMENTS: usize = 4096;

/// Block 0 of the cluster, of two blocks of one thread, follows `next`, which block 1 has in its shared memory, for `steps`
/// loads from the element on that `out[2]` names, and writes how long that took, in cycles and in nanoseconds, and where it
/// ended.
///
/// # Safety
/// The grid is one cluster. `next` has at most [`ELEMENTS`], each of which is below its length, and so is `out[2]`; `out` has 3
/// words.
#[kernel]
pub unsafe fn chase_neighbour(next: &[u32], steps: u32, out: *mut u64) {
    let elements = shared_array![u32; ELEMENTS];
    for i in 0..next.len() {
        // SAFETY: i < next.len(), which is no more than the array's length by the contract.
        unsafe { *elements.add(i) = *next.get_unchecked(i) };
    }
    // SAFETY: both blocks come to both barriers, and between them touch the array by loads alone; elements name others, by the
    // contract. Block 0 alone touches the three words.
    unsafe {
        cluster::sync();
        if cluster::rank() == BlockRank(0) {
            let there = cluster::map_shared(elements, BlockRank(1));
            let mut at = *out.add(2) as u32;
            let (ticks, nanoseconds) = (clock(), globaltimer());
            for _ in 0..steps {
                at = *there.add(at as usize);
            }
            // Written before the clocks are read, so that the last load has come.
            *out.add(2) = u64::from(at);
            *out = clock() - ticks;
            *out.add(1) = globaltimer() - nanoseconds;
        }
        cluster::sync();
    }
}

/// The wrapping sum of the words that a block reads in a [`read_neighbour()`] launch, of blocks of so many `threads` in clusters
/// of `blocks`.
#[cfg(not(target_arch = "nvptx64"))]
pub fn neighbour_reference(rank: u32, blocks: u32, threads: u32, passes: u32) -> u32 {
    let mut sum = 0u32;
    for thread in 0..threads {
        for pass in 0..passes {
            let first = thread.wrapping_add(pass.wrapping_mul(threads));
            for j in 0..UNROLL as u32 {
                let piece = piece((rank + 1) % blocks, index(first, j));
                sum = sum.wrapping_add(word_sum(piece));
            }
        }
    }
    sum
}
