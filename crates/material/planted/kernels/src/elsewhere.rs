//! Pointers to what they were not made for.

use core::hint::black_box;

use cuda_std::atomic::Ordering::{Acquire, Release};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// The table that all threads look up.
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

/// An element far from a shared array, which is one of another array's.
#[kernel(instances(into_next_array<true>, into_next_array_fixed<false>), allow(local_memory))]
pub unsafe fn next<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (first, second) = (shared_array![u32; 64], shared_array![u32; 256]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for i in 0..4 {
            *second.add(i * 64 + own) = x[(i * 64 + own) % n as usize];
        }
        *first.add(own) = x[own % n as usize];
        thread::sync_threads();
        // Which of them lies first is the compiler's choice.
        let apart = black_box(second.addr().wrapping_sub(first.addr()));
        let place = if BUG { apart.wrapping_add(4 * 32) } else { 0 };
        *y.add(own) = *first.wrapping_byte_add(place).add(own) + *second.add(own); // now: into_next_array
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

/// Factors that do not change, in global memory.
static FACTORS: [u32; 4] = [7, 11, 13, 17];

/// Writes to it.
#[kernel(instances(static_written<true>, static_written_fixed<false>))]
pub unsafe fn write_static<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let factor = unsafe { FACTORS.as_ptr().add(x[own % n as usize] as usize % 4) };
    unsafe {
        let value = *factor;
        if BUG && own == 0 {
            factor.cast_mut().write_volatile(value + 1); // now: static_written
        }
        *y.add(own) = value;
    }
}

/// The same, for [`write_what_is_read`] alone: of the kernel that writes it, and of its twin.
static STEPS: [u32; 4] = [1, 3, 9, 27];
static UNCHANGED: [u32; 4] = [1, 3, 9, 28];

/// Writes to it by a pointer that was in memory, behind a barrier.
#[kernel(instances(read_only_written<true>, read_only_written_fixed<false>))]
pub unsafe fn write_what_is_read<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (own, kept) = (thread::thread_idx_x() as usize, shared_array![*mut u32; 1]);
    let steps = if BUG { &STEPS } else { &UNCHANGED };
    let step = steps[x[own % n as usize] as usize % 4]; // before: read_only_written
    unsafe {
        *y.add(own) = step;
        if own == 0 {
            kept.write(if BUG { STEPS.as_ptr().cast_mut() } else { y });
        }
        thread::sync_threads();
        if own == 0 {
            let to = kept.read_volatile();
            *to = 1; // now: read_only_written
        }
    }
}

/// The first block tells the second where its shared memory is.
#[kernel(instances(other_blocks_memory<true>, other_blocks_memory_fixed<false>))]
pub unsafe fn other<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (own, values) = (thread::thread_idx_x() as usize, shared_array![u32; 64]);
    unsafe {
        let (flag, at, visible) = (y, y.add(2).cast::<*mut u32>(), y.add(4));
        *values.add(own) = x[own % n as usize];
        thread::sync_threads();
        if own == 0 && thread::block_idx_x() == 0 {
            *visible = *values;
            at.write(if BUG { values } else { visible });
            atomic_store_32_device(flag, Release, 1);
        }
        if own == 0 && thread::block_idx_x() == 1 {
            while atomic_load_32_device(flag, Acquire) == 0 {}
            let value = *at.read(); // now: other_blocks_memory
            *y.add(5) = value;
        }
    }
}
