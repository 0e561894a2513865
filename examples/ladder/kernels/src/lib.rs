//! A matrix product in `bf16`, step by step: `C = A B`, of `A` by rows (`m` x `k`) and `B` by columns (`n` x `k`). Each step
//! is a file, and changes one thing of the step before. The last step is the library's product
//! ([`gemm`](gemm_kernels::pipeline::gemm)): its kernels are in this PTX, too.

#![no_std]

pub mod mma_sync;
pub mod multicast;
pub mod persistent;
pub mod pingpong;
pub mod producer;
pub mod tile;
pub mod wgmma;

use bytemuck::{Pod, Zeroable};

/// The sizes of a product: `m` rows and `n` columns of sums of `k` products each. `n` and `k` are multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Sizes {
    /// Rows of the result, and of `A`.
    pub m: u32,
    /// Columns of the result, and of `B`.
    pub n: u32,
    /// The inner dimension.
    pub k: u32,
}
