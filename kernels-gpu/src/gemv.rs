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
        unsafe { own_sum::<T, N, { BLOCK as usize }, false>(start, x.as_ptr(), x.len(), || {}) }
    } else {
        // SAFETY: as above.
        unsafe { own_sum::<T, 1, { BLOCK as usize }, false>(start, x.as_ptr(), x.len(), || {}) }
    };
    if let Some([sum]) = block_sum_in_first_warp([own])
        && thread::thread_idx_x() == 0
    {
        // SAFETY: one thread of the row's block.
        unsafe { *y.add(row) = sum };
    }
}

/// This thread's part of the row's product with `x`, `N` columns at a time, of a block of `THREADS`. `ready` is called once, before
/// anything of `x` is read; with `AHEAD` the first elements of the row are under way by then.
///
/// # Safety
/// `row` and, once `ready` has returned, `x` point to `len` elements, a multiple of `N`; both are aligned to the bytes of `N`.
#[inline(always)]
pub(crate) unsafe fn own_sum<T: Float, const N: usize, const THREADS: usize, const AHEAD: bool>(
    row: *const T,
    x: *const T,
    len: usize,
    ready: impl FnOnce(),
) -> T {
    let mut sums = [T::default(); N];
    let vectors = len / N;
    let mut next = thread::thread_idx_x() as usize;
    // SAFETY: i is below `vectors` in each call.
    let element = |i: usize| -> [T; N] { unsafe { vector::load(row.add(i * N)) } };
    // SAFETY: as above.
    let factor = |i: usize| -> [T; N] { unsafe { vector::load(x.add(i * N)) } };
    let mut add = |elements: [T; N], factors: [T; N]| {
        for n in 0..N {
            sums[n] = elements[n].mul_add(factors[n], sums[n]);
        }
    };
    let has_group = |next: usize| next + const { (IN_FLIGHT - 1) * THREADS } < vectors;
    if AHEAD && has_group(next) {
        let mut elements = [[T::default(); N]; IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            elements[u] = element(next + u * THREADS);
        }
        ready();
        let mut factors = [[T::default(); N]; IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            factors[u] = factor(next + u * THREADS);
        }
        for u in 0..IN_FLIGHT {
            add(elements[u], factors[u]);
        }
        next += const { IN_FLIGHT * THREADS };
    } else {
        ready();
    }
    while has_group(next) {
        let mut loaded = [([T::default(); N], [T::default(); N]); IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            let i = next + u * THREADS;
            loaded[u] = (element(i), factor(i));
        }
        for u in 0..IN_FLIGHT {
            add(loaded[u].0, loaded[u].1);
        }
        next += const { IN_FLIGHT * THREADS };
    }
    while next < vectors {
        add(element(next), factor(next));
        next += THREADS;
    }
    let mut total = T::default();
    for n in 0..N {
        total = total + sums[n];
    }
    total
}
