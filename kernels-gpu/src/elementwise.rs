//! Functions of each element of one vector or two: as fast as memory allows.
//!
//! [`map`] and [`zip`] take any function that captures nothing but `Copy` values. A kernel of one's
//! own calls them with a type that implements [`Unary`]:
//!
//! ```
//! use cuda_std::prelude::*;
//! use kernels_gpu::elementwise::map;
//! use kernels_gpu::functions::Unary;
//!
//! #[derive(Clone, Copy)]
//! #[repr(C)]
//! pub struct Affine {
//!     pub factor: f32,
//!     pub offset: f32,
//! }
//!
//! impl Unary<f32> for Affine {
//!     fn of(self, x: f32) -> f32 {
//!         self.factor.mul_add(x, self.offset)
//!     }
//! }
//!
//! /// # Safety
//! /// That of [`map`].
//! #[kernel]
//! pub unsafe fn affine(function: Affine, x: *const f32, y: *mut f32, len: usize) {
//!     // SAFETY: the same contract.
//!     unsafe { map::<f32, 4, Affine>(function, x, y, len) }
//! }
//! # fn main() {}
//! ```

use cuda_std::prelude::*;

use crate::functions::{Add, Axpy, Binary, Divide, Exp, Gelu, Mul, Relu, Scale, Sqrt, Unary};
use crate::real::Float;
use crate::stride::strided;

/// Threads per block.
pub const BLOCK: u32 = 256;
/// Vectors that a thread has in flight.
pub const IN_FLIGHT: usize = 1;

/// `y[i] = function(x[i])`.
///
/// # Safety
/// `x` and `y` have `len` elements and are aligned to 16 bytes; `y` is `x` itself or apart from it.
/// The grid has one dimension.
#[kernel(block = [256, 1, 1], instances(
    scale_f32<f32, 4, Scale<f32>>, scale_f64<f64, 2, Scale<f64>>,
    relu_f32<f32, 4, Relu>, relu_f64<f64, 2, Relu>,
    gelu_f32<f32, 4, Gelu>, exp_f32<f32, 4, Exp>,
    sqrt_f32<f32, 4, Sqrt>, sqrt_f64<f64, 2, Sqrt>,
))]
pub unsafe fn map<T: Float, const N: usize, F: Unary<T>>(
    function: F,
    x: *const T,
    y: *mut T,
    len: usize,
) {
    // SAFETY: the same contract.
    unsafe { map_in_blocks::<T, N, F, IN_FLIGHT>(BLOCK as usize, function, x, y, len) }
}

/// [`map`] in blocks of `block` threads, with `U` vectors of a thread in flight.
///
/// # Safety
/// As for [`map`]; a block has `block` threads.
#[inline(always)]
pub(crate) unsafe fn map_in_blocks<T: Float, const N: usize, F: Unary<T>, const U: usize>(
    block: usize,
    function: F,
    x: *const T,
    y: *mut T,
    len: usize,
) {
    let whole = len / N;
    // SAFETY: vector i lies within both, which are aligned, and comes to one thread.
    let load = |i: usize| unsafe { vector::load::<T, N>(x.add(i * N)) };
    strided::<_, U>(block, whole, [T::default(); N], load, |i, mut items| {
        for n in 0..N {
            items[n] = function.of(items[n]);
        }
        // SAFETY: as above.
        unsafe { vector::store(y.add(i * N), items) };
    });
    for i in thread::grid_stride(len % N) {
        let i = whole * N + i;
        // SAFETY: i < len, and comes to one thread.
        unsafe { *y.add(i) = function.of(*x.add(i)) };
    }
}

/// `z[i] = function(x[i], y[i])`.
///
/// # Safety
/// `x`, `y` and `z` have `len` elements and are aligned to 16 bytes; `z` is `x` or `y` itself or apart
/// from both. The grid has one dimension.
#[kernel(block = [256, 1, 1], instances(
    add_f32<f32, 4, Add>, add_f64<f64, 2, Add>,
    mul_f32<f32, 4, Mul>, mul_f64<f64, 2, Mul>,
    axpy_f32<f32, 4, Axpy<f32>>, axpy_f64<f64, 2, Axpy<f64>>,
))]
pub unsafe fn zip<T: Float, const N: usize, F: Binary<T>>(
    function: F,
    x: *const T,
    y: *const T,
    z: *mut T,
    len: usize,
) {
    // SAFETY: the same contract.
    unsafe { zip_in_blocks::<T, N, F, IN_FLIGHT>(BLOCK as usize, function, x, y, z, len) }
}

/// [`zip`] in blocks of `block` threads, with `U` vectors of each array of a thread in flight.
///
/// # Safety
/// As for [`zip`]; a block has `block` threads.
#[inline(always)]
pub(crate) unsafe fn zip_in_blocks<T: Float, const N: usize, F: Binary<T>, const U: usize>(
    block: usize,
    function: F,
    x: *const T,
    y: *const T,
    z: *mut T,
    len: usize,
) {
    let whole = len / N;
    // SAFETY: vector i lies within all three, which are aligned, and comes to one thread.
    let load = |i: usize| unsafe {
        let (x, y): ([T; N], [T; N]) = (vector::load(x.add(i * N)), vector::load(y.add(i * N)));
        (x, y)
    };
    let nothing = ([T::default(); N], [T::default(); N]);
    strided::<_, U>(block, whole, nothing, load, |i, (mut x, y)| {
        for n in 0..N {
            x[n] = function.of(x[n], y[n]);
        }
        // SAFETY: as above.
        unsafe { vector::store(z.add(i * N), x) };
    });
    for i in thread::grid_stride(len % N) {
        let i = whole * N + i;
        // SAFETY: i < len, and comes to one thread.
        unsafe { *z.add(i) = function.of(*x.add(i), *y.add(i)) };
    }
}

/// `y[i] = *factor * x[i]`: the factor is on the device, and the host need not know it.
///
/// # Safety
/// As for [`map`]; `factor` has one element.
#[kernel(block = [256, 1, 1], instances(scale_by_f32<f32, 4>, scale_by_f64<f64, 2>))]
pub unsafe fn scale_by<T: Float, const N: usize>(
    factor: *const T,
    x: *const T,
    y: *mut T,
    len: usize,
) {
    // SAFETY: the kernel's contract.
    unsafe { map::<T, N, Scale<T>>(Scale { factor: *factor }, x, y, len) }
}

/// `y[i] = x[i] / *divisor`, as [`Divide`] does it: the divisor is on the device, and the host need
/// not know it. It is not negative.
///
/// # Safety
/// As for [`map`]; `divisor` has one element.
#[kernel(block = [256, 1, 1], instances(divide_by_f32<f32, 4>, divide_by_f64<f64, 2>))]
pub unsafe fn divide_by<T: Float, const N: usize>(
    divisor: *const T,
    x: *const T,
    y: *mut T,
    len: usize,
) {
    // SAFETY: the kernel's contract.
    unsafe { map::<T, N, Divide<T>>(Divide::by(*divisor), x, y, len) }
}
