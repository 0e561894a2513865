//! Loads of which each needs the one before: what a load takes, or an atomic operation.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{atomic_fetch_add_u32_block, atomic_fetch_add_u32_device};
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

/// As [`chase()`], by atomic additions of 0, which the level 2 cache does.
///
/// # Safety
/// As for [`chase()`]; nothing else touches the elements.
#[kernel]
pub unsafe fn chase_by_atomics(next: *mut u32, steps: u32, out: *mut u64) {
    // SAFETY: the caller's contract, for every element that `step` gets.
    unsafe {
        // 0, as places are below 2^32. A compiler that knew it would make loads of the additions.
        let zero = (*out.add(2) >> 32) as u32;
        let step = |at| atomic_fetch_add_u32_device(next.add(at), Ordering::Relaxed, zero);
        follow_by(step, steps, out);
    }
}

/// As [`chase_by_atomics()`], with the array in shared memory.
///
/// # Safety
/// As for [`chase_shared()`].
#[kernel]
pub unsafe fn chase_by_atomics_in_shared(next: &[u32], steps: u32, out: *mut u64) {
    let elements = shared_array![u32; SHARED_ELEMENTS];
    for i in 0..next.len() {
        // SAFETY: i < next.len(), which is no more than the array's length by the contract.
        unsafe { *elements.add(i) = *next.get_unchecked(i) };
    }
    // SAFETY: the elements that are followed were written above, by this thread.
    unsafe {
        let zero = (*out.add(2) >> 32) as u32;
        let step = |at| atomic_fetch_add_u32_block(elements.add(at), Ordering::Relaxed, zero);
        follow_by(step, steps, out);
    }
}

/// # Safety
/// As for [`chase()`].
#[inline(always)]
pub(super) unsafe fn follow(next: *const u32, steps: u32, out: *mut u64) {
    // SAFETY: the first element and each that an element names exist, by the contract.
    unsafe { follow_by(|at| *next.add(at), steps, out) };
}

/// # Safety
/// As for [`chase()`], of the elements that `step` reads.
#[inline(always)]
unsafe fn follow_by(step: impl Fn(usize) -> u32, steps: u32, out: *mut u64) {
    // SAFETY: the caller's contract.
    let mut at = unsafe { *out.add(2) } as u32;
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..steps {
        at = step(at as usize);
    }
    // SAFETY: three words of the one thread there is.
    unsafe {
        // Written before the clocks are read, so that the last load has come.
        *out.add(2) = u64::from(at);
        *out = clock() - ticks;
        *out.add(1) = globaltimer() - nanoseconds;
    }
}
