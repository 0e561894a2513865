//! Launches on two devices, which hand each other messages: `first` is memory of rank 0 and `second` of rank 1.

use cuda_std::atomic::Ordering::{Acquire, Relaxed, Release};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// Elements of either memory.
pub const ELEMENTS: usize = 128;

/// The words of a rank's memory: whether the other has begun, the number of its last message, the number of the last one
/// that it has read, what it counts, the message, and what was read of it.
const READY: usize = 0;
const FLAG: usize = 1;
const READ: usize = 2;
const COUNT: usize = 3;
const MESSAGE: usize = 32;
const SEEN: usize = 64;

/// The facts that both ranks know.
#[derive(Clone, Copy)]
struct Ranks {
    own: *mut u32,
    other: *mut u32,
    is_first: bool,
}

impl Ranks {
    /// Begins, when both ranks have.
    #[inline(always)]
    unsafe fn meet(first: *mut u32, second: *mut u32, rank: u32) -> Ranks {
        let (own, other) = if rank == 0 {
            (first, second)
        } else {
            (second, first)
        };
        let ranks = Ranks {
            own,
            other,
            is_first: rank == 0,
        };
        unsafe {
            ranks.tell(READY, 1);
            ranks.wait(READY, 1);
        }
        ranks
    }

    /// Writes the number, behind all that the block has done.
    #[inline(always)]
    unsafe fn tell(self, slot: usize, number: u32) {
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            unsafe { self.tell_alone(slot, number) };
        }
    }

    /// The same of what this thread has done.
    #[inline(always)]
    unsafe fn tell_alone(self, slot: usize, number: u32) {
        unsafe { atomic_store_32_system(self.other.add(slot), Release, number) };
    }

    /// Waits until the other rank has told so much.
    #[inline(always)]
    unsafe fn wait(self, slot: usize, number: u32) {
        if thread::thread_idx_x() == 0 {
            unsafe { self.wait_alone(slot, number) };
        }
        thread::sync_threads();
    }

    /// The same, for this thread alone.
    #[inline(always)]
    unsafe fn wait_alone(self, slot: usize, number: u32) {
        while unsafe { atomic_load_32_system(self.own.add(slot), Acquire) } < number {
            thread::nanosleep(100);
        }
    }

    /// Rank 0 writes a message into the other's memory, and then one thread says that it is there.
    #[inline(always)]
    unsafe fn send(self, say: impl FnOnce(*mut u32)) {
        unsafe { *self.of(self.other, MESSAGE) = thread::thread_idx_x() + 7 }; // writes: fence_of_the_device, flag_without_fence
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            say(unsafe { self.other.add(FLAG) });
        }
    }

    /// Rank 1 waits for a message, and keeps it.
    #[inline(always)]
    unsafe fn receive(self) {
        unsafe {
            self.wait(FLAG, 1);
            let message = *self.of(self.own, MESSAGE); // reads: flag_before_data, fence_of_the_device, flag_without_fence
            *self.of(self.own, SEEN) = message;
        }
    }

    /// The element of a memory that is this thread's.
    #[inline(always)]
    fn of(self, memory: *mut u32, slot: usize) -> *mut u32 {
        unsafe { memory.add(slot + thread::thread_idx_x() as usize) }
    }
}

/// The flag is set before the message is written that it stands for.
#[kernel(instances(flag_before_data<true>, flag_before_data_fixed<false>))]
pub unsafe fn early<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    unsafe {
        let ranks = Ranks::meet(first, second, rank);
        if !ranks.is_first {
            return ranks.receive(); // receives: flag_before_data
        }
        let value = thread::thread_idx_x() + 7;
        if BUG {
            ranks.tell(FLAG, 1);
            *ranks.of(second, MESSAGE) = value; // writes: flag_before_data
        } else {
            *ranks.of(second, MESSAGE) = value;
            ranks.tell(FLAG, 1);
        }
    }
}

/// A fence orders the message before its flag, but for the threads of its own device alone.
#[kernel(instances(fence_of_the_device<true>, fence_of_the_device_fixed<false>))]
pub unsafe fn near_fence<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    unsafe {
        let ranks = Ranks::meet(first, second, rank);
        if !ranks.is_first {
            return ranks.receive(); // receives: fence_of_the_device
        }
        let say = |flag| {
            if BUG {
                device_thread_fence(Release);
            } else {
                system_thread_fence(Release);
            }
            atomic_store_32_system(flag, Relaxed, 1);
        };
        ranks.send(say); // sends: fence_of_the_device
    }
}

