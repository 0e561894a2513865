//! A kernel crate as users of Rust-CUDA write theirs: nothing says `no_std`, the edition is older, and
//! a crate of others depends on `cuda_std` itself.

extern crate alloc;

pub mod allocation;
pub mod atomics;
pub mod exchange;
pub mod parameters;
pub mod printing;
pub mod scale;
pub mod shared;
pub mod vectors;

// The module has the kernel's name: on the host that is a type's name too, so all is taken at once.
pub use crate::scale::*;
