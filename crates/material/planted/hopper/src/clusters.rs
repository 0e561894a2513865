//! Two blocks of a cluster, and each other's shared memory.

use cuda_std::cluster::{self, BlockRank};
use cuda_std::mbarrier::{Barrier, Parity, fence_init};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;

/// Threads per block.
const BLOCK: usize = 64;

/// The other block may not have written yet.
const NOT_SYNCED: u32 = 1;
/// There is no such block.
const OUTSIDE: u32 = 2;

/// Each block reads what the other one has written.
#[kernel(instances(
    peer_not_synced<NOT_SYNCED>, peer_not_synced_fixed<0>,
    peer_outside_cluster<OUTSIDE>, peer_outside_cluster_fixed<0>
))]
pub unsafe fn peer<const MISTAKE: u32>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    let BlockRank(rank) = cluster::rank();
    let other = if MISTAKE == OUTSIDE {
        rank + 2
    } else {
        rank ^ 1
    };
    unsafe {
        *tile.add(own) = x[thread::global_index() % n as usize]; // before: peer_not_synced
        if MISTAKE == NOT_SYNCED {
            thread::sync_threads();
        } else {
            cluster::sync();
        }
        let theirs = cluster::map_shared(tile, BlockRank(other));
        // now: peer_not_synced, peer_outside_cluster
        *y.add(thread::global_index()) = *theirs.add(BLOCK - 1 - own);
        cluster::sync();
    }
}

/// A block that waits for the other one, which arrives at its own barrier.
#[kernel(instances(arrives_at_own<true>, arrives_at_own_fixed<false>))]
pub unsafe fn arrives<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let word = shared_array![u64; 1];
    let own = thread::thread_idx_x() as usize;
    let BlockRank(rank) = cluster::rank();
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
        }
        cluster::sync();
        if rank == 1 && own == 0 {
            barrier.arrive_at(BlockRank(if BUG { 1 } else { 0 }));
        }
        if rank == 0 {
            barrier.wait(Parity::EVEN); // at: arrives_at_own
        }
        *y.add(thread::global_index()) = x[own % n as usize];
        cluster::sync();
    }
}
