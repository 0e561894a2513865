//! Theoretical occupancy of NVIDIA GPUs: how many blocks of a kernel a multiprocessor holds at once,
//! and what keeps it from holding more. Pure arithmetic; no GPU is needed.
//!
//! ```
//! use occupancy::{ComputeCapability, Kernel, Multiprocessor, Resource};
//!
//! let hopper = Multiprocessor::of(ComputeCapability::new(9, 0))?;
//! let kernel = Kernel { registers_per_thread: 128, ..Kernel::default() };
//! let occupancy = hopper.occupancy(&kernel, 256)?;
//! assert_eq!(occupancy.blocks, 2);
//! assert_eq!(occupancy.active_warps, 16);
//! assert_eq!(occupancy.fraction(), 0.25);
//! assert_eq!(occupancy.limited_by, [Resource::Registers]);
//! # Ok::<(), occupancy::OccupancyError>(())
//! ```
//!
//! The numbers of each compute capability are in one table, `capabilities.rs`, with their sources. What kernels are built for
//! (`cuda_builder::NvvmArch`) and what they can ask for (`cuda_std::cfg`) are made of the same rows; for a GPU this crate
//! is that table alone.
//! The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h` of CUDA 13):
//!
//! * registers are given to warps, in units of 256, and a warp's come from one of the four
//!   partitions of the multiprocessor;
//! * a launch is refused if the block's registers, with its warps rounded up to a multiple of four,
//!   exceed those of a block;
//! * shared memory is given to blocks, with what the system reserves, in units of 128 or 256 bytes.
//!
//! Not modelled: named barriers beyond the first of a block, thread block clusters, and a smaller
//! share of the cache as shared memory than the largest.

#![cfg_attr(target_arch = "nvptx64", no_std)]

mod capabilities;
#[cfg(not(target_arch = "nvptx64"))]
mod error;
#[cfg(not(target_arch = "nvptx64"))]
mod lanes;
#[cfg(not(target_arch = "nvptx64"))]
mod model;
#[cfg(not(target_arch = "nvptx64"))]
mod table;

#[cfg(not(target_arch = "nvptx64"))]
pub use error::OccupancyError;
#[cfg(not(target_arch = "nvptx64"))]
pub use lanes::Arithmetic;
#[cfg(not(target_arch = "nvptx64"))]
pub use model::{Kernel, Occupancy, Resource, WARP_THREADS};
#[cfg(not(target_arch = "nvptx64"))]
pub use table::{ComputeCapability, Multiprocessor};
