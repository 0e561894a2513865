//! Accesses out of bounds, and not aligned.

use cuda_std::prelude::*;

/// One element too many, at the grid's edge.
#[kernel(instances(one_too_many<true>, one_too_many_fixed<false>))]
pub unsafe fn edge<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if i < n as usize + usize::from(BUG) {
        unsafe { *y.add(i) = x[i % n as usize] }; // now: one_too_many
    }
}

/// No check at all: the last block is larger than what is left.
#[kernel(instances(no_check<true>, no_check_fixed<false>))]
pub unsafe fn unchecked<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if BUG || i < n as usize {
        unsafe { *y.add(i) = *x.as_ptr().add(i) }; // now: no_check
    }
}

/// The neighbour before the first element.
#[kernel(instances(before_the_first<true>, before_the_first_fixed<false>))]
pub unsafe fn before<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if i < n as usize {
        unsafe {
            let left = x.as_ptr().wrapping_add(i).wrapping_sub(1);
            let value = if BUG || i > 0 { *left } else { 0 }; // now: before_the_first
            *y.add(i) = value;
        }
    }
}

/// A shared array for one element less than the block has threads.
#[kernel(instances(shared_too_short<true>, shared_too_short_fixed<false>))]
pub unsafe fn short<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared_array![u32; 63];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if BUG || own < 63 {
            *values.add(own) = x[own % n as usize]; // now: shared_too_short
        }
        thread::sync_threads();
        if own < 63 {
            *y.add(own) = *values.add(62 - own);
        }
    }
}

/// More dynamic shared memory than the launch gives.
#[kernel(instances(dynamic_too_short<true>, dynamic_too_short_fixed<false>))]
pub unsafe fn dynamic<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let values = shared::dynamic_shared_mem::<u32>();
    let own = thread::thread_idx_x() as usize;
    let place = if BUG { own + 1 } else { own };
    unsafe {
        *values.add(place) = x[own % n as usize]; // now: dynamic_too_short
        thread::sync_threads();
        *y.add(own) = *values.add(place);
    }
}

/// Vectors of four from an element that is not the first of four.
#[kernel(instances(misaligned_vector<true>, misaligned_vector_fixed<false>))]
pub unsafe fn misaligned<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index() * 4;
    if i + 8 <= n as usize {
        unsafe {
            let values: [u32; 4] = vector::load(x.as_ptr().add(i + if BUG { 2 } else { 4 })); // now: misaligned_vector
            vector::store(y.add(i), values.map(|value| value + 1));
        }
    }
}

/// A word at an odd byte.
#[kernel(instances(misaligned_word<true>, misaligned_word_fixed<false>))]
pub unsafe fn word<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if i + 1 < n as usize {
        unsafe {
            let from = x.as_ptr().add(i).cast::<u8>().add(if BUG { 2 } else { 4 });
            *y.add(i) = from.cast::<u32>().read(); // now: misaligned_word
        }
    }
}

/// One element beyond the part of a buffer that the launch was lent.
#[kernel(instances(beyond_lent_part<true>, beyond_lent_part_fixed<false>))]
pub unsafe fn lent<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *y.add(if BUG { own + 1 } else { own }) = x[own % n as usize]; // now: beyond_lent_part
    }
}
