//! How sums become the result.

use cuda_std::prelude::*;
use cuda_std::shared::SharedPtr;
use cuda_std::tma::{self, TensorMap};
use cuda_std::warpgroup::{self, NamedBarrier};
use cuda_std::wgmma::Accumulator;
use cuda_std::{unroll, vector};

use crate::finishing::Finishing;
use crate::operand::{Operand, ROW_BYTES, Width, row};
use crate::pipeline::WARPGROUP_ROWS;
use crate::problem::Problem;
use crate::stored::{BLOCK, Stored, Strip};

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

/// Two buffers of [`STORED_BYTES`] in shared memory for each warpgroup that multiplies, aligned as swizzled tiles are.
#[derive(Clone, Copy)]
pub struct Buffers {
    start: SharedPtr<u8>,
    pointer: *mut u8,
}

impl Buffers {
    /// Those at a place behind `pointer`, which is the start of the block's memory.
    #[inline(always)]
    pub fn new(place: SharedPtr<u8>, pointer: *mut u8) -> Buffers {
        let offset = place
            .address()
            .wrapping_sub(SharedPtr::new(pointer).address());
        Buffers {
            start: place,
            pointer: pointer.wrapping_add(offset as usize),
        }
    }

    /// Buffer `number` of a warpgroup, as the running warp writes it.
    #[inline(always)]
    fn strip(self, group: u32, number: u32) -> Strip {
        let offset = (2 * group + number) * STORED_BYTES;
        Strip {
            start: self.start.byte_add(offset),
            pointer: self.pointer.wrapping_add(offset as usize),
            row: thread::thread_idx_x() % warpgroup::THREADS / 32 * 16,
        }
    }
}

/// A way to store sums.
pub trait Epilogue<T: Operand> {
    /// Finishes and stores a warpgroup's sums.
    ///
    /// # Safety
    /// All threads of the warpgroup reach the same call, and nobody else touches the part of the result.
    unsafe fn store<N: Width>(&self, sums: &mut Accumulator<N>, part: Part);

    /// Waits until all is stored.
    fn finish(&self);
}

/// By copies out of shared memory that leave out what is outside of the result, and do not read it.
pub struct Copied<'a, R> {
    /// The result.
    pub map: &'a TensorMap,
    /// The treatment of sums, if they do not stay as they are.
    pub finishing: Option<Finishing<R>>,
    /// The buffers that the copies read.
    pub buffers: Buffers,
}

impl<T: Operand> Epilogue<T> for Copied<'_, T::Result> {
    #[inline(always)]
    unsafe fn store<N: Width>(&self, sums: &mut Accumulator<N>, part: Part) {
        if let Some(finishing) = &self.finishing {
            finishing.in_registers(sums, part);
        }
        let barrier = NamedBarrier::new(1 + part.group, warpgroup::THREADS);
        let leads = thread::thread_idx_x().is_multiple_of(warpgroup::THREADS);
        let values = sums.values();
        let blocks = row::<T::Result>() / BLOCK;
        unroll!(NUMBER in 0..16 => {
            const FIRST: usize = NUMBER * 8;
            let number = NUMBER as u32;
            if number * BLOCK < N::COLUMNS {
                let strip = self.buffers.strip(part.group, number / blocks % 2);
                if number.is_multiple_of(blocks) {
                    if leads {
                        // The copy before the last has read this buffer.
                        tma::wait_group_read::<1>();
                    }
                    // SAFETY: the warpgroup's own barrier, which all its threads reach.
                    unsafe { barrier.sync() };
                }
                let block = core::array::from_fn(|i| N::sum(values, FIRST + i));
                // SAFETY: the buffer is free, and rows and columns are the warp's own.
                unsafe {
                    match number % blocks {
                        0 => T::Result::stage::<0>(strip, block),
                        1 => T::Result::stage::<1>(strip, block),
                        2 => T::Result::stage::<2>(strip, block),
                        _ => T::Result::stage::<3>(strip, block),
                    }
                }
                if number % blocks == blocks - 1 {
                    tma::fence_shared();
                    // SAFETY: as above.
                    unsafe { barrier.sync() };
                    if leads {
                        let column = part.column + number / blocks * row::<T::Result>();
                        // SAFETY: the buffer is written and visible; it is written again after a wait.
                        unsafe { self.map.store([column as i32, part.row as i32], strip.start) };
                        tma::commit_group();
                    }
                }
            }
        });
    }

    #[inline(always)]
    fn finish(&self) {
        if thread::thread_idx_x().is_multiple_of(warpgroup::THREADS) {
            // The grid's end waits for what the copies write; the block for what they read.
            tma::wait_group_read::<0>();
        }
    }
}

/// By ordinary stores, each element that is there: with what it was before.
pub struct Fused<R> {
    /// The result.
    pub result: *mut R,
    /// The treatment of sums.
    pub finishing: Finishing<R>,
    /// The buffers by which warps turn sums into rows.
    pub buffers: Buffers,
}

