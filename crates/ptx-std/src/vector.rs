//! Loads and stores of several neighbouring elements in one instruction.
//!
//! A GPU thread moves at most 16 bytes at once. Wider accesses have fewer instructions and keep
//! more bytes in flight for each thread, which is what a memory-bound kernel lives on.

use core::mem::{align_of, size_of};

use crate::arch;

/// The widest access of one thread, in bytes.
pub const WIDEST: usize = 16;

/// The alignment that [`load`] and [`store`] of `N` elements of `T` ask for, in bytes: the size of
/// the access, at most 16, and no less than that of `T`.
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
/// makes a [`load`] and a [`store`] of the same values into a copy by 8 bytes.
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
