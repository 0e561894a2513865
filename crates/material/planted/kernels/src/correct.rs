//! Kernels without a bug that look as if they had one.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp};

/// Follows pointers to buffers that it finds in a buffer.
#[kernel]
pub unsafe fn pointers_in_a_buffer(x: &[u32], y: *mut u32, n: u32) {
    let kept = unsafe { y.add(n as usize).cast::<[*const u32; 2]>() };
    unsafe {
        if thread::thread_idx_x() == 0 {
            (*kept)[0] = x.as_ptr();
            (*kept)[1] = y;
        }
        thread::sync_threads();
        let i = thread::thread_idx_x() as usize;
        if i < n as usize {
            let [from, to] = kept.read_volatile();
            let from = if i.is_multiple_of(2) {
                from
            } else {
                y.cast_const()
            };
            *to.cast_mut().add(i) = *from.add(i) + 1;
        }
    }
}

/// Whole warps leave before a barrier, which waits for those that have not.
#[kernel]
pub unsafe fn warps_that_leave(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; 128];
    let own = thread::thread_idx_x() as usize;
    if own >= n as usize {
        return;
    }
    unsafe {
        *values.add(own) = x[own];
        sync_warp(FULL_MASK);
        thread::sync_threads();
        *y.add(own) = *values.add(n as usize - 1 - own);
    }
}
