//! Additions to counters of another device.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;

/// Each thread adds `value` to a counter, `steps` times: thread i to counter i x `stride`. The counters may be another
/// device's, which may add to them meanwhile.
///
/// # Safety
/// The grid is one-dimensional, and `counters` has a place for each that is named.
#[kernel]
pub unsafe fn add_to_peer(stride: u32, value: u32, steps: u32, counters: *mut u32) {
    // SAFETY: the place exists, by the contract, and all accesses are atomic.
    let counter =
        unsafe { AtomicU32::from_ptr(counters.add(thread::global_index() * stride as usize)) };
    for _ in 0..steps {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}
