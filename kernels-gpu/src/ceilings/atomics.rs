//! Atomic additions: to one counter, or to one of each thread's own, in memory and in shared memory.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{atomic_fetch_add_u32_block, atomic_fetch_add_u32_device};
use cuda_std::prelude::*;

/// Counters of a block in [`add_in_shared()`].
pub const SHARED_COUNTERS: usize = 1024;

/// Each thread adds `value` to a counter, `steps` times: thread i to counter i x `stride`. `ptxas` does not know that with a
/// stride of 0 all lanes have the same one, and so leaves it to the hardware to add them up.
///
/// # Safety
/// The grid is one-dimensional, and `counters` has a place for each that is named.
#[kernel]
pub unsafe fn add_to_counters(stride: u32, value: u32, steps: u32, counters: *mut u32) {
    // SAFETY: the place exists, by the contract.
    let counter = unsafe { counters.add(thread::global_index() * stride as usize) };
    for _ in 0..steps {
        // SAFETY: as above; all accesses are atomic.
        unsafe { atomic_fetch_add_u32_device(counter, Ordering::Relaxed, value) };
    }
}

/// As [`add_to_counters()`], to counters in shared memory, which begin with 0. Each thread writes what its counter has come
/// to to its place of `totals`.
///
/// # Safety
/// The grid is one-dimensional, of blocks of at most [`SHARED_COUNTERS`] threads, `stride` is 0 or 1, and `totals` has a place
/// for each thread.
#[kernel]
pub unsafe fn add_in_shared(stride: u32, value: u32, steps: u32, totals: *mut u32) {
    let counters = shared_array![u32; SHARED_COUNTERS];
    let own = thread::thread_idx_x();
    // SAFETY: a counter of this thread's own until the barrier: there are as many as threads.
    unsafe { *counters.add(own as usize) = 0 };
    thread::sync_threads();
    // SAFETY: the place exists, since `stride` is at most 1.
    let counter = unsafe { counters.add((own * stride) as usize) };
    for _ in 0..steps {
        // SAFETY: as above; between the barriers all accesses are atomic.
        unsafe { atomic_fetch_add_u32_block(counter, Ordering::Relaxed, value) };
    }
    thread::sync_threads();
    // SAFETY: nobody adds after the barrier, and the place is this thread's.
    unsafe { *totals.add(thread::global_index()) = *counter };
}
