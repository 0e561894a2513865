//! `y = A x` for a dense matrix in row-major order, a block a row.

use cuda_std::prelude::*;

use crate::real::Float;
use crate::reduction::block_sum_in_first_warp;

/// Threads per block.
pub const BLOCK: u32 = 256;
/// Loads of 16 bytes of the row that a thread has in flight, and as many of `x`.
pub const IN_FLIGHT: usize = 4;

/// `a` has a row of `x.len()` elements for each block. What `x` is read for more than once is in the
/// cache.
///
/// # Safety
/// `y` has room for an element a row, and is apart from `a` and `x`; `a` and `x` are aligned to 16
/// bytes. The grid has one dimension, of a block for each row.
#[kernel(block = [256, 1, 1], min_blocks = 4, instances(gemv_f32<f32, 4>, gemv_f64<f64, 2>))]
pub unsafe fn gemv<T: Float, const N: usize>(a: *const T, x: &[T], y: *mut T) {
    let row = thread::block_idx_x() as usize;
    // SAFETY: a row of the matrix, by the kernel's contract.
    let start = unsafe { a.add(row * x.len()) };
    let own = if x.len().is_multiple_of(N) {
        // SAFETY: all rows begin at a multiple of N elements, and so are aligned.
        unsafe { own_sum::<T, N>(start, x) }
    } else {
        // SAFETY: as above.
        unsafe { own_sum::<T, 1>(start, x) }
    };
    if let Some([sum]) = block_sum_in_first_warp([own])
        && thread::thread_idx_x() == 0
    {
        // SAFETY: one thread of the row's block.
        unsafe { *y.add(row) = sum };
    }
}

/// This thread's part of the row's product with `x`, `N` columns at a time.
///
/// # Safety
/// `row` points to `x.len()` elements, a multiple of `N`; both are aligned to the bytes of `N`.
#[inline(always)]
unsafe fn own_sum<T: Float, const N: usize>(row: *const T, x: &[T]) -> T {
    let mut sums = [T::default(); N];
    let vectors = x.len() / N;
    let mut next = thread::thread_idx_x() as usize;
    let load = |i: usize| -> ([T; N], [T; N]) {
        // SAFETY: i is below `vectors` in each call.
        unsafe {
            let factors = vector::load(x.as_ptr().add(i * N));
            (vector::load(row.add(i * N)), factors)
        }
    };
    let mut add = |(elements, factors): ([T; N], [T; N])| {
        for n in 0..N {
            sums[n] = elements[n].mul_add(factors[n], sums[n]);
        }
    };
    while next + const { (IN_FLIGHT - 1) * BLOCK as usize } < vectors {
        let mut loaded = [([T::default(); N], [T::default(); N]); IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            loaded[u] = load(next + u * BLOCK as usize);
        }
        for u in 0..IN_FLIGHT {
            add(loaded[u]);
        }
        next += const { IN_FLIGHT * BLOCK as usize };
    }
    while next < vectors {
        add(load(next));
        next += BLOCK as usize;
    }
    let mut total = T::default();
    for n in 0..N {
        total = total + sums[n];
    }
    total
}
