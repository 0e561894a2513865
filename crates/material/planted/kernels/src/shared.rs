//! Races on shared memory.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp, warp_shuffle_xor};

/// Threads per block.
pub const BLOCK: usize = 256;

/// The sum of a block's elements: no barrier between the steps of the tree.
#[kernel(instances(reduction_without_barrier<true>, reduction_without_barrier_fixed<false>))]
pub unsafe fn reduction<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let sums = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    let value = x.get(thread::global_index()).copied().unwrap_or(0);
    unsafe {
        *sums.add(own) = value; // before: reduction_without_barrier
        if !BUG {
            thread::sync_threads();
        }
        let mut half = BLOCK / 2;
        while half > 0 {
            if own < half {
                *sums.add(own) += *sums.add(own + half); // now: reduction_without_barrier
            }
            thread::sync_threads();
            half /= 2;
        }
        if own == 0 && n > 0 {
            *y.add(thread::block_idx_x() as usize) = *sums;
        }
    }
}

/// Two rounds through one tile: the second overwrites what a neighbour has still to read.
#[kernel(instances(tile_overwritten<true>, tile_overwritten_fixed<false>))]
pub unsafe fn tile<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    let mut sum = 0;
    for round in 0..2 {
        let element = x[(thread::global_index() + round) % n as usize];
        unsafe {
            *tile.add(own) = element; // now: tile_overwritten
            thread::sync_threads();
            sum += *tile.add((own + 1) % BLOCK); // before: tile_overwritten
        }
        if !BUG {
            thread::sync_threads();
        }
    }
    unsafe { *y.add(thread::global_index()) = sum };
}

/// Lanes read their neighbour's value without `sync_warp`.
#[kernel(instances(warp_without_sync<true>, warp_without_sync_fixed<false>))]
pub unsafe fn warp<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *values.add(own) = x[thread::global_index() % n as usize]; // before: warp_without_sync
        if !BUG {
            sync_warp(FULL_MASK);
        }
        *y.add(thread::global_index()) = *values.add(own ^ 1); // now: warp_without_sync
    }
}

/// A shuffle, which makes lanes meet and orders no memory, instead of `sync_warp`.
#[kernel(instances(shuffle_for_sync<true>, shuffle_for_sync_fixed<false>))]
pub unsafe fn shuffle<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; BLOCK];
    let own = thread::thread_idx_x() as usize;
    let value = x[thread::global_index() % n as usize];
    unsafe {
        *values.add(own) = value; // before: shuffle_for_sync
        let (other, _) = warp_shuffle_xor(FULL_MASK, value, 1, 32);
        if !BUG {
            sync_warp(FULL_MASK);
        }
        let read = *values.add(own ^ 1); // now: shuffle_for_sync
        *y.add(thread::global_index()) = read + other;
    }
}

/// A histogram that counts without atomics.
// Of a relaxed atomic Rust before 1.99 drops nothing.
#[kernel(
    instances(shared_histogram<true>, shared_histogram_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn histogram<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let bins = shared_array![u32; 16];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own < 16 {
            *bins.add(own) = 0;
        }
        thread::sync_threads();
        let bin = bins.add((x[thread::global_index() % n as usize] % 16) as usize);
        if BUG {
            *bin += 1; // both: shared_histogram
        } else {
            AtomicU32::from_ptr(bin).fetch_add(1, Ordering::Relaxed);
        }
        thread::sync_threads();
        if own < 16 {
            *y.add(thread::block_idx_x() as usize * 16 + own) = *bins.add(own);
        }
    }
}

/// Every thread says what only one should.
#[kernel(instances(all_write_one<true>, all_write_one_fixed<false>))]
pub unsafe fn all_write<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let chosen = shared_array![u32; 1];
    let own = thread::thread_idx_x();
    unsafe {
        if BUG || own == 0 {
            *chosen = x[own as usize % n as usize]; // both: all_write_one
        }
        thread::sync_threads();
        *y.add(thread::global_index()) = *chosen;
    }
}

/// Threads of two warps say the same: what one of them would say.
// Of a relaxed atomic Rust before 1.99 drops nothing.
#[kernel(
    instances(equal_stores<true>, equal_stores_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn say_equal<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let is_odd = shared_array![u32; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            *is_odd = 0;
        }
        thread::sync_threads();
        if x[own % n as usize] % 2 == 1 {
            if BUG {
                *is_odd = 1; // both: equal_stores
            } else {
                AtomicU32::from_ptr(is_odd).store(1, Ordering::Relaxed);
            }
        }
        thread::sync_threads();
        *y.add(own) = *is_odd;
    }
}
