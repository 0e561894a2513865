//! Atomics of 8 and 16 bits, of which compilers make loops over the words around them; of those of bits, one atomic of the
//! word.

use core::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

use cuda_std::prelude::*;

/// Every other byte is counted in with atomics, and the bytes between belong to one thread each.
#[kernel(
    instances(byte_not_atomic<true>, byte_not_atomic_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn bytes<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let counts = shared_array![u8; 67];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *counts.add(own) = 0;
        thread::sync_threads();
        let add = x[own % n as usize] as u8;
        if own.is_multiple_of(2) {
            AtomicU8::from_ptr(counts.add(own / 8 * 2)).fetch_add(add, Relaxed); // at: byte_not_atomic
        } else {
            let place = if BUG && own == 1 { 0 } else { own };
            *counts.add(place) = counts.add(place).read() + 1; // at: byte_not_atomic
        }
        thread::sync_threads();
        *y.add(own) = u32::from(*counts.add(own));
    }
}

/// The last of three halves of a word and a half is counted in with atomics.
#[kernel(
    instances(half_not_atomic<true>, half_not_atomic_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn halves<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let counts = shared_array![u16; 3];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own < 3 {
            *counts.add(own) = 7;
        }
        thread::sync_threads();
        let add = x[own % n as usize] as u16;
        if BUG && own == 40 {
            *counts.add(2) = add; // at: half_not_atomic
        } else {
            AtomicU16::from_ptr(counts.add(2)).fetch_max(add, Relaxed); // at: half_not_atomic
        }
        thread::sync_threads();
        *y.add(own) = u32::from(*counts.add(own % 3));
    }
}

/// A heap block of five bytes, of which each thread counts in the last.
#[kernel(instances(bytes_on_heap<true>, bytes_on_heap_fixed<false>), allow(unordered_atomic, local_memory))]
pub unsafe fn heap<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut counts: Vec<u8> = Vec::with_capacity(5);
    unsafe {
        let first = core::hint::black_box(counts.as_mut_ptr());
        first.add(1).write(3);
        if !BUG {
            first.add(4).write(1);
        }
        let last = AtomicU8::from_ptr(first.add(4));
        last.fetch_add(x[own % n as usize] as u8, Relaxed);
        *y.add(own) = u32::from(last.swap(2, Relaxed)) + u32::from(*first.add(1)); // at: bytes_on_heap
    }
}

/// Flags of threads in every other byte, and between them bytes that belong to one thread each.
#[kernel(
    instances(flags_not_atomic<true>, flags_not_atomic_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn flags<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let flags = shared_array![u8; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *flags.add(own) = 0x0f;
        thread::sync_threads();
        let of = x[own % n as usize] as u8;
        if BUG && own == 3 {
            *flags = of; // at: flags_not_atomic
        } else if own % 2 == 1 {
            *flags.add(own) = flags.add(own).read() + 1;
        } else {
            let all = AtomicU8::from_ptr(flags.add(own / 16 * 2));
            match own % 8 {
                0 => all.fetch_or(of, Relaxed),  // at: flags_not_atomic
                2 => all.fetch_and(of, Relaxed), // at: flags_not_atomic
                4 => all.fetch_xor(of, Relaxed), // at: flags_not_atomic
                _ => all.fetch_min(of, Relaxed), // at: flags_not_atomic
            };
        }
        thread::sync_threads();
        *y.add(own) = u32::from(*flags.add(own | 1));
    }
}

/// One of three halves is ever written, to which flags of threads are added.
#[kernel(
    instances(half_not_cleared<true>, half_not_cleared_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn half_of_flags<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let flags = shared_array![u16; 3];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if !BUG && own == 0 {
            *flags.add(1) = 0;
        }
        thread::sync_threads();
        let of = x[own % n as usize] as u16;
        AtomicU16::from_ptr(flags.add(1)).fetch_or(of, Relaxed); // at: half_not_cleared
        thread::sync_threads();
        *y.add(own) = u32::from(*flags.add(1));
    }
}
