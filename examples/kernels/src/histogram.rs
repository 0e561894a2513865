//! How often each byte occurs: every block counts in shared memory, then adds to the result.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;

/// Values that a byte has.
pub const BINS: usize = 256;
/// Threads per block, one for each bin.
pub const BLOCK: u32 = 256;
/// Bytes that a thread reads at once.
pub const WIDTH: usize = 16;

/// Adds to `counts` how often each value occurs in `bytes`.
///
/// # Safety
/// `counts` has [`BINS`] elements, and `bytes` is aligned to 16 bytes.
#[kernel(block = [BLOCK])]
pub unsafe fn histogram(bytes: &[u8], counts: *mut u32) {
    let own_bin = thread::thread_idx_x() as usize;
    let bins = shared_array![u32; BINS];
    // SAFETY: own_bin < BLOCK = BINS, and each thread has another.
    unsafe { *bins.add(own_bin) = 0 };
    thread::sync_threads();

    let count = |value: u8| {
        // SAFETY: in the array; all threads reach it only so until the next barrier.
        let bin = unsafe { AtomicU32::from_ptr(bins.add(value.into())) };
        bin.fetch_add(1, Ordering::Relaxed);
    };
    for i in thread::grid_stride(bytes.len() / WIDTH) {
        // SAFETY: WIDTH bytes from there are in `bytes`.
        let words: [u32; 4] = unsafe { vector::load(bytes.as_ptr().add(i * WIDTH).cast()) };
        for byte in 0..WIDTH {
            count((words[byte / 4] >> (byte % 4 * 8)) as u8);
        }
    }
    // What is left is less than WIDTH bytes, one for each of the grid's first threads.
    if let Some(&value) = bytes.get(bytes.len() / WIDTH * WIDTH + thread::global_index()) {
        count(value);
    }
    thread::sync_threads();

    // SAFETY: `counts` has BINS elements, which all threads reach only so.
    let total = unsafe { AtomicU32::from_ptr(counts.add(own_bin)) };
    // SAFETY: in the array; no thread writes it any more.
    total.fetch_add(unsafe { *bins.add(own_bin) }, Ordering::Relaxed);
}
