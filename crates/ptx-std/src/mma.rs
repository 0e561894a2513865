//! Products of small matrices by a warp: `mma.sync`, and the instructions that bring its operands from shared memory
//! and the results back. They need `sm_80`; [`store_matrices`] needs `sm_90`.
//!
//! The 32 lanes together hold the operands and the sums. A lane's part is, with `row = lane / 4` and `pair = lane % 4`:
//!
//! | | `a` | `b` | sums |
//! |---|---|---|---|
//! | `bf16`, `f16`: 16 x 8 of 16 | register `r`: row `row + 8 (r % 2)`, two from `2 pair + 8 (r / 2)` on | register `r`: column `row`, two from `2 pair + 8 r` on | `i`: row `row + 8 (i / 2)`, column `2 pair + i % 2` |
//! | [`Tf32`]: 16 x 8 of 8 | row `row + 8 (r % 2)`, number `pair + 4 (r / 2)` | column `row`, number `pair + 4 r` | as above |
//! | `i8`: 16 x 8 of 32 | row `row + 8 (r % 2)`, four from `4 pair + 16 (r / 2)` on | column `row`, four from `4 pair + 16 r` on | as above |
//! | `f64`: 8 x 8 of 4 | row `row`, number `pair` | column `row`, number `pair` | `i`: row `row`, column `2 pair + i` |
//! | [`F64x16`]: 16 x 8 of 16 | `i`: row `row + 8 (i % 2)`, number `pair + 4 (i / 2)` | `i`: column `row`, number `pair + 4 i` | `i`: row `row + 8 (i / 2)`, column `2 pair + i % 2` |
//!
//! A matrix of [`load_matrices`] is 8 rows of 16 bytes: lane `l` is given the 4 bytes of row `l / 4` that begin `4 (l % 4)` bytes
//! into it, as `a`, `b` and pairs of sums of 16-bit types have them. Loaded by [`Transposed`], a matrix of 16-bit elements
//! is transposed.
//!
//! The compiler may copy these instructions into both arms of a branch: they stand where all lanes of a warp go the same way.
//!
//! ```
//! use cuda_std::mma::{self, Element, Matrices, Order, Plain, Transposed, load_matrices, store_matrices};
//! use cuda_std::packed::Bf16x2;
//! use cuda_std::prelude::*;
//! use cuda_std::shared::SharedPtr;
//!
//! /// A product of any element type: a lane's part of it.
//! ///
//! /// # Safety
//! /// All lanes of the warp reach the same call.
//! unsafe fn product_of<T: Element>(a: T::A, b: T::B, mut sums: T::Sums) -> T::Sums {
//!     // SAFETY: the caller's contract.
//!     unsafe { mma::multiply::<T>(&mut sums, a, b) };
//!     sums
//! }
//!
//! /// Matrices of which lane `l` says where row `l % 16` begins, 16 rows after 16 rows.
//! ///
//! /// # Safety
//! /// As for [`load_matrices`].
//! unsafe fn load<M: Matrices, O: Order, const COLUMNS: usize>(rows: *mut [bf16; COLUMNS]) -> M {
//!     let lane = warp::lane_id() as usize;
//!     let row = rows.wrapping_add(lane % 16).cast::<bf16>();
//!     // SAFETY: the caller's contract. Where there are 8 columns, lanes 16 to 31 say nothing.
//!     unsafe { load_matrices::<M, O, _>(SharedPtr::new(row.wrapping_add(8 * (lane / 16) % COLUMNS))) }
//! }
//!
//! /// `y` = `a` `b`, of 16 x 16 and of 16 x 8 elements, row by row.
//! ///
//! /// # Safety
//! /// A block of one warp; `y` has room for 128 elements.
//! #[kernel]
//! pub unsafe fn product(a: &[[bf16; 16]], b: &[[bf16; 8]], y: *mut bf16) {
//!     let (rows_a, rows_b) = (shared_array![[bf16; 16]; 16], shared_array![[bf16; 8]; 16]);
//!     let result = shared_array![[bf16; 8]; 16];
//!     let lane = warp::lane_id() as usize;
//!     // SAFETY: lanes write rows of their own, and read others' behind a barrier.
//!     unsafe {
//!         if lane < 16 {
//!             *rows_a.add(lane) = a[lane];
//!             *rows_b.add(lane) = b[lane];
//!         }
//!         thread::sync_threads();
//!         let (a, b) = (load::<[u32; 4], Plain, 16>(rows_a), load::<[u32; 2], Transposed, 8>(rows_b));
//!         let [x0, x1, x2, x3] = product_of::<bf16>(a, b, [0.0; 4]);
//!         let pairs = [Bf16x2::from_f32(x0, x1), Bf16x2::from_f32(x2, x3)].map(Bf16x2::to_bits);
//!         store_matrices::<_, Plain, _>(SharedPtr::new(result.add(lane % 16)), pairs);
//!         thread::sync_threads();
//!         for i in 4 * lane..4 * lane + 4 {
//!             *y.add(i) = (*result.add(i / 8))[i % 8];
//!         }
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(product::PARAMETERS.len(), 3);
//! ```
//!
//! How much a lane has of each:
//!
//! ```
//! use cuda_std::mma::{Element, F64x16, Tf32};
//!
//! fn registers<T: Element>() -> [usize; 3] {
//!     [size_of::<T::A>(), size_of::<T::B>(), size_of::<T::Sums>()].map(|bytes| bytes / 4)
//! }
//! assert_eq!(registers::<cuda_std::bf16>(), [4, 2, 4]);
//! assert_eq!(registers::<Tf32>(), [4, 2, 4]);
//! assert_eq!(registers::<f64>(), [2, 2, 4]);
//! assert_eq!(registers::<F64x16>(), [16, 8, 8]);
//! ```

