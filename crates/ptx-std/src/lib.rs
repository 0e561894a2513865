//! Device standard library for GPU kernels written in Rust, with the names of Rust-CUDA's
//! `cuda_std`. Kernel crates depend on it as
//! `cuda_std = { package = "ridgepoint-ptx-std", .. }` and begin with `use cuda_std::prelude::*;`.
//!
//! The same kernel source is compiled twice. For `nvptx64-nvidia-cuda` every function here is the
//! GPU's own instruction. For the host each asks the emulator that runs the kernel
//! ([`emulation`]), and [`launch`] describes the kernels to whoever launches them.
//!
//! Examples run on the host. Those of instructions that only a GPU has ([`cluster`], [`mbarrier`], [`tma`],
//! [`wgmma`] ..) have a kernel that the host compiles and does not call; `tests/device/hopper_examples.rs` of this crate builds
//! it for `sm_90a` and runs it on the engine.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        asm_experimental_arch,
        const_type_name,
        core_intrinsics,
        link_llvm_intrinsics,
        stdarch_nvptx
    ),
    allow(internal_features)
)]

extern crate alloc;
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

#[cfg_attr(target_arch = "nvptx64", path = "arch/nvptx/mod.rs")]
#[cfg_attr(not(target_arch = "nvptx64"), path = "arch/emulated/mod.rs")]
mod arch;

pub mod approx;
pub mod async_copy;
pub mod atomic;
pub mod cfg;
pub mod cluster;
#[cfg(target_arch = "nvptx64")]
pub mod constant;
pub mod cooperative;
#[cfg(any(target_arch = "nvptx64", test))]
mod division;
#[cfg(not(target_arch = "nvptx64"))]
pub mod emulation;
pub mod float;
pub mod grid_dependency;
pub mod group;
pub mod intrinsics;
pub mod io;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
mod math;
pub mod mbarrier;
pub mod mem;
pub mod misc;
pub mod mma;
mod output;
mod own;
pub mod packed;
pub mod parameter;
pub mod ptr;
pub mod shared;
pub mod thread;
pub mod tma;
mod unroll;
pub mod vector;
pub mod warp;
pub mod warpgroup;
pub mod wgmma;

pub use approx::ApproxFloat;
// As in Rust-CUDA: `cuda_std::assert_eq!`.
pub use core::{assert_eq, assert_ne};
pub use float::{FloatExt, GpuFloat};
#[cfg(not(feature = "glam-0-33"))]
pub use glam;
pub use half::{self, bf16, f16};
#[cfg(feature = "glam-0-33")]
pub use new_glam as glam;
pub use output::{BlockOutput, Output, Output2, Output3, Row, RowOutput, Tile, WarpOutput};
#[doc = include_str!("kernel.md")]
pub use ptx_std_macros::kernel;
pub use ptx_std_macros::{address_space, externally_visible, gpu_only, shared_array, shared_tile};

/// The items that nearly every kernel needs.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// A constant of all kernels: read through the constant cache.
/// #[address_space(constant)]
/// static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
///
/// /// Kept in the PTX under this name, for others to call.
/// #[externally_visible]
/// pub extern "C" fn smooth(x: &[f32; 3]) -> f32 {
///     core::iter::zip(x, &WEIGHTS).map(|(x, weight)| x * weight).sum()
/// }
///
/// /// An instruction in assembly, which has no host form.
/// #[gpu_only]
/// pub fn smid() -> u32 {
///     let id: u32;
///     // SAFETY: the instruction reads a register.
///     unsafe { core::arch::asm!("mov.u32 {}, %smid;", out(reg32) id) };
///     id
/// }
///
/// assert_eq!(smooth(&[4.0, 2.0, 4.0]), 3.0);
/// // Halves, and what allocates, from the device's heap:
/// assert_eq!(f16::from_f32(1.5).to_f32() + bf16::from_f32(0.5).to_f32(), 2.0);
/// let shared: Rc<Vec<String>> = Rc::new(vec![format!("{}", 1), "2".to_owned(), 3.to_string()]);
/// let boxed: Box<[String]> = shared.to_vec().into_boxed_slice();
/// assert_ne!(boxed[0], boxed[1]);
/// assert_eq!(shared.len(), boxed.len());
/// ```
pub mod prelude {
    pub use crate::parameter::SafeValue;
    pub use crate::{
        BlockOutput, GpuFloat, Output, Output2, Output3, WarpOutput, address_space, bf16,
        externally_visible, f16, gpu_only, kernel, print, println, shared, shared_array,
        shared_tile, thread, vector, warp,
    };
    pub use alloc::borrow::ToOwned;
    pub use alloc::boxed::Box;
    pub use alloc::format;
    pub use alloc::rc::Rc;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec;
    pub use alloc::vec::Vec;
    pub use core::{assert_eq, assert_ne};
}
