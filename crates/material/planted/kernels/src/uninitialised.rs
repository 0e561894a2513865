//! Reads of what nobody has written.

use cuda_std::prelude::*;

/// Threads per block.
const BLOCK: usize = 64;

/// A tile with a place for each neighbour, which nobody fills.
#[kernel(instances(halo_not_filled<true>, halo_not_filled_fixed<false>))]
pub unsafe fn halo<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; BLOCK + 1];
    let own = thread::thread_idx_x() as usize;
    let i = thread::global_index();
    let at = |i: usize| x[i % n as usize];
    unsafe {
        *tile.add(own) = at(i);
        if own == 0 && !BUG {
            *tile.add(BLOCK) = at(i + BLOCK);
        }
        thread::sync_threads();
        *y.add(i) = *tile.add(own) + *tile.add(own + 1); // now: halo_not_filled
    }
}

/// Sums that begin with whatever is there.
#[kernel(instances(sum_not_cleared<true>, sum_not_cleared_fixed<false>))]
pub unsafe fn sum<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let sums = shared::dynamic_shared_mem::<u32>();
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if !BUG {
            *sums.add(own) = 0;
        }
        for i in thread::grid_stride(n as usize) {
            *sums.add(own) += x[i]; // now: sum_not_cleared
        }
        *y.add(thread::global_index()) = *sums.add(own); // at: sum_not_cleared
    }
}

/// Adds to a buffer that was allocated without contents.
#[kernel(instances(buffer_not_filled<true>, buffer_not_filled_fixed<false>))]
pub unsafe fn buffer<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    for i in thread::grid_stride(n as usize) {
        unsafe {
            let before = if BUG { *y.add(i) } else { 0 }; // now: buffer_not_filled
            *y.add(i) = before + x[i]; // at: buffer_not_filled
        }
    }
}
