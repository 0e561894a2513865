//! Atomics that are none for each other.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Some threads count in 4 bytes, some in 8, of which these are the first.
#[kernel(instances(mixed_sizes<true>, mixed_sizes_fixed<false>))]
pub unsafe fn sizes<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::global_index();
    let value = x[own % n as usize];
    unsafe {
        if BUG && own >= 32 {
            atomic_fetch_add_u64_device(y.cast(), Relaxed, value.into()); // now: mixed_sizes
        } else {
            atomic_fetch_add_u32_device(y, Relaxed, value); // before: mixed_sizes
        }
    }
}

/// Threads look for the greatest with atomics, and one writes it without.
#[kernel(
    instances(plain_against_atomic<true>, plain_against_atomic_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn plain<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::global_index();
    let value = x[own % n as usize];
    unsafe {
        if BUG && own == 0 {
            y.write(value); // before: plain_against_atomic
        } else {
            AtomicU32::from_ptr(y).fetch_max(value, Ordering::Relaxed); // now: plain_against_atomic
        }
    }
}
