//! Copies into shared memory, and the barriers that they complete.

use cuda_std::grid_dependency;
use cuda_std::mbarrier::{Barrier, Parity, fence_init};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma;
use cuda_std::warp::{FULL_MASK, sync_warp, warp_vote_all};

/// Threads per block, and elements of a tile.
const BLOCK: usize = 64;
/// Bytes of a tile.
const BYTES: u32 = 4 * BLOCK as u32;

/// A tile that nobody waits for.
#[kernel(instances(load_without_wait<true>, load_without_wait_fixed<false>))]
pub unsafe fn without_wait<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(BYTES);
            // before: load_without_wait
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        if !BUG {
            barrier.wait(Parity::EVEN);
        }
        *y.add(own) = *tile.add(own); // now: load_without_wait
    }
}

/// A wait for the phase before the first, which returns at once.
#[kernel(instances(load_wrong_parity<true>, load_wrong_parity_fixed<false>))]
pub unsafe fn wrong_parity<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(BYTES);
            // before: load_wrong_parity
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        barrier.wait(if BUG { Parity::ODD } else { Parity::EVEN });
        *y.add(own) = *tile.add(own); // now: load_wrong_parity
    }
}

/// Two halves, of which one alone is announced.
#[kernel(instances(load_expects_fewer<true>, load_expects_fewer_fixed<false>))]
pub unsafe fn expects_fewer<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(if BUG { BYTES / 2 } else { BYTES });
            let to = SharedPtr::new(tile);
            // before: load_expects_fewer
            tma::load_bytes(x.as_ptr(), to, BYTES / 2, barrier);
            // at: load_expects_fewer
            tma::load_bytes(
                x.as_ptr().add(BLOCK / 2),
                to.add(BLOCK as u32 / 2),
                BYTES / 2,
                barrier,
            );
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        *y.add(own) = *tile.add(own); // now: load_expects_fewer
    }
}

/// More bytes are announced than come.
#[kernel(instances(load_expects_more<true>, load_expects_more_fixed<false>))]
pub unsafe fn expects_more<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(if BUG { BYTES + 16 } else { BYTES });
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN); // at: load_expects_more
        *y.add(own) = *tile.add(own);
    }
}

/// A barrier that nobody has made.
#[kernel(instances(barrier_not_made<true>, barrier_not_made_fixed<false>))]
pub unsafe fn not_made<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            if !BUG {
                barrier.init(1);
                fence_init();
            }
            barrier.arrive_expect(BYTES); // now: barrier_not_made
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        *y.add(own) = *tile.add(own);
    }
}

/// A second tile, into the place of the first, which is still read.
#[kernel(instances(load_over_read<true>, load_over_read_fixed<false>))]
pub unsafe fn over_read<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
        }
        thread::sync_threads();
        let mut sum = 0;
        let mut phase = Parity::EVEN;
        for part in 0..2 {
            if own == 0 {
                barrier.arrive_expect(BYTES);
                // now: load_over_read
                tma::load_bytes(
                    x.as_ptr().add(part * BLOCK),
                    SharedPtr::new(tile),
                    BYTES,
                    barrier,
                );
            }
            barrier.wait(phase);
            phase = phase.flipped();
            sum += *tile.add(BLOCK - 1 - own); // before: load_over_read
            if !BUG {
                thread::sync_threads();
            }
        }
        *y.add(own) = sum;
    }
}

/// A source between two pieces of 16 bytes.
#[kernel(instances(load_misaligned<true>, load_misaligned_fixed<false>))]
pub unsafe fn misaligned<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(BYTES);
            let from = x.as_ptr().add(if BUG { 1 } else { 4 });
            // now: load_misaligned
            tma::load_bytes(from, SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        *y.add(own) = *tile.add(own);
    }
}

/// Bytes that are no multiple of 16.
#[kernel(instances(load_odd_bytes<true>, load_odd_bytes_fixed<false>))]
pub unsafe fn odd_bytes<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    let bytes = if BUG { BYTES - 8 } else { BYTES - 16 };
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(bytes);
            // now: load_odd_bytes
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), bytes, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        if own < 60 {
            *y.add(own) = *tile.add(own);
        }
    }
}

/// A tile that reaches over the end of `x`.
#[kernel(instances(load_too_long<true>, load_too_long_fixed<false>))]
pub unsafe fn too_long<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    let bytes = if BUG { BYTES } else { 4 * n };
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1);
            fence_init();
            barrier.arrive_expect(bytes);
            // now: load_too_long
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), bytes, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        if own < n as usize {
            *y.add(own) = *tile.add(own);
        }
    }
}

/// A barrier that counts copies, and no fence that shows it to them.
#[kernel(instances(barrier_unfenced<true>, barrier_unfenced_fixed<false>))]
pub unsafe fn unfenced<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let (word, tile) = (shared_array![u64; 1], shared_array![u32; BLOCK]);
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(1); // before: barrier_unfenced
            if !BUG {
                fence_init();
            }
            barrier.arrive_expect(BYTES);
            // now: barrier_unfenced
            tma::load_bytes(x.as_ptr(), SharedPtr::new(tile), BYTES, barrier);
        }
        thread::sync_threads();
        barrier.wait(Parity::EVEN);
        *y.add(own) = *tile.add(own);
    }
}

/// The end of a barrier behind a vote, which makes lanes meet that have waited, and orders no memory.
#[kernel(instances(wait_before_inval<true>, wait_before_inval_fixed<false>))]
pub unsafe fn inval<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let word = shared_array![u64; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let barrier = Barrier::at(SharedPtr::new(word));
        if own == 0 {
            barrier.init(thread::block_threads());
        }
        thread::sync_threads();
        barrier.arrive();
        barrier.wait(Parity::EVEN); // before: wait_before_inval
        if BUG {
            warp_vote_all(FULL_MASK, true);
        } else {
            sync_warp(FULL_MASK);
        }
        if own == 0 {
            barrier.invalidate(); // now: wait_before_inval
        }
        *y.add(own) = x[own];
    }
}

/// A launch that begins before the one in front of it has ended, and reads what that writes.
#[kernel(instances(dependent_without_wait<true>, dependent_without_wait_fixed<false>))]
pub unsafe fn dependent<const BUG: bool>(x: &[u32], y: *mut u32, _n: u32) {
    let own = thread::thread_idx_x() as usize;
    unsafe {
        grid_dependency::launch_dependents();
        if !BUG {
            grid_dependency::wait();
        }
        *y.add(own) += x[own]; // now: dependent_without_wait
    }
}
