//! What the multiprocessors' clocks show. Two readings around a launch tell at which clock it ran.

use cuda_std::misc::{clock, globaltimer};
use cuda_std::prelude::*;

/// Each block writes the cycles of its multiprocessor's clock, and the nanoseconds of the clock that
/// all share, to place `slot * places` plus the multiprocessor's number, if that is below `places`.
///
/// # Safety
/// `out` has room for `(slot + 1) * places` pairs and is aligned to 16 bytes.
#[kernel]
pub unsafe fn read_clocks(out: *mut [u64; 2], places: u32, slot: u32) {
    let own = thread::multiprocessor();
    if thread::thread_idx_x() == 0 && own < places {
        let place = (slot * places + own) as usize;
        // SAFETY: the place is below the room that the caller vouches for. Blocks of one
        // multiprocessor may both write it, each in one access, and either is right.
        unsafe { vector::store(out.add(place).cast(), [clock(), globaltimer()]) };
    }
}
