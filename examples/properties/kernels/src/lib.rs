//! Kernels with bugs that tests of a few sizes do not find.

#![no_std]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::prelude::*;

/// Counts the elements of `x` above `limit`.
///
/// # Safety
/// Nothing else uses `count`, a single element, during the launch.
#[kernel]
pub unsafe fn count_above(x: &[u32], limit: u32, count: *mut u32) {
    // SAFETY: it has one element, which all threads reach only so.
    let count = unsafe { AtomicU32::from_ptr(count) };
    if thread::global_index() == 0 {
        count.store(0, Relaxed);
    }
    thread::sync_threads();
    for i in thread::grid_stride(x.len()) {
        if x[i] > limit {
            count.fetch_add(1, Relaxed);
        }
    }
}

/// The bytes that a packed text begins with.
pub const MAGIC: [u8; 4] = *b"RLE1";

/// Unpacks runs: behind [`MAGIC`] a byte of up to 127 repeats the next byte so many times, and one of 128 and more
/// is followed by so many less 128 bytes as they are. Each thread looks for its own byte of `out`.
#[kernel]
pub fn unpack(packed: &[u8], mut out: Output<u8>) {
    for (at, expected) in MAGIC.into_iter().enumerate() {
        if packed.get(at) != Some(&expected) {
            return;
        }
    }
    for (own, out) in out.own() {
        let (mut at, mut begin) = (MAGIC.len(), 0);
        while let Some(&head) = packed.get(at) {
            let len = usize::from(head % 128);
            let is_own = own - begin < len;
            if head >= 128 {
                if is_own {
                    // SAFETY: missing. What the head announces may not be there.
                    *out = unsafe { *packed.get_unchecked(at + 1 + own - begin) };
                    break;
                }
                at += 1 + len;
            } else {
                if is_own {
                    *out = packed.get(at + 1).copied().unwrap_or(0);
                    break;
                }
                at += 2;
            }
            begin += len;
        }
    }
}
