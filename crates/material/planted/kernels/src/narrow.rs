//! Atomics of bytes and halves beside memory that nothing has written, each used once where nothing was written.

use core::hint::black_box;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicI16, AtomicU8, AtomicU16};

use cuda_std::prelude::*;

/// Two counters in a block of seven bytes, of which the others are never written.
#[kernel(
    instances(counter_not_set<true>, counter_not_set_fixed<false>),
    allow(unordered_atomic, local_memory)
)]
pub unsafe fn counters<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let room = shared_array![*mut u8; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            let bytes = Box::into_raw(Box::<[u8]>::new_uninit_slice(7)).cast::<u8>();
            bytes.add(2).write(0);
            if !BUG {
                bytes.add(6).write(1);
            }
            *room = bytes;
        }
        thread::sync_threads();
        let bytes = *room;
        let of = x[own % n as usize] as u8;
        AtomicU8::from_ptr(bytes.add(2)).fetch_add(of, Relaxed);
        AtomicU8::from_ptr(bytes.add(6)).fetch_add(of, Relaxed); // at: counter_not_set
        thread::sync_threads();
        *y.add(own) = u32::from(*bytes.add(2)) + u32::from(*bytes.add(6));
        thread::sync_threads();
        if own == 0 {
            drop(Box::from_raw(core::ptr::slice_from_raw_parts_mut(
                bytes.cast::<MaybeUninit<u8>>(),
                7,
            )));
        }
    }
}

/// The least and the greatest of all threads, in halves of shared memory with an unused one between them.
#[kernel(
    instances(greatest_not_set<true>, greatest_not_set_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn extremes<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let halves = shared_array![i16; 3];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            halves.write(i16::MAX);
            if !BUG {
                halves.add(2).write(i16::MIN);
            }
        }
        thread::sync_threads();
        let of = x[own % n as usize] as i16 - 50;
        AtomicI16::from_ptr(halves).fetch_min(of, Relaxed);
        AtomicI16::from_ptr(halves.add(2)).fetch_max(of, Relaxed); // at: greatest_not_set
        thread::sync_threads();
        *y.add(own) = (i32::from(*halves.add(2)) - i32::from(*halves)) as u32;
    }
}

/// A slot that the first thread to come takes.
#[repr(C)]
struct Slot {
    is_taken: AtomicBool,
    by: MaybeUninit<u32>,
}

/// Threads take slots, whose flags lie beside padding.
#[kernel(
    instances(flag_not_set<true>, flag_not_set_fixed<false>),
    allow(unordered_atomic, local_memory)
)]
pub unsafe fn slots<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let slots = shared_array![MaybeUninit<Slot>; 8];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own < if BUG { 7 } else { 8 } {
            let slot = (*slots.add(own)).as_mut_ptr();
            (&raw mut (*slot).is_taken).write(AtomicBool::new(false));
        }
        thread::sync_threads();
        let slot = (*slots.add(own % 8)).as_mut_ptr();
        let is_first = !(*slot).is_taken.swap(true, AcqRel); // at: flag_not_set
        // at: flag_not_set
        if is_first {
            (*slot).by.write(x[own % 8 % n as usize]);
        }
        thread::sync_threads();
        *y.add(own) = (*slot).by.assume_init();
    }
}

/// A state that threads move on by comparing, in a struct with padding on the heap.
#[repr(C)]
struct Machine {
    value: u32,
    state: AtomicU8,
}

/// Each thread has a machine of its own and moves it on.
#[kernel(
    instances(state_not_set<true>, state_not_set_fixed<false>),
    allow(unordered_atomic, local_memory)
)]
pub unsafe fn machines<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut machine = Box::<Machine>::new_uninit();
    unsafe {
        let it = black_box(machine.as_mut_ptr());
        (&raw mut (*it).value).write(x[own % n as usize]);
        if !BUG {
            (&raw mut (*it).state).write(AtomicU8::new(4));
        }
        let machine = machine.assume_init();
        let moved = machine.state.compare_exchange(4, 5, AcqRel, Acquire); // at: state_not_set
        let by = moved.unwrap_or_else(|it| it + 100);
        *y.add(own) = machine.value + u32::from(by) + u32::from(machine.state.load(Acquire));
    }
}

/// A histogram of halves, each thread's part of which is summed afterwards.
#[kernel(
    instances(bins_not_cleared<true>, bins_not_cleared_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn histogram<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let bins = shared_array![u16; 97];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let mut bin = own;
        while bin < if BUG { 96 } else { 97 } {
            bins.add(bin).write(0);
            bin += 64;
        }
        thread::sync_threads();
        let of = x[own % n as usize] as usize;
        AtomicU16::from_ptr(bins.add(of)).fetch_add(1, Relaxed);
        AtomicU16::from_ptr(bins.add(96 - of)).fetch_sub(2, Relaxed); // at: bins_not_cleared
        thread::sync_threads();
        *y.add(own) = u32::from(*bins.add(own)) + u32::from(*bins.add(own + 33)); // at: bins_not_cleared
    }
}

/// A value of three bytes is published by a flag in the fourth.
#[kernel(
    instances(byte_not_published<true>, byte_not_published_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn publish<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let words = shared_array![[u8; 4]; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let mine = words.add(own).cast::<u8>();
        AtomicBool::from_ptr(mine.add(3).cast()).store(false, Relaxed);
        thread::sync_threads();
        let of = x[own % n as usize];
        for i in 0..if BUG { 2 } else { 3 } {
            mine.add(i).write((of >> i) as u8);
        }
        AtomicBool::from_ptr(mine.add(3).cast()).store(true, Release);
        let other = words.add(own ^ 32).cast::<u8>();
        while !AtomicBool::from_ptr(other.add(3).cast()).load(Acquire) {}
        let sum: u32 = (0..3).map(|i| u32::from(*other.add(i))).sum(); // at: byte_not_published
        *y.add(own) = sum; // at: byte_not_published
    }
}
