//! Parts of dynamic shared memory.

use cuda_std::prelude::*;
use cuda_std::shared::DynamicShared;

/// An index of the second part, counted from the beginning of the first.
#[kernel(instances(into_next_part<true>, into_next_part_fixed<false>))]
pub unsafe fn next<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let mut shared = DynamicShared::new();
    let (left, right): (*mut u32, *mut u32) = (shared.take(64), shared.take(64));
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *left.add(own) = x[own % n as usize];
        let place = if BUG {
            left.add(64 + own)
        } else {
            right.add(own)
        };
        *place = x[(own + 1) % n as usize]; // now: into_next_part
        thread::sync_threads();
        *y.add(own) = *left.add(63 - own) + *right.add(63 - own);
    }
}
