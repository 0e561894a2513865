//! The loads, stores and fences of `cuda_std::atomic::mid`: messages from one thread to another.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;
use pastey::paste;

/// How often a reader looks for a message before it gives up.
const PATIENCE: u32 = 100_000;

/// The ways to order the message and its flag, as the kernels' `by` says.
pub const BY_RELEASE: u32 = 0;
/// See [`BY_RELEASE`].
pub const BY_SEQ_CST: u32 = 1;
/// See [`BY_RELEASE`].
pub const BY_FENCES: u32 = 2;

/// The writer's and the reader's thread: of two blocks, or for the block's scope of two warps.
#[derive(PartialEq, Eq)]
enum Role {
    Writer,
    Reader,
    Neither,
}

/// A thread's place among those that write and those that read.
fn role_in_grid() -> Role {
    match (thread::block_idx_x(), thread::thread_idx_x()) {
        (0, 0) => Role::Writer,
        (1, 0) => Role::Reader,
        _ => Role::Neither,
    }
}

/// As [`role_in_grid`], within a block.
fn role_in_block() -> Role {
    match (thread::block_idx_x(), thread::thread_idx_x()) {
        (0, 0) => Role::Writer,
        (0, 32) => Role::Reader,
        _ => Role::Neither,
    }
}

/// Waits until the flag is at least so much; 0 if that takes too long.
fn wait_for(least: u64, flag: impl Fn() -> u64) -> u64 {
    for _ in 0..PATIENCE {
        let seen = flag();
        if seen >= least {
            return seen;
        }
        thread::nanosleep(100);
    }
    0
}

/// Message `i`.
pub fn message(i: u64) -> u64 {
    i * i + 3
}

macro_rules! messages {
    ($($name:ident: $width:literal $bits:ident $scope:ident $role:ident;)*) => {paste! {$(
        /// The writer writes `count` messages and after each its number into the flag; the reader
        /// looks at the message of each number that it sees. Counts the messages that were not
        /// there, and whether the reader waited in vain.
        ///
        /// # Safety
        /// `data` has `count` elements, `flag` one and `out` two, all 0.
        #[kernel]
        pub unsafe fn $name(
            data: *mut u64,
            flag: *mut $bits,
            out: *mut u64,
            count: u32,
            by: u32,
        ) {
            let set = |number: $bits| unsafe {
                match by {
                    BY_RELEASE => [<atomic_store_ $width _ $scope>](flag, Release, number),
                    BY_SEQ_CST => [<atomic_store_ $width _ $scope>](flag, SeqCst, number),
                    _ => {
                        [<$scope _thread_fence>](Release);
                        [<atomic_store_ $width _ $scope>](flag, Relaxed, number);
                    }
                }
            };
            let get = || unsafe {
                match by {
                    BY_RELEASE => [<atomic_load_ $width _ $scope>](flag, Acquire),
                    BY_SEQ_CST => [<atomic_load_ $width _ $scope>](flag, SeqCst),
                    _ => {
                        let number = [<atomic_load_ $width _ $scope>](flag, Relaxed);
                        [<$scope _thread_fence>](AcqRel);
                        number
                    }
                }
            };
            match $role() {
                Role::Writer => {
                    for i in 0..count as usize {
                        unsafe { *data.add(i) = message(i as u64) };
                        set(i as $bits + 1);
                    }
                }
                Role::Reader => {
                    let (mut number, mut missing) = (0, 0);
                    while number < u64::from(count) {
                        let seen = wait_for(number + 1, || get().into());
                        if seen == 0 {
                            unsafe { *out.add(1) = 1 };
                            break;
                        }
                        number = seen;
                        let last = number - 1;
                        missing += u64::from(unsafe { *data.add(last as usize) } != message(last));
                    }
                    unsafe { *out = missing };
                }
                Role::Neither => {}
            }
        }
    )*}};
}

messages! {
    messages_32_block: 32 u32 block role_in_block;
    messages_64_block: 64 u64 block role_in_block;
    messages_32_device: 32 u32 device role_in_grid;
    messages_64_device: 64 u64 device role_in_grid;
    messages_32_system: 32 u32 system role_in_grid;
    messages_64_system: 64 u64 system role_in_grid;
}

macro_rules! store_buffering {
    ($($name:ident: $scope:ident $sides:ident;)*) => {paste! {$(
        /// Each thread sets its own flag and looks at that of its partner: in a sequentially
        /// consistent order one of the two sees the other's.
        ///
        /// # Safety
        /// `flags` and `seen` have one element per thread; the flags are 0.
        #[kernel]
        pub unsafe fn $name(flags: *mut u32, seen: *mut u32, by: u32) {
            let (own, partner) = $sides();
            unsafe {
                let (mine, other) = (flags.add(own), flags.add(partner));
                *seen.add(own) = if by == BY_FENCES {
                    [<atomic_store_32_ $scope>](mine, Relaxed, 1);
                    [<$scope _thread_fence>](SeqCst);
                    [<atomic_load_32_ $scope>](other, Relaxed)
                } else {
                    [<atomic_store_32_ $scope>](mine, SeqCst, 1);
                    [<atomic_load_32_ $scope>](other, SeqCst)
                };
            }
        }
    )*}};
}

store_buffering! {
    store_buffering_block: block sides_in_block;
    store_buffering_device: device sides_in_grid;
    store_buffering_system: system sides_in_grid;
}

/// The thread itself and the one of the next block, or of the one before.
fn sides_in_grid() -> (usize, usize) {
    let (block, size) = (
        thread::block_idx_x() as usize,
        thread::block_dim_x() as usize,
    );
    let own = thread::thread_idx_x() as usize;
    (block * size + own, (block ^ 1) * size + own)
}

/// The thread itself and one of another warp of its block.
fn sides_in_block() -> (usize, usize) {
    let own = thread::global_index();
    (own, own ^ 32)
}
