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
    feature(stdarch_nvptx, core_intrinsics),
    allow(internal_features)
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

#[cfg_attr(target_arch = "nvptx64", path = "arch/nvptx.rs")]
#[cfg_attr(not(target_arch = "nvptx64"), path = "arch/emulated.rs")]
mod arch;

#[cfg(not(target_arch = "nvptx64"))]
pub mod emulation;
pub mod float;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod thread;
pub mod vector;

pub use float::GpuFloat;
#[doc = include_str!("kernel.md")]
pub use ptx_std_macros::kernel;

/// What nearly every kernel needs.
pub mod prelude {
    pub use crate::{GpuFloat, kernel, thread, vector};
}
