//! Ridgepoint's kernels, one file per family: the kernels, their launch shape and their CPU
//! reference. A kernel's name and parameters are written here and nowhere else.

#![no_std]
#![allow(
    clippy::needless_range_loop,
    reason = "of iterators over arrays the compiler leaves copies in local memory"
)]

pub mod ceilings;
pub mod counter;
pub mod distributed;
pub mod elementwise;
pub mod functions;
pub mod gemv;
pub mod matmul;
pub mod norm;
pub mod normalize;
pub mod polynomial;
pub mod power;
pub mod real;
pub mod reduction;
pub mod stride;
pub mod studied;
#[cfg(not(target_arch = "nvptx64"))]
pub mod vector;
