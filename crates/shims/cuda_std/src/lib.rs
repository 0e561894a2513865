//! ptx-std under the name of Rust-CUDA's `cuda_std`. Crates that are not yours and depend on that one,
//! such as `gpu_rand`, get this in its place by one line in the `Cargo.toml` of the workspace:
//!
//! ```toml
//! [patch.crates-io]
//! cuda_std = { path = "../ridgepoint/crates/shims/cuda_std" }
//! ```

#![no_std]

pub use ptx_std::*;
