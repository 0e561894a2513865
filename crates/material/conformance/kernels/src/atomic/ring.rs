//! Loads, stores and fences with the scope of the system, between devices.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

use super::message::{BY_FENCES, BY_RELEASE, BY_SEQ_CST};

/// Beside those: the flag is volatile, and there are fences.
pub const BY_VOLATILE: u32 = 3;

/// The memory that a device has for the one before it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Seat {
    /// The token that is handed on.
    pub token: u64,
    /// How often it has come.
    pub flag: u32,
    /// How often somebody has counted here.
    pub count: u32,
}

/// A token goes from device to device, each of which adds its rank and 1, and so often around; the first has it in the end.
/// Each time a device counts in the first one's memory, too.
///
/// # Safety
/// `own`, `next` and `first` are memory of this device, of the next and of the first, zeros before; kernels of all ranks run at
/// the same time.
#[kernel]
pub unsafe fn ring(
    own: *mut Seat,
    next: *mut Seat,
    first: *mut Seat,
    rank: u32,
    laps: u32,
    by: u32,
) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    unsafe {
        let is_first = rank == 0;
        for lap in 0..laps {
            let token = match (is_first, lap) {
                (true, 0) => 0,
                (true, _) => taken(own, lap, by),
                _ => taken(own, lap + 1, by),
            };
            atomic_fetch_add_u32_system(&raw mut (*first).count, Relaxed, 1);
            (*next).token = token + u64::from(rank) + 1;
            let flag = &raw mut (*next).flag;
            let number = lap + 1;
            match by {
                BY_RELEASE => atomic_store_32_system(flag, Release, number),
                BY_SEQ_CST => atomic_store_32_system(flag, SeqCst, number),
                BY_FENCES => {
                    system_thread_fence(Release);
                    atomic_store_32_system(flag, Relaxed, number);
                }
                _ => {
                    thread::system_fence();
                    flag.write_volatile(number);
                }
            }
        }
        if is_first {
            taken(own, laps, by);
        }
    }
}

/// The token, when it has come so often.
#[inline(always)]
unsafe fn taken(own: *mut Seat, number: u32, by: u32) -> u64 {
    unsafe {
        let flag = &raw mut (*own).flag;
        let get = || match by {
            BY_RELEASE => atomic_load_32_system(flag, Acquire),
            BY_SEQ_CST => atomic_load_32_system(flag, SeqCst),
            BY_FENCES => atomic_load_32_system(flag, Relaxed),
            _ => flag.read_volatile(),
        };
        while get() < number {
            thread::nanosleep(100);
        }
        match by {
            BY_FENCES => system_thread_fence(AcqRel),
            BY_VOLATILE => thread::system_fence(),
            _ => {}
        }
        (*own).token
    }
}
