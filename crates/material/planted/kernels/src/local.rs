//! Arrays of a thread's own.

use core::mem::MaybeUninit;

use cuda_std::prelude::*;

/// An array whose last element nobody has written.
#[kernel(instances(local_not_written<true>, local_not_written_fixed<false>), allow(local_memory))]
pub unsafe fn uninitialised<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = MaybeUninit::<[u32; 8]>::uninit();
    let first = values.as_mut_ptr().cast::<u32>();
    let written = if BUG { 7 } else { 8 };
    unsafe {
        for i in 0..written {
            first.add(i).write(x[(own + i) % n as usize]);
        }
        *y.add(own) = *first.add(own % 8); // now: local_not_written
    }
}

/// An index of one more than the array has.
#[kernel(instances(local_overrun<true>, local_overrun_fixed<false>), allow(local_memory))]
pub unsafe fn overrun<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = [0; 8];
    for (i, value) in values.iter_mut().enumerate() {
        *value = x[(own + i) % n as usize];
    }
    let place = own % if BUG { 9 } else { 8 };
    unsafe { *y.add(own) = *values.as_ptr().add(place) }; // now: local_overrun
}

/// Each thread tells another where its array is.
#[kernel(
    instances(other_threads_memory<true>, other_threads_memory_fixed<false>),
    allow(local_memory)
)]
pub unsafe fn other<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let (mut values, arrays) = ([0; 4], shared_array![*mut u32; 64]);
    for (i, value) in values.iter_mut().enumerate() {
        *value = x[(own + i) % n as usize];
    }
    unsafe {
        arrays.add(own).write(values.as_mut_ptr());
        thread::sync_threads();
        let of = if BUG { own ^ 1 } else { own };
        *y.add(own) = *arrays.add(of).read_volatile(); // now: other_threads_memory
    }
}
