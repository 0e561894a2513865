//! Races on buffers.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Each block writes its part and the first element of the next one's.
#[kernel(instances(two_blocks_write<true>, two_blocks_write_fixed<false>))]
pub unsafe fn overlap<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let part = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * part;
    let end = (first + part + usize::from(BUG)).min(n as usize);
    let mut i = first + thread::thread_idx_x() as usize;
    while i < end {
        unsafe { *y.add(i) = x[i] * 2 + thread::block_idx_x() }; // both: two_blocks_write
        i += part;
    }
}

/// A histogram that counts without atomics.
#[kernel(instances(global_histogram<true>, global_histogram_fixed<false>))]
pub unsafe fn histogram<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    for i in thread::grid_stride(n as usize) {
        unsafe {
            let bin = y.add(x[i] as usize % 16);
            if BUG {
                *bin += 1; // both: global_histogram
            } else {
                atomic_fetch_add_u32_device(bin, Relaxed, 1);
            }
        }
    }
}

/// A stencil in place: a block reads what its neighbour overwrites.
#[kernel(instances(stencil_in_place<true>, stencil_in_place_fixed<false>))]
pub unsafe fn stencil<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let i = thread::global_index();
    if i + 1 < n as usize {
        unsafe {
            let next = if BUG {
                *y.add(i + 1) // before: stencil_in_place
            } else {
                x[i + 1]
            };
            *y.add(i) = x[i] + next; // now: stencil_in_place
        }
    }
}

/// The block that comes last adds up what all have written; their tickets order nothing.
#[kernel(instances(last_block_without_fence<true>, last_block_without_fence_fixed<false>))]
pub unsafe fn last_block<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let is_last = shared_array![u32; 1];
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    let (partial, ticket) = unsafe { (y.add(2), y.add(1)) };
    unsafe {
        if thread::thread_idx_x() == 0 {
            *partial.add(block as usize) = x[block as usize % n as usize]; // before: last_block_without_fence
            let order = if BUG { Relaxed } else { AcqRel };
            let before = atomic_fetch_add_u32_device(ticket, order, 1);
            *is_last = u32::from(before == blocks - 1);
        }
        thread::sync_threads();
        if *is_last == 1 && thread::thread_idx_x() == 1 {
            let mut sum = 0;
            for i in 0..blocks as usize {
                sum += *partial.add(i); // now: last_block_without_fence
            }
            *y = sum;
        }
    }
}

/// Blocks count together with atomics of the scope of one.
#[kernel(instances(scope_too_narrow<true>, scope_too_narrow_fixed<false>))]
pub unsafe fn scope<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let value = x[thread::global_index() % n as usize];
    unsafe {
        if BUG {
            atomic_fetch_add_u32_block(y, Relaxed, value); // both: scope_too_narrow
        } else {
            atomic_fetch_add_u32_device(y, Relaxed, value);
        }
    }
}

/// One block hands a message to another through a flag without an order.
#[kernel(instances(message_without_order<true>, message_without_order_fixed<false>))]
pub unsafe fn message<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (message, flag, read) = unsafe { (y, y.add(1), y.add(2)) };
    if thread::thread_idx_x() != 0 {
        return;
    }
    unsafe {
        if thread::block_idx_x() == 0 {
            *message = x[n as usize - 1]; // before: message_without_order
            atomic_store_32_device(flag, if BUG { Relaxed } else { Release }, 1);
        } else {
            let order = if BUG { Relaxed } else { Acquire };
            while atomic_load_32_device(flag, order) == 0 {
                thread::nanosleep(100);
            }
            *read = *message; // now: message_without_order
        }
    }
}

/// A thread reads what its neighbour in the block has just written, without a barrier.
#[kernel(instances(neighbour_without_barrier<true>, neighbour_without_barrier_fixed<false>))]
pub unsafe fn neighbour<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (own, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let first = unsafe { y.add((thread::block_idx_x() * threads) as usize) };
    unsafe {
        *first.add(own as usize) = x[thread::global_index() % n as usize]; // before: neighbour_without_barrier
        if !BUG {
            thread::sync_threads();
        }
        let next = *first.add(((own + 1) % threads) as usize); // now: neighbour_without_barrier
        *y.add(n as usize + thread::global_index()) = next;
    }
}
