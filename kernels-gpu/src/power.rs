//! Kernels of power iteration beside the product and the norm: a matrix whose spectrum is known, and
//! a look at how far the iteration is.

use cuda_std::prelude::*;

use crate::reduction::block_sum;

/// Threads per block.
pub const BLOCK: u32 = 512;
/// Elements that a thread of [`inspect()`] asks for at once, of each vector.
const IN_FLIGHT: usize = 8;

/// Rows of the symmetric matrix `(I - 2 v vᵀ) diag(d) (I - 2 v vᵀ)`, whose eigenvalues are `d`, in row-major
/// order: a block a row, from `first_row` on. `middle` is `vᵀ diag(d) v`.
///
/// # Safety
/// `v` is as long as `d`, and `a` has room for a row of as many elements for each block. The grid has one dimension, and all its rows
/// are below that number.
#[kernel]
pub unsafe fn with_spectrum(d: &[f64], v: *const f64, middle: f64, first_row: usize, a: *mut f64) {
    let (place, n) = (thread::block_idx_x() as usize, d.len());
    let row = first_row + place;
    let mut column = thread::thread_idx_x() as usize;
    // SAFETY: row < n by the kernel's contract.
    let (d_row, v_row) = unsafe { (*d.get_unchecked(row), *v.add(row)) };
    while column < n {
        // SAFETY: column < n.
        let (d_column, v_column) = unsafe { (*d.get_unchecked(column), *v.add(column)) };
        let diagonal = if row == column { d_row } else { 0.0 };
        let rest = 2.0 * v_row * v_column * (2.0 * middle - d_row - d_column);
        // SAFETY: row and column < n, and the element is this thread's alone.
        unsafe { *a.add(place * n + column) = diagonal + rest };
        column += thread::block_dim_x() as usize;
    }
}

/// Writes what is known of `x` as an eigenvector of the matrix that makes `y` of it: to `seen`, Rayleigh's
/// quotient `xᵀy / xᵀx`, the residual `‖y - quotient x‖ / ‖x‖`, and then `x` itself.
///
/// # Safety
/// `y` is as long as `x`, and `seen` has room for two more. The grid is one block.
#[kernel(block = [512, 1, 1])]
pub unsafe fn inspect(x: &[f64], y: *const f64, seen: *mut f64) {
    let mut products = [0.0; 2];
    // SAFETY: the kernel's contract.
    unsafe {
        each_pair(x, y, |i, x, y| {
            products[0] = x.mul_add(y, products[0]);
            products[1] = x.mul_add(x, products[1]);
            *seen.add(2 + i) = x;
        });
    }
    let [xy, xx] = block_sum(products);
    let quotient = xy / xx;
    let mut squares = [0.0];
    // SAFETY: as above.
    unsafe {
        each_pair(x, y, |_, x, y| {
            let off = (-quotient).mul_add(x, y);
            squares[0] = off.mul_add(off, squares[0]);
        });
    }
    thread::sync_threads();
    let [square] = block_sum(squares);
    if thread::thread_idx_x() == 0 {
        // SAFETY: one thread.
        unsafe {
            *seen = quotient;
            *seen.add(1) = GpuFloat::sqrt(square / xx);
        }
    }
}

/// Calls `each` with this thread's places and the elements of `x` and `y` there, which are asked for [`IN_FLIGHT`] at a time: one block has
/// nothing else to wait with.
///
/// # Safety
/// `y` is as long as `x`. The grid is one block.
#[inline(always)]
unsafe fn each_pair(x: &[f64], y: *const f64, mut each: impl FnMut(usize, f64, f64)) {
    let step = thread::block_dim_x() as usize;
    let mut first = thread::thread_idx_x() as usize;
    while first < x.len() {
        let mut pairs = [(0.0, 0.0); IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            let i = first + u * step;
            if i < x.len() {
                // SAFETY: i < x.len().
                pairs[u] = unsafe { (*x.get_unchecked(i), *y.add(i)) };
            }
        }
        for u in 0..IN_FLIGHT {
            let i = first + u * step;
            if i < x.len() {
                each(i, pairs[u].0, pairs[u].1);
            }
        }
        first += IN_FLIGHT * step;
    }
}
