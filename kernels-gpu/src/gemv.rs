//! `y = A x` for a dense matrix in row-major order.
//!
//! A block computes [`ROWS`] neighbouring rows at once, so that it reads `x` once for as many rows.

use cuda_std::prelude::*;

use crate::real::Float;
use crate::reduction::block_sum;

/// Threads a block.
pub const BLOCK: u32 = 256;
/// Rows a block.
pub const ROWS: usize = 2;

/// `a` has rows x columns elements, `x` columns. A block for every [`ROWS`] rows or fewer.
///
/// # Safety
/// `y` has room for an element a row, and is apart from `a` and `x`; `a` and `x` are aligned to 16
/// bytes. The grid has one dimension, of rows / [`ROWS`] blocks, rounded up.
#[kernel(block = [256, 1, 1], instances(gemv_f32<f32, 4>, gemv_f64<f64, 2>))]
pub unsafe fn gemv<T: Float, const N: usize>(a: *const T, x: &[T], y: *mut T, rows: u32) {
    let first = thread::block_idx_x() as usize * ROWS;
    let rows = rows as usize;
    // A row that is not there is the last once more, and not stored.
    let row = |r: usize| (first + r).min(rows - 1);
    let mut starts = [a; ROWS];
    for r in 0..ROWS {
        // SAFETY: rows of the matrix, by the kernel's contract.
        starts[r] = unsafe { a.add(row(r) * x.len()) };
    }
    let sums = if x.len().is_multiple_of(N) {
        // SAFETY: all rows begin at a multiple of N elements, and so are aligned.
        unsafe { own_sums::<T, N>(starts, x) }
    } else {
        // SAFETY: as above.
        unsafe { own_sums::<T, 1>(starts, x) }
    };
    let sums = block_sum(sums);
    let own = thread::thread_idx_x() as usize;
    for r in 0..ROWS {
        if own == r && first + r < rows {
            // SAFETY: the row is below `rows`, and comes to one thread.
            unsafe { *y.add(first + r) = sums[r] };
        }
    }
}

/// This thread's part of the rows' products with `x`, `N` columns at a time.
///
/// # Safety
/// `starts` point to `x.len()` elements, a multiple of `N`; all are aligned to the bytes of `N`.
#[inline(always)]
unsafe fn own_sums<T: Float, const N: usize>(starts: [*const T; ROWS], x: &[T]) -> [T; ROWS] {
    let mut sums = [[T::default(); N]; ROWS];
    let mut column = thread::thread_idx_x() as usize * N;
    let step = thread::block_dim_x() as usize * N;
    while column < x.len() {
        let mut of_rows = [[T::default(); N]; ROWS];
        // SAFETY: N elements from there are within `x` and the rows.
        let factors: [T; N] = unsafe { vector::load(x.as_ptr().add(column)) };
        for r in 0..ROWS {
            // SAFETY: as above.
            of_rows[r] = unsafe { vector::load(starts[r].add(column)) };
        }
        for r in 0..ROWS {
            for n in 0..N {
                sums[r][n] = of_rows[r][n].mul_add(factors[n], sums[r][n]);
            }
        }
        column += step;
    }
    let mut totals = [T::default(); ROWS];
    for r in 0..ROWS {
        for n in 0..N {
            totals[r] = totals[r] + sums[r][n];
        }
    }
    totals
}
