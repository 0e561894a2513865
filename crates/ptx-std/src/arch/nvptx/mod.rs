//! The GPU's own instructions, through LLVM's intrinsics.
//!
//! Barriers, shuffles, votes and matches go through intrinsics and never through `asm!`, which is
//! not `convergent`: the compiler may copy it into both arms of a branch.

pub(crate) mod async_copy;
pub(crate) mod atomic;
mod division;
pub(crate) mod float;
pub(crate) mod intrinsics;
mod memory;
pub(crate) mod misc;
pub(crate) mod packed;
mod panic;
pub(crate) mod ptr;
mod registers;
pub(crate) mod tensor;
mod warp;

pub(crate) use memory::*;
pub use memory::{__assertfail, vprintf};
pub(crate) use registers::*;
pub(crate) use warp::*;
