//! Pointers to what they were not made for.

use cuda_std::prelude::*;

/// What all threads look up.
#[address_space(constant)]
static TABLE: [u32; 4] = [2, 3, 5, 7];

/// Writes to a table that does not change.
#[kernel(
    instances(constant_written<true>, constant_written_fixed<false>),
    allow(generic_shared_access)
)]
pub unsafe fn constant<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let entry = unsafe { TABLE.as_ptr().add(x[own % n as usize] as usize % 4) };
    unsafe {
        if BUG && own == 0 {
            entry.cast_mut().write_volatile(11); // now: constant_written
        }
        *y.add(own) = *entry;
    }
}

/// An element 96 past the last of a shared array, which is one of the next array's.
#[kernel(instances(into_next_array<true>, into_next_array_fixed<false>))]
pub unsafe fn next<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (first, second) = (shared_array![u32; 64], shared_array![u32; 256]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for i in 0..4 {
            *second.add(i * 64 + own) = x[(i * 64 + own) % n as usize];
        }
        *first.add(own) = x[own % n as usize];
        thread::sync_threads();
        let place = if BUG { own + 160 } else { own };
        *y.add(own) = *first.add(place) + *second.add(own); // now: into_next_array
    }
}

/// An index that leads from one buffer into another.
#[kernel(instances(into_other_buffer<true>, into_other_buffer_fixed<false>))]
pub unsafe fn wild<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::global_index();
    unsafe {
        // Through memory, so that it is an index like any other.
        let distance = y.add(2 * n as usize).cast::<isize>().add(own);
        *distance = match BUG {
            true => (x.as_ptr().addr() as isize - y.addr() as isize) / 4,
            false => 0,
        };
        let distance = distance.read_volatile();
        *y.offset(own as isize + distance) = 1; // now: into_other_buffer
    }
}

/// Writes through a slice of which the kernel says that nobody does.
#[kernel(instances(slice_written<true>, slice_written_fixed<false>))]
pub unsafe fn slice<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let to = if BUG { x.as_ptr().cast_mut() } else { y };
    unsafe { *to.add(own) = own as u32 + n }; // now: slice_written
}
