//! Loads of which each needs the one before: what a load takes.

use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;

/// Elements of the array in [`chase_shared()`].
pub const SHARED_ELEMENTS: usize = 4096;

/// Follows `next` for `steps` loads from the element on that `out[2]` names, and writes how long that
/// took, in cycles and in nanoseconds, and where it ended: the next launch goes on from there, so
/// that it does not find in the cache what this one has read.
///
/// # Safety
/// Each element of `next` is below its length, and so is `out[2]`. `out` has 3 words, and the grid is
/// one thread.
#[kernel]
pub unsafe fn chase(next: &[u32], steps: u32, out: *mut u64) {
    // SAFETY: the caller's contract.
    unsafe { follow(next.as_ptr(), steps, out) };
}

/// As [`chase()`], with the array in shared memory.
///
/// # Safety
/// As for [`chase()`], and `next` has at most [`SHARED_ELEMENTS`].
#[kernel]
pub unsafe fn chase_shared(next: &[u32], steps: u32, out: *mut u64) {
    let elements = shared_array![u32; SHARED_ELEMENTS];
    for i in 0..next.len() {
        // SAFETY: i < next.len(), which is no more than the array's length by the contract.
        unsafe { *elements.add(i) = *next.get_unchecked(i) };
    }
    // SAFETY: the elements that are followed were written above, by this thread.
    unsafe { follow(elements, steps, out) };
}

#[inline(always)]
unsafe fn follow(next: *const u32, steps: u32, out: *mut u64) {
    // SAFETY: the caller's contract.
    let mut at = unsafe { *out.add(2) } as u32;
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..steps {
        // SAFETY: the first element and each that an element names exist, by the contract.
        at = unsafe { *next.add(at as usize) };
    }
    // SAFETY: three words of the one thread there is.
    unsafe {
        // Written before the clocks are read, so that the last load has come.
        *out.add(2) = u64::from(at);
        *out = clock() - ticks;
        *out.add(1) = globaltimer() - nanoseconds;
    }
}
