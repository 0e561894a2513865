//! A kernel for every item of ptx-std. Each thread writes what it saw, as words, to its own place.

#![no_std]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each kernel says what it asks for, and each case gives it that"
)]

extern crate alloc;

pub mod async_copy;
pub mod atomic;
pub mod cooperative;
pub mod float;
pub mod group;
pub mod intrinsics;
pub mod memory;
pub mod migrated;
pub mod other;
pub mod output;
pub mod packed;
pub mod thread;
pub mod warp;

use cuda_std::thread::linear_index;

/// Writes the words of the thread that runs: each thread has `N`, one thread's behind the other's.
///
/// # Safety
/// `out` has room for `N` words per thread.
unsafe fn put<const N: usize>(out: *mut u64, words: [u64; N]) {
    for (i, word) in words.iter().enumerate() {
        // SAFETY: the caller's contract; the place is this thread's alone.
        unsafe { *out.add(linear_index() * N + i) = *word };
    }
}