/// Columns that a warp turns at the same time: of its 16 rows they fill its share of both buffers.
const TURNED: u32 = 64;
/// Bytes of a row of them.
const TURNED_BYTES: u32 = 4 * TURNED;

impl<T: Operand> Epilogue<T> for Fused<T::Result> {
    #[inline(always)]
    unsafe fn store<N: Width>(&self, sums: &mut Accumulator<N>, part: Part) {
        let warp = thread::thread_idx_x() % warpgroup::THREADS / 32;
        let lane = thread::thread_idx_x() % 32;
        let share = self.buffers.strip(part.group, 0).pointer;
        let share = share.wrapping_add((warp * 16 * TURNED_BYTES) as usize);
        let own = share.wrapping_add((lane / 4 * TURNED_BYTES + lane % 4 * 8) as usize);
        let values = sums.values();
        unroll!(STRIP in 0..4 => {
            if (STRIP as u32) * TURNED < N::COLUMNS {
                // Groups of eight columns are permuted, so that the eight rows of a store are in different banks.
                unroll!(GROUP in 0..8 => {
                    const FIRST: usize = STRIP * 32 + GROUP * 4;
                    let group = own.wrapping_add((((GROUP as u32) ^ (lane / 4)) * 32) as usize);
                    let below = group.wrapping_add((8 * TURNED_BYTES) as usize);
                    let pair = |first: usize| [N::sum(values, first), N::sum(values, first + 1)];
                    // SAFETY: the lane's own places, aligned to 8 bytes.
                    unsafe {
                        vector::store::<f32, 2>(group.cast(), pair(FIRST));
                        vector::store::<f32, 2>(below.cast(), pair(FIRST + 2));
                    }
                });
                let column = part.column + STRIP as u32 * TURNED;
                // SAFETY: the whole warp comes here; what it reads was written before the first barrier, and is written again
                // behind the second.
                unsafe {
                    warp::sync_warp(warp::FULL_MASK);
                    self.rows(share, part.row + 16 * warp, column);
                    warp::sync_warp(warp::FULL_MASK);
                }
            }
        });
    }

    #[inline(always)]
    fn finish(&self) {}
}

/// Rows whose former elements are read before the first is written.
const AT_ONCE: usize = 4;

impl<R: Stored> Fused<R> {
    /// Finishes and stores [`TURNED`] columns of 16 rows: of each row two elements per lane.
    ///
    /// # Safety
    /// The rows of sums are in `share`, and those of the result are the warp's own.
    #[inline(always)]
    unsafe fn rows(&self, share: *const u8, first_row: u32, first_column: u32) {
        let lane = thread::thread_idx_x() % 32;
        let Problem {
            m, n, pitch, beta, ..
        } = self.finishing.problem;
        let is_even =
            pitch.is_multiple_of(2) && self.result.addr().is_multiple_of(2 * size_of::<R>());
        // Neighbours where they can be stored together.
        let columns = match is_even {
            true => [2 * lane, 2 * lane + 1],
            false => [lane, lane + 32],
        };
        let is_there = columns.map(|column| first_column + column < n);
        let bias = columns.map(|column| self.finishing.bias(first_column + column));
        for quarter in 0..16 / AT_ONCE as u32 {
            let row = quarter * AT_ONCE as u32;
            let index = (first_row + row) as usize * pitch as usize + first_column as usize;
            let mut former = [[0.0; 2]; AT_ONCE];
            unroll!(I in 0..4 => {
                for j in 0..2 {
                    if beta != 0.0 && is_there[j] && first_row + row + (I as u32) < m {
                        let index = index + I * pitch as usize + columns[j] as usize;
                        // SAFETY: the element is in the result.
                        former[I][j] = unsafe { *self.result.wrapping_add(index) }.widen();
                    }
                }
            });
            unroll!(I in 0..4 => {
                let within = row + I as u32;
                let mut elements = [0.0; 2];
                for j in 0..2 {
                    let group = (columns[j] / 8) ^ (within % 8);
                    let place = within * TURNED_BYTES + group * 32 + columns[j] % 8 * 4;
                    // SAFETY: in the share.
                    let sum = unsafe { *share.wrapping_add(place as usize).cast::<f32>() };
                    elements[j] = self.finishing.element(sum, former[I][j], bias[j]);
                }
                if first_row + within < m {
                    let place = self.result.wrapping_add(index + I * pitch as usize);
                    let places = columns.map(|column| place.wrapping_add(column as usize));
                    let elements = elements.map(R::round);
                    // SAFETY: the elements are in the result, and this lane's alone.
                    unsafe {
                        if is_even && is_there[1] {
                            R::store_pair(places[0], elements);
                        } else {
                            for j in 0..2 {
                                if is_there[j] {
                                    *places[j] = elements[j];
                                }
                            }
                        }
                    }
                }
            });
        }
    }
}
