//! Kernels that measure what a Hopper GPU does at most, by instructions that `sm_90a` alone has: each does one thing as
//! fast as it can be done.
//!
//! * [`tensor`]: products of matrices on tensor cores, of operands that stay where they are
//! * [`clusters`]: shared memory of another block
//! * [`arrivals`]: barriers in shared memory
//! * [`boxes`]: bulk copies of boxes of a tensor

#![no_std]

pub mod arrivals;
pub mod boxes;
pub mod clusters;
pub mod tensor;

use cuda_std::warp::{FULL_MASK, WarpReductionOp, warp_reduce};
use cuda_std::{thread, warp};

/// The words that a thread moves at once, and a vector of an image of shared memory.
pub type Piece = [u32; 4];

/// Writes the wrapping sum of the `sum` of each lane to the warp's place.
///
/// # Safety
/// All threads of the warp come here, blocks are whole warps, and `sums` has a place for each warp of the grid.
#[inline(always)]
unsafe fn put_warp_sum(sums: *mut u32, sum: u32) {
    // SAFETY: all lanes are here, by the contract.
    let sum = unsafe { warp_reduce(FULL_MASK, sum, WarpReductionOp::Add) };
    if warp::lane_id() == 0 {
        // SAFETY: one lane writes, to the warp's own place.
        unsafe { *sums.add(thread::global_index() / warp::WARP_SIZE as usize) = sum };
    }
}

/// The wrapping sum of a vector's words.
#[inline(always)]
fn word_sum(piece: Piece) -> u32 {
    piece.into_iter().fold(0, u32::wrapping_add)
}
