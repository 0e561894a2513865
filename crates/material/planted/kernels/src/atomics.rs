//! Atomics that are none for each other.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::atomic::Ordering::{AcqRel, Relaxed};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Some threads count in 4 bytes, some in 8, of which these are the first.
#[kernel(instances(mixed_sizes<true>, mixed_sizes_fixed<false>))]
pub unsafe fn sizes<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::global_index();
    let value = x[own % n as usize];
    unsafe {
        if BUG && own >= 32 {
            atomic_fetch_add_u64_device(y.cast(), Relaxed, value.into()); // now: mixed_sizes
        } else {
            atomic_fetch_add_u32_device(y, Relaxed, value); // before: mixed_sizes
        }
    }
}

/// Threads look for the greatest with atomics, and one writes it without.
#[kernel(
    instances(plain_against_atomic<true>, plain_against_atomic_fixed<false>),
    allow(unordered_atomic)
)]
pub unsafe fn plain<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::global_index();
    let value = x[own % n as usize];
    unsafe {
        if BUG && own == 0 {
            y.write(value); // before: plain_against_atomic
        } else {
            AtomicU32::from_ptr(y).fetch_max(value, Ordering::Relaxed); // now: plain_against_atomic
        }
    }
}

/// A counter that is added to by the instruction that Rust before 1.99 makes of `core`'s
/// `fetch_add(1, Ordering::AcqRel)`: it has neither order nor scope.
#[gpu_only]
#[inline(always)]
unsafe fn fetch_add_without_order(counter: *mut u32) -> u32 {
    let before: u32;
    unsafe {
        core::arch::asm!(
            "atom.global.add.u32 {before}, [{counter}], 1;",
            before = out(reg32) before,
            counter = in(reg64) counter,
        );
    }
    before
}

/// The block that comes last reads what the others have written, by a counter whose order the compiler has
/// dropped.
#[kernel(instances(order_dropped<true>, order_dropped_fixed<false>), allow(unordered_atomic))]
pub unsafe fn dropped<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x());
    let (counter, values) = unsafe { (y.add(1), y.add(2)) };
    if thread::thread_idx_x() != 0 {
        return;
    }
    unsafe {
        *values.add(block) = x[block % n as usize]; // before: order_dropped
        let came = if BUG {
            fetch_add_without_order(counter)
        } else {
            atomic_fetch_add_u32_device(counter, AcqRel, 1)
        };
        if came == blocks - 1 {
            let mut sum = 0;
            for i in 0..blocks as usize {
                sum += *values.add(i); // now: order_dropped
            }
            *y = sum;
        }
    }
}