use half::{bf16, f16};
use ptx_std_macros::gpu_only;

use crate::shared::SharedPtr;
pub use crate::wgmma::Tf32;

/// The element type of operands.
pub trait Element: Copy {
    /// A lane's part of `a`.
    type A: Copy;
    /// A lane's part of `b`.
    type B: Copy;
    /// A lane's part of the sums.
    type Sums: Copy;

    #[doc(hidden)]
    unsafe fn multiply(sums: &mut Self::Sums, a: Self::A, b: Self::B);
}

/// Adds the product of `a` and `b` to the sums.
///
/// # Safety
/// All lanes of the warp reach the same call.
#[inline(always)]
pub unsafe fn multiply<T: Element>(sums: &mut T::Sums, a: T::A, b: T::B) {
    // SAFETY: the caller's contract.
    unsafe { T::multiply(sums, a, b) };
}

macro_rules! elements {
    ($($ty:ty => [$sum:ty], $instruction:literal;)*) => {$(
        impl Element for $ty {
            type A = [u32; 4];
            type B = [u32; 2];
            type Sums = [$sum; 4];

            #[gpu_only]
            #[inline(always)]
            unsafe fn multiply(sums: &mut [$sum; 4], a: [u32; 4], b: [u32; 2]) {
                // SAFETY: the instruction computes registers from others; the rule about lanes is the caller's.
                unsafe {
                    core::arch::asm!(
                        concat!(
                            "mma.sync.aligned.", $instruction,
                            " {{{d0}, {d1}, {d2}, {d3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, \
                             {{{d0}, {d1}, {d2}, {d3}}};"
                        ),
                        d0 = inout(reg32) sums[0],
                        d1 = inout(reg32) sums[1],
                        d2 = inout(reg32) sums[2],
                        d3 = inout(reg32) sums[3],
                        a0 = in(reg32) a[0],
                        a1 = in(reg32) a[1],
                        a2 = in(reg32) a[2],
                        a3 = in(reg32) a[3],
                        b0 = in(reg32) b[0],
                        b1 = in(reg32) b[1],
                        options(nomem, nostack)
                    );
                }
            }
        }
    )*};
}

elements! {
    bf16 => [f32], "m16n8k16.row.col.f32.bf16.bf16.f32";
    f16 => [f32], "m16n8k16.row.col.f32.f16.f16.f32";
    Tf32 => [f32], "m16n8k8.row.col.f32.tf32.tf32.f32";
    i8 => [i32], "m16n8k32.row.col.s32.s8.s8.s32";
}

impl Element for f64 {
    type A = f64;
    type B = f64;
    type Sums = [f64; 2];

    #[gpu_only]
    #[inline(always)]
    unsafe fn multiply(sums: &mut [f64; 2], a: f64, b: f64) {
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{d0}, {d1}}}, {{{a}}}, {{{b}}}, {{{d0}, {d1}}};",
                d0 = inout(reg64) sums[0],
                d1 = inout(reg64) sums[1],
                a = in(reg64) a,
                b = in(reg64) b,
                options(nomem, nostack)
            );
        }
    }
}

/// `f64` by a larger instruction, 16 x 8 of 16, which needs `sm_90`. On an H200 it reaches the data sheet's rate, and that of
/// 8 x 8 of 4 half of it.
#[derive(Clone, Copy, Debug)]
pub struct F64x16;

impl Element for F64x16 {
    type A = [f64; 8];
    type B = [f64; 4];
    type Sums = [f64; 4];

