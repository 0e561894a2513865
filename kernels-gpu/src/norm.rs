//! The Euclidean norm and the dot product, each in one launch whose result stays on the device.
//!
//! The squares of `f32` are added up in `f64`, where none overflows or underflows. For `f64` there are
//! three sums, as in Blue's "A Portable Fortran Program to Find the Euclidean Norm of a Vector" (1978)
//! and in BLAS since 2021: of large elements, made smaller; of small ones, made larger; and of those
//! between. A few neighbours whose squares are ordinary numbers are added up as they are before: to
//! convert or to sort all of them would take the multiprocessor longer than their loads. So the norm of
//! finite elements is right whenever it can be represented. NaN gives NaN; infinity gives infinity
//! where there is no NaN.

use core::ops::Range;

use cuda_std::prelude::*;

use crate::real::Float;
use crate::reduction::{Turn, grid_sum};
use crate::stride::{shared_out, vectors};

/// Threads per block.
pub const BLOCK: u32 = 512;
/// Loads of 16 bytes that a thread has in flight.
pub const IN_FLIGHT: usize = 8;

/// An element type whose squares are added up in `K` sums of `f64`, of which the first has those of
/// ordinary numbers.
pub trait Squares<const K: usize>: Float {
    /// Sums of a few squares that have lost nothing in this type: no square overflowed, and those
    /// that underflowed are less than the sum's rounding.
    const ORDINARY: Range<Self>;

    /// Adds the element's square.
    fn add_square(self, sums: &mut [f64; K]);

    /// The root of the sum.
    fn root(sums: [f64; K]) -> Self;

    /// Adds the squares of vectors of elements, those of element n of each to `sums[n]` or to any
    /// other: their sum counts.
    #[inline(always)]
    fn add_squares<const N: usize, const U: usize>(
        items: [[Self; N]; U],
        sums: &mut [[f64; K]; N],
    ) {
        let mut squares = [Self::default(); N];
        for u in 0..U {
            for n in 0..N {
                squares[n] = items[u][n].mul_add(items[u][n], squares[n]);
            }
        }
        let mut sum = Self::default();
        for n in 0..N {
            sum = sum + squares[n];
        }
        // NaN is not ordinary.
        if Self::ORDINARY.contains(&sum) {
            sums[0][0] += sum.into();
        } else {
            for u in 0..U {
                for n in 0..N {
                    items[u][n].add_square(&mut sums[n]);
                }
            }
        }
    }
}

impl Squares<1> for f32 {
    const ORDINARY: Range<f32> = 1e-28..1e36;

    #[inline(always)]
    fn add_square(self, [sum]: &mut [f64; 1]) {
        let x = f64::from(self);
        *sum = GpuFloat::mul_add(x, x, *sum);
    }

    #[inline(always)]
    fn root([sum]: [f64; 1]) -> f32 {
        GpuFloat::sqrt(sum) as f32
    }
}

/// Elements below `2^-511` are small: the squares of greater ones are normal numbers.
const SMALL: f64 = f64::from_bits((1023 - 511) << 52);
/// Elements above `2^486` are large: so many squares as there is memory for do not overflow.
const LARGE: f64 = f64::from_bits((1023 + 486) << 52);
/// The factor of small elements: `2^537`.
const ENLARGE: f64 = f64::from_bits((1023 + 537) << 52);
/// The factor of large elements: `2^-538`.
const REDUCE: f64 = f64::from_bits((1023 - 538) << 52);

/// The sums of medium, of small and of large elements.
impl Squares<3> for f64 {
    // So many of these as there is memory for do not overflow.
    const ORDINARY: Range<f64> = 1e-280..1e290;

    #[inline(always)]
    fn add_square(self, [medium, small, large]: &mut [f64; 3]) {
        let x = self.abs();
        let (is_large, is_small) = (x > LARGE, x < SMALL);
        let factor = if is_large { REDUCE } else { 1.0 };
        let scaled = x * if is_small { ENLARGE } else { factor };
        let square = scaled * scaled;
        // Without a branch, which would keep loads from being under way together.
        *large += if is_large { square } else { 0.0 };
        *small += if is_small { square } else { 0.0 };
        // NaN is neither.
        *medium += if is_large || is_small { 0.0 } else { square };
    }

    #[inline(always)]
    fn root([medium, small, large]: [f64; 3]) -> f64 {
        if large > 0.0 {
            // Small elements do not count beside large ones.
            GpuFloat::sqrt(large + medium * REDUCE * REDUCE) / REDUCE
        } else if small > 0.0 && !(medium > 0.0 || medium.is_nan()) {
            GpuFloat::sqrt(small) / ENLARGE
        } else {
            let (medium, small) = (GpuFloat::sqrt(medium), GpuFloat::sqrt(small) / ENLARGE);
            let ratio = small / medium;
            if small > 0.0 {
                medium * GpuFloat::sqrt(1.0 + ratio * ratio)
            } else {
                medium
            }
        }
    }
}

