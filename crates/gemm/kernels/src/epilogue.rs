//! How sums become the result.

use cuda_std::mma::{Plain, store_matrices};
use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma::{self, TensorMap};
use cuda_std::unroll;
use cuda_std::warpgroup::{self, NamedBarrier};
use cuda_std::wgmma::Accumulator;

use crate::operand::{Half, Operand, ROW_BYTES, Width, row};
use crate::pipeline::WARPGROUP_ROWS;
use crate::problem::Problem;

/// Bytes that a copy stores: 64 rows of 128 bytes.
pub const STORED_BYTES: u32 = WARPGROUP_ROWS * ROW_BYTES;

/// Where a warpgroup's rows of a tile lie in the result, and who of the block it is.
#[derive(Clone, Copy)]
pub struct Part {
    /// The first row.
    pub row: u32,
    /// The first column.
    pub column: u32,
    /// The warpgroup among those that multiply.
    pub group: u32,
}

/// A way to store sums.
pub trait Epilogue<T: Operand> {
    /// Stores a warpgroup's sums.
    ///
    /// # Safety
    /// All threads of the warpgroup reach the same call, and nobody else touches the part of the result.
    unsafe fn store<N: Width>(&self, sums: &Accumulator<N>, part: Part);

    /// Waits until all is stored.
    fn finish(&self);
}

/// Through shared memory, by copies that leave out what is outside of the result: the product as it is.
pub struct Copied<'a, T> {
    /// The result.
    pub map: &'a TensorMap,
    /// Two buffers of [`STORED_BYTES`] for each warpgroup, aligned as swizzled tiles are.
    pub buffers: SharedPtr<T>,
}

impl<T: Half> Epilogue<T> for Copied<'_, T> {
    #[inline(always)]
    unsafe fn store<N: Width>(&self, sums: &Accumulator<N>, part: Part) {
        let barrier = NamedBarrier::new(1 + part.group, warpgroup::THREADS);
        let within = thread::thread_idx_x() % warpgroup::THREADS;
        let leads = within == 0;
        let buffers = self.buffers.byte_add(part.group * 2 * STORED_BYTES);
        // Lane l gives row l % 8 of matrix l / 8: two matrices below each other, then the two beside them.
        let lane = within % 32;
        let own_row = within / 32 * 16 + lane % 16;
        let (piece, line) = (lane / 16, own_row * ROW_BYTES);
        let values = sums.values();
        unroll!(STRIP in 0..4 => {
            if STRIP as u32 * row::<T>() < N::COLUMNS {
                let buffer = buffers.byte_add((STRIP as u32 % 2) * STORED_BYTES);
                if leads {
                    // The copy before the last has read this buffer.
                    tma::wait_group_read::<1>();
                }
                // SAFETY: the warpgroup's own barrier, which all its threads reach.
                unsafe { barrier.sync() };
                unroll!(PAIR in 0..4 => {
                    const FIRST: usize = STRIP * 32 + PAIR * 8;
                    // Pieces of 16 bytes are permuted as the map says.
                    let at = (2 * PAIR as u32 + piece) ^ (own_row % 8);
                    let at = buffer.byte_add(line + (at << 4));
                    let matrices = [
                        T::pack(N::sum(values, FIRST), N::sum(values, FIRST + 1)),
                        T::pack(N::sum(values, FIRST + 2), N::sum(values, FIRST + 3)),
                        T::pack(N::sum(values, FIRST + 4), N::sum(values, FIRST + 5)),
                        T::pack(N::sum(values, FIRST + 6), N::sum(values, FIRST + 7)),
                    ];
                    // SAFETY: the row is in the buffer, and no other lane's.
                    unsafe { store_matrices::<_, Plain, _>(at, matrices) };
                });
                tma::fence_shared();
                // SAFETY: as above.
                unsafe { barrier.sync() };
                if leads {
                    let column = part.column + STRIP as u32 * row::<T>();
                    // SAFETY: the buffer is written and visible; it is written again after a wait.
                    unsafe { self.map.store([column as i32, part.row as i32], buffer) };
                    tma::commit_group();
                }
            }
        });
    }

    #[inline(always)]
    fn finish(&self) {
        if thread::thread_idx_x().is_multiple_of(warpgroup::THREADS) {
            tma::wait_group::<0>();
        }
    }
}

/// From registers, each element that is there: `alpha` times the product and `beta` times what the result held.
pub struct Scaled<R> {
    /// The result.
    pub result: *mut R,
    /// Sizes and factors.
    pub problem: Problem,
}

impl<T: Operand> Epilogue<T> for Scaled<T::Result> {
    #[inline(always)]
    unsafe fn store<N: Width>(&self, sums: &Accumulator<N>, part: Part) {
        let within = thread::thread_idx_x() % warpgroup::THREADS;
        let column = part.column + 2 * (within % 4);
        let first = part.row + within / 32 * 16 + within % 32 / 4;
        let values = sums.values();
        // A thread has elements of two rows, 8 apart, at distances that are constants.
        unroll!(HALF in 0..2 => {
            let row = first + 8 * HALF as u32;
            if row < self.problem.m {
                let index = row as usize * self.problem.pitch as usize + column as usize;
                let place = self.result.wrapping_add(index);
                let columns = self.problem.n.saturating_sub(column);
                unroll!(NUMBER in 0..64 => {
                    const DISTANCE: usize = NUMBER / 2 * 8 + NUMBER % 2;
                    const SUM: usize = NUMBER / 2 * 4 + 2 * HALF + NUMBER % 2;
                    if (SUM as u32) < N::COLUMNS / 2 && (DISTANCE as u32) < columns {
                        // SAFETY: the element is in the result, and this thread's.
                        unsafe { self.put::<T>(place.wrapping_add(DISTANCE), N::sum(values, SUM)) };
                    }
                });
            }
        });
    }

    #[inline(always)]
    fn finish(&self) {}
}

impl<R: Copy> Scaled<R> {
    /// # Safety
    /// The place is in the result, and this thread's alone.
    #[inline(always)]
    unsafe fn put<T: Operand<Result = R>>(&self, place: *mut R, sum: f32) {
        let product = self.problem.alpha * sum;
        // SAFETY: the caller's contract.
        unsafe {
            *place = T::round(match self.problem.beta {
                0.0 => product,
                beta => beta.mul_add(T::widen(*place), product),
            });
        }
    }
}
