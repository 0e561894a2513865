//! Asynchronous copies.

use cuda_std::async_copy::{cp_async_ca, cp_async_commit_group, cp_async_wait_group};
use cuda_std::prelude::*;

/// Threads per block.
const BLOCK: usize = 64;

/// A tile that is read before it has landed.
#[kernel(instances(copy_without_wait<true>, copy_without_wait_fixed<false>))]
pub unsafe fn no_wait<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        cp_async_ca(tile.add(own), &x[own % n as usize]); // before: copy_without_wait
        cp_async_commit_group();
        if !BUG {
            cp_async_wait_group::<0>();
        }
        thread::sync_threads();
        *y.add(own) = *tile.add(own); // now: copy_without_wait
    }
}

/// Two tiles, and a wait that leaves the newer one under way.
#[kernel(instances(wait_for_one_too_few<true>, wait_for_one_too_few_fixed<false>))]
pub unsafe fn too_few<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tiles = shared_array![u32; 2 * BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        cp_async_ca(tiles.add(own), &x[own % n as usize]);
        cp_async_commit_group();
        cp_async_ca(tiles.add(BLOCK + own), &x[(BLOCK + own) % n as usize]); // before: wait_for_one_too_few
        cp_async_commit_group();
        if BUG {
            cp_async_wait_group::<1>();
        } else {
            cp_async_wait_group::<0>();
        }
        thread::sync_threads();
        let older = *tiles.add(own);
        *y.add(own) = older + *tiles.add(BLOCK + own); // now: wait_for_one_too_few
    }
}