/// Adds up the squares of this thread's elements of `x`, 16 bytes at a time, `U` times at once.
///
/// # Safety
/// As for [`vectors`].
#[inline(always)]
pub(crate) unsafe fn own_squares<T: Squares<K>, const N: usize, const K: usize, const U: usize>(
    block: usize,
    x: &[T],
) -> [f64; K] {
    // A sum for each element of a vector: additions that need not wait for each other.
    let mut sums = [[0.0; K]; N];
    // SAFETY: the caller's contract.
    unsafe {
        vectors::<T, N, U>(block, x, |items| {
            T::add_squares(items, &mut sums);
        });
    }
    over_elements(sums)
}

/// Adds up the sums of each element of a vector.
#[inline(always)]
pub(crate) fn over_elements<const N: usize, const K: usize>(sums: [[f64; K]; N]) -> [f64; K] {
    let mut total = [0.0; K];
    for n in 0..N {
        for k in 0..K {
            total[k] += sums[n][k];
        }
    }
    total
}

/// The Euclidean norm of `x` to `result`.
///
/// # Safety
/// `x` is aligned to 16 bytes and `result` has one element. `partials` has one element per block and
/// `ticket` one; all bits of both are 0 before the first launch, and each launch leaves them so. The
/// grid has one dimension. Launches that may run at once have partials and tickets of their own.
#[kernel(block = [512, 1, 1], min_blocks = 2, instances(nrm2_f32<f32, 4, 1>, nrm2_f64<f64, 2, 3>))]
pub unsafe fn nrm2<T: Squares<K>, const N: usize, const K: usize>(
    x: &[T],
    result: *mut T,
    partials: *mut [f64; K],
    ticket: *mut u32,
) {
    // SAFETY: the same contract.
    unsafe { norm_in_blocks::<T, N, K, IN_FLIGHT>(BLOCK as usize, x, result, partials, ticket) }
}

/// [`nrm2`] in blocks of `block` threads, with `U` vectors of a thread in flight.
///
/// # Safety
/// As for [`nrm2`]; a block has `block` threads, of whole warps.
#[inline(always)]
pub(crate) unsafe fn norm_in_blocks<
    T: Squares<K>,
    const N: usize,
    const K: usize,
    const U: usize,
>(
    block: usize,
    x: &[T],
    result: *mut T,
    partials: *mut [f64; K],
    ticket: *mut u32,
) {
    // SAFETY: the caller's contract.
    let sums = unsafe {
        let turn = Turn::take(ticket);
        grid_sum(turn, own_squares::<T, N, K, U>(block, x), partials)
    };
    if let Some(sums) = sums
        && thread::thread_idx_x() == 0
    {
        // SAFETY: one thread of one block.
        unsafe { *result = T::root(sums) };
    }
}

/// The dot product of `x` and `y` to `result`. The products are added up in `f64`, in which those of
/// `f32` are exact.
///
/// # Safety
/// As for [`nrm2`]; `y` has `x.len()` elements and is aligned as `x` is.
#[kernel(block = [512, 1, 1], min_blocks = 2, instances(dot_f32<f32, 4>, dot_f64<f64, 2>))]
pub unsafe fn dot<T: Float, const N: usize>(
    x: &[T],
    y: *const T,
    result: *mut T,
    partials: *mut [f64; 1],
    ticket: *mut u32,
) {
    // SAFETY: the kernel's contract.
    let turn = unsafe { Turn::take(ticket) };
    let whole = x.len() / N;
    let mut sums = [[0.0]; N];
    // SAFETY: vector i lies within `x`, and so within `y`, which are aligned.
    let load = |i: usize| unsafe {
        let (x, y): ([T; N], [T; N]) = (
            vector::load(x.as_ptr().add(i * N)),
            vector::load(y.add(i * N)),
        );
        (x, y)
    };
    let nothing = ([T::default(); N], [T::default(); N]);
    shared_out(
        BLOCK as usize,
        whole,
        nothing,
        load,
        |pairs: [_; IN_FLIGHT / 2]| {
            for (x, y) in pairs {
                for n in 0..N {
                    sums[n][0] = GpuFloat::mul_add(x[n].into(), y[n].into(), sums[n][0]);
                }
            }
        },
    );
    for i in thread::grid_stride(x.len() % N) {
        let i = whole * N + i;
        // SAFETY: i < x.len().
        let (x, y) = unsafe { (*x.get_unchecked(i), *y.add(i)) };
        sums[0][0] = GpuFloat::mul_add(x.into(), y.into(), sums[0][0]);
    }
    // SAFETY: the kernel's contract.
    let sum = unsafe { grid_sum(turn, over_elements(sums), partials) };
    if let Some([sum]) = sum
        && thread::thread_idx_x() == 0
    {
        // SAFETY: one thread of one block.
        unsafe { *result = T::from_f64(sum) };
    }
}
