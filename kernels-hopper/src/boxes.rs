//! Bulk copies of boxes of a tensor (TMA): into shared memory, out of it, and one after the other.
//!
//! The tensor has rows of [`COLUMNS`] words, and a box is [`ROWS`] whole rows, so that its bytes lie side by side.

use cuda_std::mbarrier::{Barrier, Parity, Ring, fence_init};
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};

use crate::{Piece, put_warp_sum, word_sum};

/// Words of a row.
pub const COLUMNS: u32 = 256;
/// Rows of a box.
pub const ROWS: u32 = 16;
/// Words of a box.
pub const BOX_WORDS: u32 = COLUMNS * ROWS;
/// Boxes that a block has in shared memory, on their way.
pub const STAGES: u32 = 8;
/// Dynamic shared memory of [`load_boxes()`] and of [`store_boxes()`].
pub const SHARED_BYTES: u32 = STAGES * BOX_BYTES;

const BOX_BYTES: u32 = BOX_WORDS * size_of::<u32>() as u32;
const PIECES: u32 = BOX_BYTES / size_of::<Piece>() as u32;

/// Warps of [`load_boxes()`] that read what has come; another one brings it.
const READERS: u32 = 4;
/// Threads per block of [`load_boxes()`].
pub const LOAD_THREADS: u32 = (READERS + 1) * 32;
/// Vectors of a box that one of their threads reads.
const EACH: u32 = PIECES / (READERS * 32);

/// Brings all `boxes` of a tensor into shared memory, `passes` times, each block every so many as there are blocks. Writes for each
/// warp the wrapping sum of the words that it read there.
///
/// # Safety
/// Blocks of [`LOAD_THREADS`], with [`SHARED_BYTES`]; the map is of a tensor as the module describes, and `sums` has a place for
/// each warp.
#[kernel(block = [160])]
pub unsafe fn load_boxes(tensor: &TensorMap, boxes: u32, passes: u32, sums: *mut u32) {
    let stages: *mut [Piece; PIECES as usize] = dynamic_shared_mem();
    let (own, blocks) = (thread::thread_idx_x(), thread::grid_dim_x());
    let begin = thread::block_idx_x();
    // SAFETY: one thread makes the ring, and a barrier of the block follows.
    let ring = unsafe { Ring::<STAGES>::new(SharedPtr::new(shared_array![u64; 16])) };
    if own == 0 {
        ring.init(1, READERS);
    }
    thread::sync_threads();
    let mut sum = [0u32; EACH as usize];
    if own == READERS * 32 {
        let mut producer = ring.producer();
        for _ in 0..passes {
            let mut number = begin;
            while number < boxes {
                let free = producer.acquire();
                let to = SharedPtr::new(stages.wrapping_add(free.stage() as usize));
                let full = free.expect(BOX_BYTES);
                // SAFETY: the box is one of the tensor, and nobody touches the stage until it has come.
                unsafe { tensor.load([0, (number * ROWS) as i32], to, full) };
                number += blocks;
            }
        }
    } else if own < READERS * 32 {
        let mut consumer = ring.consumer();
        let boxes = boxes.saturating_sub(begin).div_ceil(blocks);
        for _ in 0..boxes * passes {
            let full = consumer.wait();
            let stage: *mut Piece = stages.wrapping_add(full.stage() as usize).cast();
            for (j, sum) in sum.iter_mut().enumerate() {
                let i = own + j as u32 * READERS * 32;
                // SAFETY: i is below the vectors of a box, which nobody touches before the release.
                let piece: Piece = unsafe { vector::load(stage.add(i as usize).cast()) };
                *sum = sum.wrapping_add(word_sum(piece));
            }
            // SAFETY: whole warps come here. A lane releases the stage when all have read.
            unsafe { warp::sync_warp(warp::FULL_MASK) };
            match warp::lane_id() {
                0 => full.release(),
                _ => full.leave(),
            }
        }
    }
    thread::sync_threads();
    // SAFETY: every thread comes here; the caller vouches for the rest.
    unsafe { put_warp_sum(sums, sum.into_iter().fold(0, u32::wrapping_add)) };
}

