//! The GPU's own instructions, through LLVM's intrinsics.
//!
//! Barriers, shuffles, votes and matches go through intrinsics and never through `asm!`, which is
//! not `convergent`: the compiler may copy it into both arms of a branch.

mod memory;
mod registers;
mod warp;

use core::intrinsics;

pub(crate) use memory::*;
pub use memory::{__assertfail, vprintf};
pub(crate) use registers::*;
pub(crate) use warp::*;

#[inline(always)]
pub(crate) fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    intrinsics::fmaf32(a, b, c)
}

#[inline(always)]
pub(crate) fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
    intrinsics::fmaf64(a, b, c)
}

/// Says what happened where, and ends the grid; the host sees an error at its next call.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    use crate::thread::{block_idx, thread_idx};
    crate::println!("block {}, thread {}: {info}", block_idx(), thread_idx());
    intrinsics::abort()
}
