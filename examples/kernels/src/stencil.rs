//! Five points of a square grid: the mean of an element and its four neighbours.

use core::ops::{Add, Mul};

use cuda_std::prelude::*;

/// The type that the mean is computed in.
pub trait Real: Copy + Add<Output = Self> + Mul<Output = Self> + From<f32> + 'static {}
impl Real for f32 {}
impl Real for f64 {}

/// Writes to each inner element of `y`, a square of `n` rows of `n`, the mean of five elements of `x`.
///
/// # Safety
/// `y` has room for `n * n` elements and is apart from `x`; blocks and grid have two dimensions.
#[kernel(instances(stencil_f32<f32>, stencil_f64<f64>))]
pub unsafe fn stencil<T: Real>(x: &[T], y: *mut T, n: usize) {
    let [column, row] = [thread::index_2d().x as usize, thread::index_2d().y as usize];
    if column == 0 || row == 0 || column + 1 >= n || row + 1 >= n || x.len() < n * n {
        return;
    }
    let i = row * n + column;
    // SAFETY: i and its neighbours are below n * n, and i comes to one thread.
    unsafe {
        let at = |i: usize| *x.get_unchecked(i);
        let sum = at(i) + at(i - 1) + at(i + 1) + at(i - n) + at(i + n);
        *y.add(i) = T::from(0.2) * sum;
    }
}

/// An element of `x`, when it is measured.
pub fn element(i: usize) -> f32 {
    (i % 7) as f32
}

/// Returns the mean that [`stencil`] computes: nothing at the edges.
pub fn mean(i: usize, n: usize) -> f64 {
    let (row, column) = (i / n, i % n);
    if row == 0 || column == 0 || row + 1 == n || column + 1 == n {
        return 0.0;
    }
    let five = [i, i - 1, i + 1, i - n, i + n];
    five.map(|i| f64::from(element(i))).iter().sum::<f64>() / 5.0
}
