//! Memory that kernels allocate themselves.

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Two threads add to what is in one box.
#[kernel(instances(heap_race<true>, heap_race_fixed<false>))]
pub unsafe fn count<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let shared = shared_array![*mut u32; 1];
    let own = thread::thread_idx_x();
    unsafe {
        if own == 0 {
            *shared = Box::into_raw(Box::new(x[n as usize - 1]));
        }
        thread::sync_threads();
        let count = *shared;
        if BUG {
            *count += own; // both: heap_race
        } else {
            atomic_fetch_add_u32_block(count, Relaxed, own);
        }
        thread::sync_threads();
        if own == 0 {
            *y = *Box::from_raw(count);
        }
    }
}

/// A vector whose last element nobody has written.
#[kernel(instances(heap_not_written<true>, heap_not_written_fixed<false>))]
pub unsafe fn vector<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<u32> = Vec::with_capacity(4);
    let written = if BUG { 3 } else { 4 };
    unsafe {
        for i in 0..written {
            values.as_mut_ptr().add(i).write(x[(own + i) % n as usize]);
        }
        values.set_len(4);
        *y.add(own) = values[own % 4]; // now: heap_not_written
    }
}

/// A thread frees what others have yet to read.
#[kernel(instances(use_after_free<true>, use_after_free_fixed<false>))]
pub unsafe fn freed<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let shared = shared_array![*mut u32; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            *shared = Box::into_raw(Box::new(x[n as usize - 1]));
        }
        thread::sync_threads();
        let value = *shared;
        if BUG && own == 0 {
            drop(Box::from_raw(value)); // before: use_after_free
        }
        thread::sync_threads();
        *y.add(own) = *value; // now: use_after_free
        thread::sync_threads();
        if !BUG && own == 0 {
            drop(Box::from_raw(value));
        }
    }
}

/// Two threads free one box.
#[kernel(instances(double_free<true>, double_free_fixed<false>))]
pub unsafe fn twice<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let shared = shared_array![*mut u32; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            *shared = Box::into_raw(Box::new(x[n as usize - 1]));
        }
        thread::sync_threads();
        let value = *shared;
        *y.add(own) = *value;
        thread::sync_threads();
        if own == 0 || BUG && own == 32 {
            drop(Box::from_raw(value)); // both: double_free
        }
    }
}

/// Vectors that nobody frees and nobody can reach. Of those of the twin some are freed, and the rest is
/// kept in `y` for a later kernel.
#[kernel(instances(heap_leak<true>, heap_leak_fixed<false>))]
pub unsafe fn leak<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let values: Vec<u32> = x.iter().take(n as usize % 7 + own).copied().collect(); // at: heap_leak
    let place = unsafe { y.add(2 * own) };
    unsafe { *place = values[own] };
    if BUG {
        core::mem::forget(values);
    } else if own.is_multiple_of(2) {
        unsafe {
            place
                .cast::<*mut Vec<u32>>()
                .write(Box::into_raw(Box::new(values)))
        };
    }
}