    #[gpu_only]
    #[inline(always)]
    unsafe fn multiply(sums: &mut [f64; 4], a: [f64; 8], b: [f64; 4]) {
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {{{d0}, {d1}, {d2}, {d3}}}, \
                 {{{a0}, {a1}, {a2}, {a3}, {a4}, {a5}, {a6}, {a7}}}, {{{b0}, {b1}, {b2}, {b3}}}, {{{d0}, {d1}, {d2}, {d3}}};",
                d0 = inout(reg64) sums[0],
                d1 = inout(reg64) sums[1],
                d2 = inout(reg64) sums[2],
                d3 = inout(reg64) sums[3],
                a0 = in(reg64) a[0],
                a1 = in(reg64) a[1],
                a2 = in(reg64) a[2],
                a3 = in(reg64) a[3],
                a4 = in(reg64) a[4],
                a5 = in(reg64) a[5],
                a6 = in(reg64) a[6],
                a7 = in(reg64) a[7],
                b0 = in(reg64) b[0],
                b1 = in(reg64) b[1],
                b2 = in(reg64) b[2],
                b3 = in(reg64) b[3],
                options(nomem, nostack)
            );
        }
    }
}

/// How the elements of a matrix of 16-bit elements lie in shared memory.
pub trait Order {
    #[doc(hidden)]
    const IS_TRANSPOSED: bool;
}

/// Rows of the matrix are rows of memory.
#[derive(Clone, Copy, Debug)]
pub enum Plain {}

/// Columns of the matrix are rows of memory.
#[derive(Clone, Copy, Debug)]
pub enum Transposed {}

impl Order for Plain {
    const IS_TRANSPOSED: bool = false;
}

impl Order for Transposed {
    const IS_TRANSPOSED: bool = true;
}

/// So many matrices: 1, 2 or 4, a register of each lane for each.
pub trait Matrices: Sized {
    #[doc(hidden)]
    unsafe fn load<O: Order>(row: u32) -> Self;
    #[doc(hidden)]
    unsafe fn store<O: Order>(self, row: u32);
}

macro_rules! matrices {
    ($($count:literal $list:literal [$($i:literal $register:ident),*];)*) => {$(
        impl Matrices for [u32; $count] {
            #[gpu_only]
            #[inline(always)]
            unsafe fn load<O: Order>(row: u32) -> Self {
                $(let $register: u32;)*
                // SAFETY: the caller's contract.
                unsafe {
                    if O::IS_TRANSPOSED {
                        core::arch::asm!(
                            concat!("ldmatrix.sync.aligned.m8n8.x", $count, ".trans.shared.b16 ", $list, ", [{row}];"),
                            $($register = out(reg32) $register,)*
                            row = in(reg32) row,
                            options(nostack, readonly)
                        );
                    } else {
                        core::arch::asm!(
                            concat!("ldmatrix.sync.aligned.m8n8.x", $count, ".shared.b16 ", $list, ", [{row}];"),
                            $($register = out(reg32) $register,)*
                            row = in(reg32) row,
                            options(nostack, readonly)
                        );
                    }
                }
                [$($register),*]
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn store<O: Order>(self, row: u32) {
                // SAFETY: the caller's contract.
                unsafe {
                    if O::IS_TRANSPOSED {
                        core::arch::asm!(
                            concat!("stmatrix.sync.aligned.m8n8.x", $count, ".trans.shared.b16 [{row}], ", $list, ";"),
                            $($register = in(reg32) self[$i],)*
                            row = in(reg32) row,
                            options(nostack)
                        );
                    } else {
                        core::arch::asm!(
                            concat!("stmatrix.sync.aligned.m8n8.x", $count, ".shared.b16 [{row}], ", $list, ";"),
                            $($register = in(reg32) self[$i],)*
                            row = in(reg32) row,
                            options(nostack)
                        );
                    }
                }
            }
        }
    )*};
}

matrices! {
    1 "{{{r0}}}" [0 r0];
    2 "{{{r0}, {r1}}}" [0 r0, 1 r1];
    4 "{{{r0}, {r1}, {r2}, {r3}}}" [0 r0, 1 r1, 2 r2, 3 r3];
}

/// Loads 1, 2 or 4 matrices from shared memory. Lane `l` says where row `l % 8` of matrix `l / 8` begins.
///
/// # Safety
/// All lanes of the warp reach the same call. Each row is 16 bytes of shared memory, aligned to 16, that may be read.
#[inline(always)]
pub unsafe fn load_matrices<M: Matrices, O: Order, T>(row: SharedPtr<T>) -> M {
    // SAFETY: the caller's contract.
    unsafe { M::load::<O>(row.address()) }
}

/// Stores 1, 2 or 4 matrices to shared memory. Lane `l` says where row `l % 8` of matrix `l / 8` begins.
///
/// # Safety
/// All lanes of the warp reach the same call. Each row is 16 bytes of shared memory, aligned to 16, that nobody else
/// touches.
#[inline(always)]
pub unsafe fn store_matrices<M: Matrices, O: Order, T>(row: SharedPtr<T>, matrices: M) {
    // SAFETY: the caller's contract.
    unsafe { matrices.store::<O>(row.address()) };
}
