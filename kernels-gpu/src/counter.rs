//! The smallest kernel whose launches can be counted: what is left of its time is the launch's.

use cuda_std::prelude::*;

/// Threads per block.
pub const BLOCK: u32 = 32;

/// Adds 1 to the counter.
///
/// # Safety
/// The grid is one block, and nothing else touches the counter meanwhile.
#[kernel]
pub unsafe fn count(counter: *mut u32) {
    if thread::thread_idx_x() == 0 {
        // SAFETY: one thread comes here.
        unsafe { *counter += 1 };
    }
}
