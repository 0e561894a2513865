//! Clusters: blocks that run at the same time and reach each other's shared memory. They need `sm_90`.
//!
//! A launch says how many blocks a cluster has (`ridgepoint_driver::Prepared::with_cluster`); where it does not,
//! a block is a cluster of its own.
//!
//! ```
//! use cuda_std::cluster::{self, BlockRank};
//! use cuda_std::prelude::*;
//!
//! /// The share of each cluster in the mean of the grid's blocks: element n of `x` is block n's.
//! ///
//! /// # Safety
//! /// `shares` has room for an element per cluster.
//! #[kernel]
//! pub unsafe fn mean_shares(x: &[f32], shares: *mut f32) {
//!     let value = shared_array![f32; 1];
//!     let is_first = thread::thread_idx_x() == 0;
//!     // SAFETY: all threads of the cluster come to each barrier. One thread writes in front of the first;
//!     // no block ends, or writes, while others read.
//!     unsafe {
//!         if is_first {
//!             *value = x[thread::block_idx_x() as usize];
//!         }
//!         cluster::sync();
//!         if is_first && cluster::rank() == BlockRank(0) {
//!             let mut sum = 0.0;
//!             for block in 0..cluster::size() {
//!                 sum += *cluster::map_shared(value, BlockRank(block));
//!             }
//!             let blocks = cluster::size() * cluster::count_x();
//!             *shares.add(cluster::index_x() as usize) = sum / blocks as f32;
//!         }
//!         cluster::arrive();
//!         // What needs no other block's memory goes here.
//!         cluster::wait();
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(mean_shares::PARAMETERS.len(), 2);
//! ```

use ptx_std_macros::gpu_only;

/// The number of a block in its cluster, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockRank(pub u32);

/// The number of the running block in its cluster.
#[gpu_only]
#[inline(always)]
pub fn rank() -> BlockRank {
    BlockRank(crate::arch::cluster_rank())
}

/// How many blocks the cluster has.
#[gpu_only]
#[inline(always)]
pub fn size() -> u32 {
    crate::arch::cluster_size()
}

/// The number of the cluster in the grid, counted along x.
#[gpu_only]
#[inline(always)]
pub fn index_x() -> u32 {
    crate::arch::cluster_index_x()
}

/// How many clusters the grid has along x.
#[gpu_only]
#[inline(always)]
pub fn count_x() -> u32 {
    crate::arch::cluster_count_x()
}

/// Waits until all threads of the cluster have come here, and makes what they wrote before it visible to all
/// of them after it.
///
/// # Safety
/// All threads of the cluster that have not ended reach the same call.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync() {
    crate::arch::tensor::cluster_arrive();
    crate::arch::tensor::cluster_wait();
}

/// Arrives at the cluster's barrier; what this thread wrote before is visible to those who have [`wait`]ed.
///
/// # Safety
/// As for [`sync`]; the thread's next call of this module's barriers is [`wait`].
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive() {
    crate::arch::tensor::cluster_arrive();
}

/// Waits until all threads of the cluster have arrived.
///
/// # Safety
/// As for [`sync`], after [`arrive`].
#[gpu_only]
#[inline(always)]
pub unsafe fn wait() {
    crate::arch::tensor::cluster_wait();
}

/// Where the place `pointer` of this block's shared memory is in that of another block: distributed shared
/// memory.
///
/// # Safety
/// `pointer` points into the block's shared memory, and the other is of the same cluster. What is had may be
/// accessed while that block runs: a [`sync`] stands before the first access, and one after the last.
#[gpu_only]
#[inline(always)]
pub unsafe fn map_shared<T>(pointer: *mut T, block: BlockRank) -> *mut T {
    crate::arch::tensor::map_shared(pointer.cast(), block.0).cast()
}
