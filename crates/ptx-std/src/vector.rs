//! Loads and stores of several neighbouring elements in one instruction.
//!
//! A GPU thread moves at most 16 bytes at once. Wider accesses have fewer instructions and keep
//! more bytes in flight for each thread, which is what a memory-bound kernel lives on.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// # Safety
//! /// `y` has room for `x.len()` elements, a multiple of 4; both are aligned to 16 bytes.
//! #[kernel]
//! pub unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
//!     const { assert!(vector::alignment::<f32, 4>() == vector::WIDEST) };
//!     for i in thread::grid_stride(x.len() / 4) {
//!         // SAFETY: 4 i + 3 < x.len(), and i comes to one thread; the caller vouches for the rest.
//!         unsafe {
//!             let values = vector::load::<f32, 4>(x.as_ptr().add(4 * i));
//!             vector::store(y.add(4 * i), values.map(|value| a * value));
//!         }
//!     }
//! }
//! # use cuda_std::launch::{Kernel, Slice, SliceMut};
//! # #[repr(align(16))]
//! # struct Aligned([f32; 64]);
//! # let (x, mut y) = (Aligned([1.5; 64]), Aligned([0.0; 64]));
//! # // SAFETY: the arrays are as long and as aligned as the kernel asks, and outlive the launch.
//! # let arguments = unsafe { (Slice::from_raw(x.0.as_ptr(), 64), SliceMut::from_raw(y.0.as_mut_ptr(), 64), 2.0) };
//! # let shape = simt::Shape { grid: [1, 1, 1], block: [4, 1, 1], dynamic_shared: 0 };
//! # // SAFETY: as above.
//! # simt::Launch::new(shape).run(&|| unsafe { scale::call(&arguments) })?;
//! # assert_eq!(y.0, [3.0; 64]);
//! # Ok::<(), simt::LaunchError>(())
//! ```

use core::mem::{align_of, size_of};

use crate::arch;

/// The widest access of one thread, in bytes.
pub const WIDEST: usize = 16;

/// The alignment that [`load`] and [`store`] of `N` elements of `T` ask for, in bytes: the size of
/// the access, at most 16, and no less than that of `T`.
///
/// ```
/// use cuda_std::vector::{WIDEST, alignment};
///
/// assert_eq!(alignment::<f32, 2>(), 8); // One instruction of 8 bytes.
/// assert_eq!(alignment::<f32, 4>(), WIDEST);
/// assert_eq!(alignment::<f32, 8>(), WIDEST); // Two instructions of 16 bytes.
/// assert_eq!(alignment::<f32, 3>(), 4); // 12 bytes: an instruction per element.
/// ```
pub const fn alignment<T, const N: usize>() -> usize {
    let size = size_of::<[T; N]>();
    let access = if size.is_multiple_of(16) {
        16
    } else if size.is_multiple_of(8) {
        8
    } else {
        1
    };
    if access > align_of::<T>() {
        access
    } else {
        align_of::<T>()
    }
}

#[repr(C, align(16))]
struct Aligned16<T>(T);

#[repr(C, align(8))]
struct Aligned8<T>(T);

/// Reads `N` neighbouring elements: one instruction for 8 or 16 bytes, several for more.
///
/// # Safety
/// `source` points to `N` readable elements and is aligned to [`alignment::<T, N>()`](alignment).
#[inline(always)]
#[track_caller]
pub unsafe fn load<T: Copy, const N: usize>(source: *const T) -> [T; N] {
    arch::expect_aligned(source, const { alignment::<T, N>() });
    // SAFETY: the caller's contract; each wrapper has the layout of `[T; N]` and no more alignment
    // than `alignment` says.
    unsafe {
        match const { alignment::<T, N>() } {
            16 => source.cast::<Aligned16<[T; N]>>().read().0,
            8 => source.cast::<Aligned8<[T; N]>>().read().0,
            _ => source.cast::<[T; N]>().read(),
        }
    }
}

/// Writes `N` neighbouring elements: one instruction for 8 or 16 bytes, several for more.
///
/// # Safety
/// `target` points to `N` writable elements and is aligned to [`alignment::<T, N>()`](alignment).
#[inline(always)]
#[track_caller]
pub unsafe fn store<T: Copy, const N: usize>(target: *mut T, values: [T; N]) {
    arch::expect_aligned(target, const { alignment::<T, N>() });
    // SAFETY: as for `load`.
    unsafe {
        match const { alignment::<T, N>() } {
            16 => target.cast::<Aligned16<[T; N]>>().write(Aligned16(values)),
            8 => target.cast::<Aligned8<[T; N]>>().write(Aligned8(values)),
            _ => target.cast::<[T; N]>().write(values),
        }
    }
}

/// Copies `N` neighbouring elements, 16 bytes together, with one load and one store. The compiler
/// makes a [`load`] and a [`store`] of the same values into a copy by 8 bytes. [`copy_strided`] has an example.
///
/// # Safety
/// `source` points to `N` readable elements, `target` to `N` writable ones, and both are aligned to
/// 16 bytes.
#[inline(always)]
#[track_caller]
pub unsafe fn copy<T: Copy, const N: usize>(source: *const T, target: *mut T) {
    // SAFETY: the caller's contract.
    unsafe { copy_strided::<T, N, 1>(source, target, 0) };
}

/// `M` copies as [`copy`] makes them, `stride` elements apart, with all loads before the first
/// store: so many are in flight at once.
///
/// ```
/// use cuda_std::vector;
///
/// #[repr(align(16))]
/// struct Aligned([f32; 16]);
/// let (x, mut y) = (Aligned(core::array::from_fn(|i| i as f32)), Aligned([0.0; 16]));
/// // SAFETY: both have 16 elements, aligned to 16 bytes.
/// unsafe {
///     // Elements 0 to 3 and 8 to 11.
///     vector::copy_strided::<f32, 4, 2>(x.0.as_ptr(), y.0.as_mut_ptr(), 8);
///     assert_eq!(y.0[6..10], [0.0, 0.0, 8.0, 9.0]);
///     vector::copy::<f32, 4>(&x.0[4], &mut y.0[4]);
///     assert_eq!(y.0[..12], x.0[..12]);
/// }
/// ```
///
/// # Safety
/// Each of the copies keeps [`copy`]'s contract, and none writes what another reads.
#[inline(always)]
pub unsafe fn copy_strided<T: Copy, const N: usize, const M: usize>(
    source: *const T,
    target: *mut T,
    stride: usize,
) {
    const { assert!(size_of::<[T; N]>() == WIDEST, "copies are of 16 bytes") };
    let mut words = [[0u32; 4]; M];
    for (i, words) in words.iter_mut().enumerate() {
        // SAFETY: the caller's contract; words have no more alignment than 16 bytes.
        *words = unsafe { load::<u32, 4>(source.add(i * stride).cast()).map(arch::opaque) };
    }
    for (i, words) in words.iter().enumerate() {
        // SAFETY: as above.
        unsafe { store(target.add(i * stride).cast(), *words) };
    }
}
