//! The multiprocessors' clocks. Two readings around a launch tell at which clock it ran.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::atomic_compare_and_swap_u64_device;
use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;

/// The content of a word that has not been written.
const UNWRITTEN: u64 = u64::MAX;

/// The first block of each multiprocessor writes the cycles of its clock, and the nanoseconds of the
/// clock that all share, to place `slot * places` plus the multiprocessor's number, if that is below
/// `places`.
///
/// # Safety
/// `out` has room for `(slot + 1) * places` pairs, and all bits of the slot's are set.
#[kernel]
pub unsafe fn read_clocks(out: *mut [u64; 2], places: u32, slot: u32) {
    let own = thread::multiprocessor();
    if thread::thread_idx_x() == 0 && own < places {
        let (cycles, nanoseconds) = (clock(), globaltimer());
        let place = (slot * places + own) as usize;
        // SAFETY: the place is below the room that the caller vouches for. Of several blocks the one
        // that comes first writes both words.
        unsafe {
            let pair: *mut u64 = out.add(place).cast();
            let found = atomic_compare_and_swap_u64_device(
                pair.add(1),
                UNWRITTEN,
                nanoseconds,
                Ordering::Relaxed,
            );
            if found == UNWRITTEN {
                *pair = cycles;
            }
        }
    }
}
