//! `cuda_std::atomic` and `core::sync::atomic`.

pub mod core_types;
pub mod fetch;
pub mod message;
pub mod ring;
pub mod typed;

use core::ops::AddAssign;

use cuda_std::prelude::*;

/// Threads per block of these kernels.
pub const BLOCK: usize = 64;

/// The cells that a block's threads work on, one for each operation: the block's own row if
/// `step` is 1, the same for all blocks if it is 0.
///
/// # Safety
/// `cells` has an element for each row.
unsafe fn row<T, const N: usize>(cells: *mut [T; N], step: u32) -> *mut T {
    unsafe { cells.add((thread::block_idx_x() * step) as usize) }.cast()
}

/// Kernels in which each thread does every operation once, each on a cell of its own, and writes
/// what it saw there. An operation is an expression of the cell's pointer and the operand.
///
/// `NAME in global` works on the block's own cells or, with a step of 0, on those of all blocks;
/// `NAME in shared` on a copy of the block's own in shared memory.
macro_rules! operations {
    ($name:ident in global: $ty:ty, |$cell:ident, $operand:ident| [$($operation:expr),* $(,)?]) => {
        /// One of each operation by every thread.
        ///
        /// # Safety
        /// `operands` and `seen` have one element per thread, `cells` one per block if `step` is 1, and
        /// one if it is 0.
        #[kernel]
        pub unsafe fn $name(
            cells: *mut [$ty; [$(stringify!($operation)),*].len()],
            operands: *const [$ty; [$(stringify!($operation)),*].len()],
            seen: *mut [$ty; [$(stringify!($operation)),*].len()],
            step: u32,
        ) {
            unsafe {
                let cells = $crate::atomic::row(cells, step);
                operations!(@each $ty, cells operands seen |$cell, $operand| $($operation),*);
            }
        }
    };
    ($name:ident in shared: $ty:ty, |$cell:ident, $operand:ident| [$($operation:expr),* $(,)?]) => {
        /// One of each operation by every thread.
        ///
        /// # Safety
        /// `operands` and `seen` have one element per thread, `cells` one per block.
        #[kernel(max_threads = 64)]
        pub unsafe fn $name(
            cells: *mut [$ty; [$(stringify!($operation)),*].len()],
            operands: *const [$ty; [$(stringify!($operation)),*].len()],
            seen: *mut [$ty; [$(stringify!($operation)),*].len()],
        ) {
            const COUNT: usize = [$(stringify!($operation)),*].len();
            let own = thread::thread_idx_x() as usize;
            let shared = shared_array![$ty; COUNT];
            unsafe {
                let cells = $crate::atomic::row(cells, 1);
                if own < COUNT {
                    *shared.add(own) = *cells.add(own);
                }
                thread::sync_threads();
                operations!(@each $ty, shared operands seen |$cell, $operand| $($operation),*);
                thread::sync_threads();
                if own < COUNT {
                    *cells.add(own) = *shared.add(own);
                }
            }
        }
    };
    (@each $ty:ty, $cells:ident $operands:ident $seen:ident |$cell:ident, $operand:ident| $($operation:expr),*) => {
        let thread = thread::linear_index();
        let operands = $operands.add(thread).cast::<$ty>();
        let seen = $seen.add(thread).cast::<$ty>();
        let mut place = 0;
        $({
            let ($cell, $operand) = ($cells.add(place), *operands.add(place));
            *seen.add(place) = $operation;
            place += 1;
        })*
        let _ = place;
    };
}
use operations;

/// Adds by compare-and-swap, and returns what was there before.
fn add_by_swapping<T: Copy + AddAssign>(
    mut expected: T,
    operand: T,
    same: impl Fn(T, T) -> bool,
    compare_and_swap: impl Fn(T, T) -> T,
) -> T {
    loop {
        let mut sum = expected;
        sum += operand;
        let found = compare_and_swap(expected, sum);
        if same(found, expected) {
            return found;
        }
        expected = found;
    }
}
