//! Blocks that bring tiles of `B` together.

use cuda_std::cluster::{self, BlockRank};
use cuda_std::mbarrier::{Barrier, Full};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;

/// The blocks of a cluster, whose tiles of the result have the same columns. Each brings a part of every tile of `B` to all of
/// them, so the L2 cache is read for it once.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    /// The running block's number.
    pub rank: u32,
    /// How many they are: a power of two.
    pub size: u32,
}

impl Team {
    /// A block that brings its tiles itself.
    pub const ALONE: Team = Team { rank: 0, size: 1 };

    /// Blocks of a team, where there is one.
    pub const PAIR: u32 = 2;

    /// The running block's cluster.
    #[inline(always)]
    pub fn of_cluster() -> Team {
        let BlockRank(rank) = cluster::rank();
        let size = cluster::size();
        Team { rank, size }
    }

    /// Waits for all threads of all blocks. A block that is alone spares itself the cluster's barrier, which takes longer.
    ///
    /// # Safety
    /// All threads of all blocks come here.
    #[inline(always)]
    pub unsafe fn meet(self) {
        if self.size == 1 {
            thread::sync_threads();
        } else {
            // SAFETY: the caller's contract.
            unsafe { cluster::sync() };
        }
    }

    /// `count`, or the next number that all blocks have an equal part of.
    #[inline(always)]
    pub fn round_up(self, count: u32) -> u32 {
        (count + self.size - 1) & !(self.size - 1)
    }

    /// A block's part.
    #[inline(always)]
    pub fn part(self, whole: u32) -> u32 {
        whole >> self.size.trailing_zeros()
    }

    /// Starts to copy a box to the same place of each block.
    ///
    /// # Safety
    /// As for [`TensorMap::load`] and [`TensorMap::load_multicast`]: the place is free in every block, and the bytes have been
    /// announced there, or are before anybody waits for them.
    #[inline(always)]
    pub unsafe fn load<T>(
        self,
        map: &TensorMap,
        corner: [i32; 2],
        to: SharedPtr<T>,
        full: Barrier,
    ) {
        // SAFETY: the caller's contract.
        unsafe {
            if self.size == 1 {
                map.load(corner, to, full);
            } else {
                map.load_multicast(corner, to, full, (1 << self.size) - 1);
            }
        }
    }

    /// Tells all blocks, by a thread each, that the warpgroup has read a stage. All its threads reach the same call.
    ///
    /// # Safety
    /// All blocks stay until all have released all stages.
    #[inline(always)]
    pub unsafe fn release<const STAGES: u32>(self, stage: Full<STAGES>) {
        let block = thread::thread_idx_x() % warpgroup::THREADS;
        if block < self.size {
            // SAFETY: the caller's contract.
            unsafe { stage.release_to(BlockRank(block)) };
        } else {
            stage.leave();
        }
    }
}
