//! The time of a barrier in shared memory (`mbarrier`) that all threads of a block arrive and wait at.

use cuda_std::mbarrier::{Barrier, Parity, fence_init};
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;

/// All threads of the block, the only one of the grid, arrive at an mbarrier and wait for each other, `rounds` times. The first
/// one writes how long that took, in cycles and in nanoseconds, and how many phases it has waited for.
///
/// # Safety
/// `out` has room for 3 words.
#[kernel]
pub unsafe fn arrive_and_wait(rounds: u32, out: *mut u64) {
    // SAFETY: one thread makes the barrier, and a barrier of the block follows.
    let barrier = unsafe { Barrier::at(SharedPtr::new(shared_array![u64; 1])) };
    if thread::first() {
        barrier.init(thread::block_threads());
        fence_init();
    }
    thread::sync_threads();
    let (mut passed, mut phase) = (0u64, Parity::EVEN);
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..rounds {
        barrier.arrive();
        barrier.wait(phase);
        phase = phase.flipped();
        passed += 1;
    }
    if thread::first() {
        // SAFETY: three words, of one thread.
        unsafe {
            *out = clock() - ticks;
            *out.add(1) = globaltimer() - nanoseconds;
            *out.add(2) = passed;
        }
    }
}