/// Threads per block of [`store_boxes()`].
pub const STORE_THREADS: u32 = 128;

/// Stores all `boxes` of a tensor from shared memory, each block every so many as there are blocks. It has [`STAGES`] of them, which
/// stay as they are, and takes them in turn: [`stored_word`] says what that makes of the tensor.
///
/// # Safety
/// Blocks of [`STORE_THREADS`], with [`SHARED_BYTES`]; the map is of a tensor as the module describes.
#[kernel(block = [128])]
pub unsafe fn store_boxes(tensor: &TensorMap, boxes: u32) {
    let stages: *mut [u32; BOX_WORDS as usize] = dynamic_shared_mem();
    let own = thread::thread_idx_x();
    let mut i = own;
    while i < STAGES * BOX_WORDS {
        // SAFETY: i is below the words of all stages, and this thread's alone until the barrier.
        unsafe { *stages.cast::<u32>().add(i as usize) = word(i) };
        i += STORE_THREADS;
    }
    tma::fence_shared();
    thread::sync_threads();
    if own == 0 {
        let (mut number, mut stage) = (thread::block_idx_x(), 0);
        while number < boxes {
            let from = SharedPtr::new(stages.wrapping_add(stage as usize));
            // SAFETY: the box is one of the tensor and this block's alone; nobody changes the stages.
            unsafe { tensor.store([0, (number * ROWS) as i32], from) };
            tma::commit_group();
            tma::wait_group_read::<{ STAGES - 1 }>();
            stage = (stage + 1) % STAGES;
            number += thread::grid_dim_x();
        }
        tma::wait_group::<0>();
    }
}

/// Word `i` of all stages together.
#[inline(always)]
fn word(i: u32) -> u32 {
    i.wrapping_mul(0x9E37_79B1) ^ 0x5555
}

/// Returns what [`store_boxes()`] makes of word `i` of the tensor, in a launch of so many `blocks`.
#[cfg(not(target_arch = "nvptx64"))]
pub fn stored_word(i: u64, blocks: u64) -> u32 {
    let (number, place) = (i / u64::from(BOX_WORDS), i as u32 % BOX_WORDS);
    let stage = (number / blocks) as u32 % STAGES;
    word(stage * BOX_WORDS + place)
}

/// Words of a row of the tensor of [`chase_rows()`], of which one is a box.
pub const LINE: u32 = 32;

/// Brings a row of a tensor, of [`LINE`] words, to shared memory, then the row that begins with the word of the number that its
/// first word is, and so on for `steps` rows from the one on that `out[2]` names. Writes how long that took, in cycles and in nanoseconds, and where it ended.
///
/// # Safety
/// The grid is one thread; the first word of each row is below the words of the tensor, and so is `out[2]`; `out` has 3 words.
#[kernel]
pub unsafe fn chase_rows(tensor: &TensorMap, steps: u32, out: *mut u64) {
    let row: *mut [u32; LINE as usize] = dynamic_shared_mem();
    // SAFETY: the one thread there is makes the barrier, and reads the row when it has come; rows exist by the contract.
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(shared_array![u64; 1]));
        barrier.init(1);
        fence_init();
        let (mut at, mut phase) = (*out.add(2) as u32, Parity::EVEN);
        let (ticks, nanoseconds) = (clock(), globaltimer());
        for _ in 0..steps {
            barrier.arrive_expect(LINE * size_of::<u32>() as u32);
            tensor.load([0, (at / LINE) as i32], SharedPtr::new(row), barrier);
            barrier.wait(phase);
            phase = phase.flipped();
            at = (*row)[0];
        }
        // Written before the clocks are read, so that the last row has come.
        *out.add(2) = u64::from(at);
        *out = clock() - ticks;
        *out.add(1) = globaltimer() - nanoseconds;
    }
}
