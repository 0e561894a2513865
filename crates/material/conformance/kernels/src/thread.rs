//! `cuda_std::thread`.

use cuda_std::prelude::*;
use cuda_std::thread::*;

use crate::put;

/// Words that a thread of [`places()`] writes.
pub const PLACES: usize = 25;

/// # Safety
/// `out` has room for [`PLACES`] words per thread.
#[kernel]
pub unsafe fn places(out: *mut u64) {
    let (flat, solid) = (index_2d(), index_3d());
    let words = [
        thread_idx_x(),
        thread_idx_y(),
        thread_idx_z(),
        block_idx_x(),
        block_idx_y(),
        block_idx_z(),
        block_dim_x(),
        block_dim_y(),
        block_dim_z(),
        grid_dim_x(),
        grid_dim_y(),
        grid_dim_z(),
        index(),
        index_1d(),
        flat.x,
        flat.y,
        solid.x,
        solid.y,
        solid.z,
        first().into(),
        warp_size(),
        u32::from(thread_idx().to_array() == [thread_idx_x(), thread_idx_y(), thread_idx_z()]),
        u32::from(block_idx() + grid_dim() - block_idx() == grid_dim()),
        u32::from(block_dim().x == block_dim_x()),
        u32::from(multiprocessor() < 4096),
    ];
    unsafe { put(out, words.map(u64::from)) };
}

/// Indices and sizes that a `u32` may be too small for, and what comes to a thread of a grid-stride
/// loop over `len` elements: how many, and the sum of their indices.
///
/// # Safety
/// `out` has room for 6 words per thread.
#[kernel]
pub unsafe fn strides(out: *mut u64, len: usize) {
    let words = [
        global_index(),
        linear_index(),
        block_threads() as usize,
        grid_threads(),
        grid_stride(len).count(),
        grid_stride(len).sum(),
    ];
    unsafe { put(out, words.map(|word| word as u64)) };
}

/// The element that the thread before wrote, over the barrier; then the barriers that count.
///
/// # Safety
/// `out` has room for 5 words per thread.
#[kernel(max_threads = 128)]
pub unsafe fn barriers(out: *mut u64) {
    let seen = shared_array![u32; 128];
    let own = thread_idx_x();
    unsafe { *seen.add(own as usize) = own * own };
    sync_threads();
    let before = (own + block_dim_x() - 1) % block_dim_x();
    let words = [
        unsafe { *seen.add(before as usize) },
        sync_threads_count(own % 3),
        sync_threads_and(own + 1),
        sync_threads_and(own),
        sync_threads_or(u32::from(own == 77)),
    ];
    unsafe { put(out, words.map(u64::from)) };
}

/// Each block says that it is done; the last one to come adds up what all have written, which the
/// fences let it see.
///
/// # Safety
/// `out` has room for a word a block and one more for each of three fences; `arrived` has an
/// element, 0.
#[kernel]
pub unsafe fn fences(out: *mut u64, arrived: *mut u32) {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    let blocks = grid_dim_x();
    if thread_idx_x() != 0 {
        return;
    }
    unsafe {
        out.add(block_idx_x() as usize)
            .write_volatile(u64::from(block_idx_x()) + 1)
    };
    grid_fence();
    device_fence();
    system_fence();
    nanosleep(100);
    let place = unsafe { AtomicU32::from_ptr(arrived) }.fetch_add(1, Relaxed);
    if place == blocks - 1 {
        device_fence();
        let mut sum = 0;
        for block in 0..blocks as usize {
            sum += unsafe { out.add(block).read_volatile() };
        }
        unsafe { *out.add(blocks as usize) = sum };
    }
}

/// A barrier in a helper that is not inlined, behind a branch, and in a loop.
///
/// # Safety
/// `out` has room for one word per thread.
#[kernel(max_threads = 64)]
pub unsafe fn convergence(out: *mut u64, rounds: u32) {
    let ring = shared_array![u32; 64];
    let (own, size) = (thread_idx_x() as usize, block_dim_x() as usize);
    let mut value = own as u32;
    if own % 2 == 1 {
        value *= 10;
    }
    for _ in 0..rounds {
        value = unsafe { pass_on(ring, own, size, value) };
    }
    unsafe { put(out, [value.into()]) };
}

#[inline(never)]
unsafe fn pass_on(ring: *mut u32, own: usize, size: usize, value: u32) -> u32 {
    unsafe { *ring.add(own) = value };
    sync_threads();
    let next = unsafe { *ring.add((own + 1) % size) };
    sync_threads();
    next
}
