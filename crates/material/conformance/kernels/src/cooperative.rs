//! `cuda_std::cooperative`.

use cuda_std::cooperative::sync_grid;
use cuda_std::prelude::*;
use cuda_std::thread::{block_dim_x, global_index, grid_threads, thread_idx_x};

/// Each thread takes, round after round, what the thread of the same place in the next block has.
///
/// # Safety
/// The launch is cooperative; `values` and `out` have one word per thread, and `arrivals` is 0.
#[kernel]
pub unsafe fn around_the_grid(values: *mut u64, out: *mut u64, arrivals: *mut u32, rounds: u32) {
    let own = global_index();
    let next = (own + block_dim_x() as usize) % grid_threads();
    for _ in 0..rounds {
        let value = unsafe { values.add(next).read() };
        unsafe { sync_grid(arrivals) };
        unsafe { values.add(own).write(value) };
        unsafe { sync_grid(arrivals) };
    }
    unsafe { *out.add(own) = *values.add(own) + u64::from(thread_idx_x()) };
}
