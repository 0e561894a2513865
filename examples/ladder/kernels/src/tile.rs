//! The common part of the steps: tiles in shared memory, and how sums leave registers.

use cuda_std::packed::Bf16x2;
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::wgmma::{Accumulator, Swizzle, Swizzle128};
use cuda_std::{unroll, warpgroup};
pub use gemm_kernels::operand::ROW_BYTES;
use gemm_kernels::operand::Width;
pub use gemm_kernels::pipeline::WARPGROUP_ROWS as GROUP_ROWS;

use crate::Sizes;

/// Elements of a tile along the inner dimension: rows of 128 bytes, which a swizzle permutes.
pub const DEPTH: u32 = 64;

/// Dynamic shared memory for `stages` pairs of tiles of `rows` and `columns`, their barriers, and room to align them.
pub const fn shared_bytes(rows: u32, columns: u32, stages: u32) -> u32 {
    Swizzle128::ALIGN + stages * ((rows + columns) * ROW_BYTES + 16)
}

/// Where the tiles of `A` begin, those of `B`, and the barriers.
#[inline(always)]
pub fn places(
    rows: u32,
    columns: u32,
    stages: u32,
) -> (SharedPtr<bf16>, SharedPtr<bf16>, SharedPtr<u64>) {
    let a = SharedPtr::new(dynamic_shared_mem::<u8>()).align_up(Swizzle128::ALIGN);
    let b = a.byte_add(stages * rows * ROW_BYTES);
    let barriers = b.byte_add(stages * columns * ROW_BYTES);
    (a.cast(), b.cast(), barriers.cast())
}

/// Stores a warpgroup's 64 rows from registers, each lane pairs of neighbours.
///
/// # Safety
/// `c` is the result, and nobody else writes these rows and columns of it.
#[inline(always)]
pub unsafe fn store<N: Width>(sums: &Accumulator<N>, c: *mut bf16, sizes: Sizes, first: [u32; 2]) {
    let thread = thread::thread_idx_x() % warpgroup::THREADS;
    let row = first[0] + thread / 32 * 16 + thread % 32 / 4;
    let column = first[1] + thread % 4 * 2;
    let values = sums.values();
    unroll!(I in 0..64 => {
        // Each eight columns are two pairs of a lane, in rows 8 apart.
        let (row, column) = (row + I as u32 % 2 * 8, column + I as u32 / 2 * 8);
        if (I as u32) < N::COLUMNS / 4 {
            let pair = [N::sum(values, 2 * I), N::sum(values, 2 * I + 1)];
            // SAFETY: the caller's contract.
            unsafe { store_pair(pair, c, sizes, [row, column]) };
        }
    });
}

/// Stores two neighbours, if they are in the result.
///
/// # Safety
/// `c` is the result, and nobody else writes these elements of it; the column is even.
#[inline(always)]
pub unsafe fn store_pair(pair: [f32; 2], c: *mut bf16, sizes: Sizes, [row, column]: [u32; 2]) {
    if row < sizes.m && column < sizes.n {
        let place = c.wrapping_add(row as usize * sizes.n as usize + column as usize);
        // SAFETY: inside the result, whose rows have an even number of elements.
        unsafe { *place.cast() = Bf16x2::from_f32(pair[0], pair[1]).to_bits() };
    }
}

/// The first row and column of the tile of this number, column by column of tiles.
#[inline(always)]
pub fn corner(number: u32, sizes: Sizes, rows: u32, columns: u32) -> [u32; 2] {
    let tiles = sizes.m.div_ceil(rows).max(1);
    let column = number / tiles;
    [(number - column * tiles) * rows, column * columns]
}
