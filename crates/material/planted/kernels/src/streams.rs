//! Launches that meet.

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Launched in two streams, of which neither waits for the other.
#[kernel(instances(two_streams<true>, two_streams_fixed<false>))]
pub unsafe fn streams<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    for i in thread::grid_stride(n as usize) {
        unsafe {
            if BUG {
                *y.add(i) += x[i]; // both: two_streams
            } else {
                atomic_fetch_add_u32_device(y.add(i), Relaxed, x[i]);
            }
        }
    }
}
