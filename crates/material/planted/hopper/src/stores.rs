//! Copies out of shared memory, and the groups that they are waited for in.

use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma;

/// Threads per block, and elements of a tile.
const BLOCK: usize = 64;
/// Bytes of a tile.
const BYTES: u32 = 4 * BLOCK as u32;

/// A tile that threads have written, without a proxy fence.
#[kernel(instances(store_unfenced<true>, store_unfenced_fixed<false>))]
pub unsafe fn unfenced<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize]; // before: store_unfenced
        if !BUG {
            tma::fence_shared();
        }
        thread::sync_threads();
        if own == 0 {
            // now: store_unfenced
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            tma::commit_group();
            tma::wait_group_read::<0>();
        }
    }
}

/// A tile that other threads are still writing.
#[kernel(instances(store_too_early<true>, store_too_early_fixed<false>))]
pub unsafe fn too_early<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize]; // before: store_too_early
        tma::fence_shared();
        if !BUG {
            thread::sync_threads();
        }
        if own == 0 {
            // now: store_too_early
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            tma::commit_group();
            tma::wait_group_read::<0>();
        }
    }
}

/// A tile that is written again while it is still read.
#[kernel(instances(store_overwritten<true>, store_overwritten_fixed<false>))]
pub unsafe fn overwritten<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for part in 0..2 {
            *tile.add(own) = x[(own + part) % n as usize]; // now: store_overwritten
            tma::fence_shared();
            thread::sync_threads();
            if own == 0 {
                // before: store_overwritten
                tma::store_bytes(SharedPtr::new(tile), y.add(part * BLOCK), BYTES);
                tma::commit_group();
                if !BUG || part == 1 {
                    tma::wait_group_read::<0>();
                }
            }
            thread::sync_threads();
        }
    }
}

/// A wait for groups, of which the copy is in none.
#[kernel(instances(store_not_committed<true>, store_not_committed_fixed<false>))]
pub unsafe fn not_committed<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize];
        tma::fence_shared();
        thread::sync_threads();
        if own == 0 {
            // before: store_not_committed
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            if !BUG {
                tma::commit_group();
            }
            tma::wait_group_read::<0>();
            *tile = 0; // now: store_not_committed
            tma::commit_group();
            tma::wait_group_read::<0>();
        }
    }
}

/// Two tiles, and a wait that leaves the newer one under way.
#[kernel(instances(store_one_too_few<true>, store_one_too_few_fixed<false>))]
pub unsafe fn one_too_few<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tiles = shared_array![u32; 2 * BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for part in 0..2 {
            *tiles.add(part * BLOCK + own) = x[(own + part) % n as usize];
        }
        tma::fence_shared();
        thread::sync_threads();
        if own == 0 {
            for part in 0..2 {
                // before: store_one_too_few
                tma::store_bytes(
                    SharedPtr::new(tiles.add(part * BLOCK)),
                    y.add(part * BLOCK),
                    BYTES,
                );
                tma::commit_group();
            }
            if BUG {
                tma::wait_group_read::<1>();
            } else {
                tma::wait_group_read::<0>();
            }
            *tiles.add(BLOCK) = 0; // now: store_one_too_few
            tma::wait_group_read::<0>();
        }
    }
}

/// A result that is read when its source has been, and it may not have been written.
#[kernel(instances(store_read_back<true>, store_read_back_fixed<false>))]
pub unsafe fn read_back<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize];
        tma::fence_shared();
        thread::sync_threads();
        if own == 0 {
            // before: store_read_back
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            tma::commit_group();
            if BUG {
                tma::wait_group_read::<0>();
            } else {
                tma::wait_group::<0>();
            }
            *y.add(BLOCK) = *y + 1; // now: store_read_back
            tma::wait_group::<0>();
        }
    }
}

/// A block that ends, and with it its shared memory, before the copy has read it.
#[kernel(instances(store_left_behind<true>, store_left_behind_fixed<false>))]
pub unsafe fn left_behind<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize];
        tma::fence_shared();
        thread::sync_threads();
        if own == 0 {
            // at: store_left_behind
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            tma::commit_group();
            if !BUG {
                tma::wait_group_read::<0>();
            }
        }
    }
}

/// A thread that waits for another one's groups, of which it has none itself.
#[kernel(instances(store_waited_by_other<true>, store_waited_by_other_fixed<false>))]
pub unsafe fn waited_by_other<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *tile.add(own) = x[own % n as usize];
        tma::fence_shared();
        thread::sync_threads();
        if own == 0 {
            // before: store_waited_by_other
            tma::store_bytes(SharedPtr::new(tile), y, BYTES);
            tma::commit_group();
        }
        if own == if BUG { 32 } else { 0 } {
            tma::wait_group_read::<0>();
        }
        thread::sync_threads();
        *tile.add(own) = 0; // now: store_waited_by_other
        tma::wait_group_read::<0>();
    }
}
