//! Device standard library for GPU kernels written in Rust, with the names of Rust-CUDA's
//! `cuda_std`. Kernel crates depend on it as
//! `cuda_std = { package = "ptx-std", .. }` and begin with `use cuda_std::prelude::*;`.
//!
//! The same kernel source is compiled twice. For `nvptx64-nvidia-cuda` every function here is the
//! GPU's own instruction. For the host each asks the emulator that runs the kernel
//! ([`emulation`]), and [`launch`] describes the kernels to whoever launches them.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, core_intrinsics, stdarch_nvptx),
    allow(internal_features)
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

#[cfg_attr(target_arch = "nvptx64", path = "arch/nvptx.rs")]
#[cfg_attr(not(target_arch = "nvptx64"), path = "arch/emulated.rs")]
mod arch;

pub mod approx;
pub mod async_copy;
pub mod atomic;
#[cfg(not(target_arch = "nvptx64"))]
pub mod emulation;
pub mod float;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod misc;
pub mod ptr;
mod special;
pub mod thread;
pub mod vector;

pub use approx::ApproxFloat;
pub use float::{FloatExt, GpuFloat};
pub use half::{self, bf16, f16};
#[doc = include_str!("kernel.md")]
pub use ptx_std_macros::kernel;

/// What nearly every kernel needs.
pub mod prelude {
    pub use crate::{GpuFloat, f16, kernel, thread, vector};
}
