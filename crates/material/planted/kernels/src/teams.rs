//! Launches on any number of devices. Each has `flags`, 0 at first, and `pieces`, which nobody has written: a word for each device, and one for
//! its result. Both arguments have the addresses of all devices' words.

use cuda_std::atomic::Ordering::{Acquire, Release};
use cuda_std::atomic::mid::{atomic_load_32_system, atomic_store_32_system};
use cuda_std::prelude::*;

/// Returns the number that a device contributes.
#[inline(always)]
fn number(rank: u32) -> u32 {
    rank + 7
}

#[inline(always)]
fn word(all: &[u64], device: usize, place: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut::<u32>(all[device] as usize).wrapping_add(place)
}

#[inline(always)]
unsafe fn tell(flag: *mut u32, number: u32) {
    unsafe { atomic_store_32_system(flag, Release, number) };
}

#[inline(always)]
unsafe fn wait(flag: *mut u32, number: u32) {
    while unsafe { atomic_load_32_system(flag, Acquire) } < number {
        thread::nanosleep(100);
    }
}

/// The sum of all pieces that have come to a device.
#[inline(always)]
unsafe fn sum(pieces: &[u64], own: usize) -> u32 {
    let mut sum = 0;
    for piece in 0..pieces.len() {
        sum += unsafe { *word(pieces, own, piece) }; // reads: ring_one_step_short
    }
    sum
}

/// Each device writes its number to all, and then tells all but the last one.
#[kernel(instances(flag_for_too_few<true>, flag_for_too_few_fixed<false>))]
pub unsafe fn to_all<const BUG: bool>(flags: &[u64], pieces: &[u64], rank: u32) {
    let (ranks, own) = (flags.len(), rank as usize);
    let told = if BUG { ranks - 1 } else { ranks };
    unsafe {
        for peer in 0..ranks {
            *word(pieces, peer, own) = number(rank);
        }
        for peer in 0..told {
            tell(word(flags, peer, own), 1);
        }
        for peer in 0..ranks {
            wait(word(flags, own, peer), 1);
        }
        *word(pieces, own, ranks) = sum(pieces, own);
    }
}

/// The numbers go round in a ring, from each device to the next, which takes one step fewer than there are devices: with the bug
/// there is one too few.
#[kernel(instances(ring_one_step_short<true>, ring_one_step_short_fixed<false>))]
pub unsafe fn around<const BUG: bool>(flags: &[u64], pieces: &[u64], rank: u32) {
    let (ranks, own) = (flags.len(), rank as usize);
    let next = (own + 1) % ranks;
    let steps = if BUG { ranks - 2 } else { ranks - 1 };
    unsafe {
        *word(pieces, own, own) = number(rank);
        for step in 0..steps {
            let piece = (own + ranks - step) % ranks;
            *word(pieces, next, piece) = *word(pieces, own, piece);
            tell(word(flags, next, 0), step as u32 + 1);
            wait(word(flags, own, 0), step as u32 + 1);
        }
        *word(pieces, own, ranks) = sum(pieces, own);
    }
}