/// Nothing orders the message before its flag.
#[kernel(instances(flag_without_fence<true>, flag_without_fence_fixed<false>))]
pub unsafe fn no_fence<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    unsafe {
        let ranks = Ranks::meet(first, second, rank);
        if !ranks.is_first {
            return ranks.receive(); // receives: flag_without_fence
        }
        let order = if BUG { Relaxed } else { Release };
        ranks.send(|flag| atomic_store_32_system(flag, order, 1)); // sends: flag_without_fence
    }
}

/// Two devices count together with atomics of the scope of one.
#[kernel(instances(atomic_of_the_device<true>, atomic_of_the_device_fixed<false>))]
pub unsafe fn near_atomic<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    unsafe {
        Ranks::meet(first, second, rank);
        let count = first.add(COUNT);
        if BUG {
            atomic_fetch_add_u32_device(count, Relaxed, 1); // both: atomic_of_the_device
        } else {
            atomic_fetch_add_u32_system(count, Relaxed, 1);
        }
    }
}

/// The flag is stored and loaded with an order, but for the threads of one device alone.
#[kernel(instances(store_of_the_device<true>, store_of_the_device_fixed<false>))]
pub unsafe fn near_store<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    unsafe {
        let ranks = Ranks::meet(first, second, rank);
        if ranks.is_first {
            *ranks.of(second, MESSAGE) = thread::thread_idx_x() + 7;
            thread::sync_threads();
            if thread::thread_idx_x() == 0 {
                let flag = second.add(FLAG);
                if BUG {
                    atomic_store_32_device(flag, Release, 1); // writes: store_of_the_device
                } else {
                    atomic_store_32_system(flag, Release, 1);
                }
                // The other rank looks meanwhile.
                while atomic_load_32_system(first.add(READ), Acquire) == 0 {
                    thread::nanosleep(100);
                }
            }
        } else {
            let flag = second.add(FLAG);
            if thread::thread_idx_x() == 0 {
                while atomic_load_32_system(flag, Acquire) == 0 {} // reads: store_of_the_device
            }
            thread::sync_threads();
            *ranks.of(second, SEEN) = *ranks.of(second, MESSAGE);
            ranks.tell(READ, 1);
        }
    }
}

/// When the reader of two messages in one place says that it has read the first.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Never,
    Before,
    After,
}

/// Two messages in one place.
#[inline(always)]
unsafe fn twice(first: *mut u32, second: *mut u32, rank: u32, says: Says) {
    unsafe {
        let ranks = Ranks::meet(first, second, rank);
        if thread::thread_idx_x() != 0 {
            return;
        }
        let (message, mut seen) = (second.add(MESSAGE), 0);
        for number in 1..=2 {
            if ranks.is_first {
                if says != Says::Never {
                    ranks.wait_alone(READ, number - 1);
                }
                *message = number * 100; // writes: buffer_reused, told_before_read
                ranks.tell_alone(FLAG, number);
                continue;
            }
            ranks.wait_alone(FLAG, number);
            if says == Says::Before {
                ranks.tell_alone(READ, number);
            }
            seen += *message; // reads: buffer_reused, told_before_read
            if says == Says::After {
                ranks.tell_alone(READ, number);
            }
        }
        if !ranks.is_first {
            *second.add(SEEN) = seen;
        }
    }
}

/// The second message is written over the first, which the other rank may not have read yet.
#[kernel(instances(buffer_reused<true>, buffer_reused_fixed<false>))]
pub unsafe fn reuse<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    let says = if BUG { Says::Never } else { Says::After };
    unsafe { twice(first, second, rank, says) }; // twice: buffer_reused
}

/// The reader says that it has read the message before it does.
#[kernel(instances(told_before_read<true>, told_before_read_fixed<false>))]
pub unsafe fn hasty<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    let says = if BUG { Says::Before } else { Says::After };
    unsafe { twice(first, second, rank, says) }; // twice: told_before_read
}

/// Rank 0 reads the other's memory, where nobody has allowed that, or its own.
#[kernel(instances(no_peer_access<true>, no_peer_access_fixed<false>))]
pub unsafe fn unallowed<const BUG: bool>(first: *mut u32, second: *mut u32, rank: u32) {
    let own = if rank == 0 { first } else { second };
    let from = if BUG { second } else { own };
    let i = thread::thread_idx_x() as usize;
    unsafe { *own.add(SEEN + i) = *from.add(MESSAGE + i) + rank }; // at: no_peer_access
}
