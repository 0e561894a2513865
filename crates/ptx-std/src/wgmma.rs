//! Products of matrices by a warpgroup: `wgmma`, of `sm_90a`.
//!
//! The 128 threads of a [warpgroup](crate::warpgroup) together hold an [`Accumulator`] of 64 rows in their registers, to which
//! an instruction adds the product of `A` (64 rows, in shared memory or in registers) and `B` (as many columns as the
//! accumulator has, in shared memory). An instruction goes on by itself; a group of them is waited for.
//!
//! An accumulator that instructions add to is borrowed by [`InFlight`], so that nothing can touch its registers:
//!
//! ```compile_fail,E0502
//! # use cuda_std::wgmma::{Accumulator, N256};
//! let mut sums = Accumulator::<N256>::zeroed();
//! // SAFETY: the whole warpgroup comes here.
//! let in_flight = unsafe { sums.begin() };
//! let first = sums.values()[0];
//! in_flight.finish();
//! ```
//!
//! In shared memory a matrix is a tile in the layout that copies by a [`TensorMap`](crate::tma::TensorMap) with the
//! same swizzle make: [`KMajor`] where neighbours along the inner dimension of the product lie side by side,
//! [`MnMajor`] where those along a row or column of the result do.
//!
//! ```
//! use cuda_std::mbarrier::{Barrier, Parity, fence_init};
//! use cuda_std::prelude::*;
//! use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
//! use cuda_std::tma::TensorMap;
//! use cuda_std::wgmma::{Accumulator, KMajor, N8, Previous, Swizzle, Swizzle128};
//!
//! /// `y` = `a` `b`, of 64 x 64 elements in rows and of 64 x 8 in columns; `y` has rows of 8.
//! ///
//! /// # Safety
//! /// A block of 128 threads, with 10 KiB of dynamic shared memory; the maps are of boxes of 64 elements and of 64 rows or
//! /// 8 columns, swizzled by 128 bytes; `y` has room for 512 elements.
//! #[kernel(block = [128, 1, 1])]
//! pub unsafe fn multiply_tiles(a: &TensorMap, b: &TensorMap, y: *mut f32) {
//!     let start: SharedPtr<bf16> = SharedPtr::new(dynamic_shared_mem());
//!     let tile_a = start.align_up(Swizzle128::ALIGN);
//!     let tile_b = tile_a.add(64 * 64);
//!     // SAFETY: one thread makes the barrier and starts the copies, for which all wait. The warpgroup
//!     // goes the same way everywhere.
//!     unsafe {
//!         let barrier = Barrier::at(SharedPtr::new(shared_array![u64; 1]));
//!         if thread::thread_idx_x() == 0 {
//!             barrier.init(1);
//!             fence_init();
//!             barrier.arrive_expect((64 + 8) * 64 * 2);
//!             a.load([0, 0], tile_a, barrier);
//!             b.load([0, 0], tile_b, barrier);
//!         }
//!         thread::sync_threads();
//!         barrier.wait(Parity::EVEN);
//!
//!         let a = KMajor::<bf16, Swizzle128>::new(tile_a);
//!         let b = KMajor::<bf16, Swizzle128>::new(tile_b);
//!         let mut sums = Accumulator::<N8>::zeroed();
//!         let mut in_flight = sums.begin();
//!         in_flight.open_group();
//!         cuda_std::unroll!(STEP in 0..4 => {
//!             let previous = Previous::of_step(STEP as u32);
//!             in_flight.multiply(previous, a.step::<{ STEP as u32 }>(), b.step::<{ STEP as u32 }>());
//!         });
//!         in_flight.commit();
//!         in_flight.finish();
//!
//!         let thread = thread::thread_idx_x() as usize;
//!         cuda_std::unroll!(I in 0..4 => {
//!             let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (I % 4 / 2);
//!             *y.add(8 * row + 2 * (thread % 4) + I % 2) = sums.values()[I];
//!         });
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(multiply_tiles::BOUNDS.block, Some([128, 1, 1]));
//! ```
//!
//! The rules that a kernel keeps, so that `ptxas` makes of it what was meant:
//!
//! - registers of accumulators are indexed by constants ([`unroll!`](crate::unroll)), or they lie in local memory;
//! - functions with such instructions are `#[inline(always)]`, or `ptxas` waits after each (C7510);
//! - the branches around them are the same for the whole warpgroup.
//!
//! `cuda_builder` refuses a kernel that `ptxas` has found something of the kind in.

mod instructions;
mod operand;

use core::marker::PhantomData;

use bytemuck::Zeroable;
use ptx_std_macros::gpu_only;

pub use instructions::{Instruction, N8, N16, N32, N64, N96, N128, N192, N256, Shape};
pub use operand::{
    E4m3, E5m2, Element, KMajor, MnMajor, SharedOperand, Swizzle, Swizzle32, Swizzle64, Swizzle128,
    Tf32,
};

/// 64 rows of as many columns as `N` says, in the registers of a warpgroup.
///
/// Thread `t` has `N / 2` elements. Element `i` is in row `16 (t / 32) + t % 32 / 4 + 8 (i % 4 / 2)` and in column
/// `8 (i / 4) + 2 (t % 4) + i % 2`.
///
/// ```
/// use cuda_std::wgmma::{Accumulator, N8, N16, N32, N64, N96, N128, N192, N256, Shape};
///
/// fn elements<N: Shape>() -> u32 {
///     size_of::<N::Registers<f32>>() as u32 / 4
/// }
/// assert_eq!(elements::<N256>(), N256::COLUMNS / 2);
/// assert_eq!([elements::<N8>(), elements::<N16>(), elements::<N32>()], [4, 8, 16]);
/// assert_eq!([elements::<N64>(), elements::<N96>()], [32, 48]);
/// assert_eq!([elements::<N128>(), elements::<N192>()], [64, 96]);
///
/// // A bias, which products are added to.
/// let mut sums = Accumulator::<N8, f32>::zeroed();
/// sums.values_mut()[0] = 0.5;
/// assert_eq!(sums.values(), &[0.5, 0.0, 0.0, 0.0]);
/// ```
pub struct Accumulator<N: Shape, S: Zeroable + Copy = f32> {
    registers: N::Registers<S>,
}

impl<N: Shape, S: Zeroable + Copy> Accumulator<N, S> {
    /// All elements are 0.
    #[inline(always)]
    pub fn zeroed() -> Self {
        Accumulator {
            registers: N::Registers::<S>::zeroed(),
        }
    }

    /// The elements of this thread.
    #[inline(always)]
    pub fn values(&self) -> &N::Registers<S> {
        &self.registers
    }

    /// The elements of this thread, to be changed.
    #[inline(always)]
    pub fn values_mut(&mut self) -> &mut N::Registers<S> {
        &mut self.registers
    }

    /// Lends the accumulator to instructions that add to it.
    ///
    /// # Safety
    /// All threads of the warpgroup reach the same call, here and for all functions of [`InFlight`], which is not
    /// [forgotten](core::mem::forget).
    #[inline(always)]
    pub unsafe fn begin(&mut self) -> InFlight<'_, N, S> {
        N::pin(&mut self.registers);
        InFlight { sums: self }
    }
}

/// Whether an instruction adds to the sums in the accumulator, or discards them.
///
/// ```
/// use cuda_std::wgmma::Previous;
///
/// assert_eq!([0, 1, 2].map(Previous::of_step), [Previous::Discard, Previous::Keep, Previous::Keep]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Previous {
    /// Leaves it out: the product alone remains.
    Discard = 0,
    /// Adds to it.
    Keep = 1,
}

impl Previous {
    /// [`Previous::Discard`] in step 0 of a sum, [`Previous::Keep`] in those behind it.
    #[inline(always)]
    pub const fn of_step(step: u32) -> Previous {
        match step {
            0 => Previous::Discard,
            _ => Previous::Keep,
        }
    }
}

/// An accumulator that instructions add to. When it is dropped, all of the warpgroup's instructions are waited for.
///
/// ```
/// use bytemuck::Zeroable;
/// use cuda_std::prelude::*;
/// use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
/// use cuda_std::tma;
/// use cuda_std::wgmma::{
///     Accumulator, Element, InFlight, Instruction, MnMajor, N64, Previous, SharedOperand, Swizzle, Swizzle128,
/// };
///
/// /// A product of registers and of a tile, of any element type and number of columns.
/// ///
/// /// # Safety
/// /// As for [`InFlight::multiply_registers`].
/// #[inline(always)]
/// unsafe fn multiply<T, N, B>(sums: &mut InFlight<'_, N, T::Sum>, a: [u32; 4], b: B)
/// where
///     T: Element<Sum: Zeroable + Copy>,
///     N: Instruction<T>,
///     B: SharedOperand<T>,
/// {
///     sums.open_group();
///     // SAFETY: the caller's contract.
///     unsafe { sums.multiply_registers::<T, B>(Previous::Discard, a, b) };
///     sums.commit();
/// }
///
/// /// The sums of 64 columns of 16 rows, in the first elements of `y`: `A` has ones in its registers.
/// ///
/// /// # Safety
/// /// A block of 128 threads with 3 KiB of dynamic shared memory; `y` has room for 64 elements.
/// #[kernel(block = [128, 1, 1])]
/// pub unsafe fn tile_sums(x: &[[bf16; 64]], y: *mut f32) {
///     let start: *mut bf16 = dynamic_shared_mem();
///     let tile = SharedPtr::new(start).align_up(Swizzle128::ALIGN);
///     let values = start.wrapping_byte_add((tile.address() - SharedPtr::new(start).address()) as usize);
///     let thread = thread::thread_idx_x() as usize;
///     // SAFETY: each thread writes elements of its own, which a fence and a barrier make visible. The
///     // warpgroup goes the same way everywhere.
///     unsafe {
///         // Piece `p` of row `k`, 8 elements, lies where the swizzle puts it.
///         let (k, p) = (thread / 8, thread % 8);
///         for i in 0..8 {
///             *values.add(64 * k + 8 * (p ^ (k % 8)) + i) = x[k][8 * p + i];
///         }
///         tma::fence_shared();
///         thread::sync_threads();
///         let one = u32::from(bf16::ONE.to_bits());
///         let mut sums = Accumulator::<N64>::zeroed();
///         let mut in_flight = sums.begin();
///         let b = MnMajor::<bf16, Swizzle128, 16>::new(tile);
///         multiply::<bf16, N64, _>(&mut in_flight, [one << 16 | one; 4], b);
///         let mut others = Accumulator::<N64>::zeroed();
///         let mut later = others.begin();
///         multiply::<bf16, N64, _>(&mut later, [one << 16 | one; 4], b);
///         in_flight.finish_before::<1>(); // `sums` may be worked on while the latest group adds to `others`.
///         later.wait_operands::<0>(); // The tile may be filled anew.
///         later.finish();
///         if thread < 4 {
///             cuda_std::unroll!(I in 0..32 => {
///                 if I % 4 < 2 {
///                     *y.add(8 * (I / 4) + 2 * thread + I % 2) = sums.values()[I];
///                 }
///             });
///         }
///     }
/// }
/// # use cuda_std::launch::Kernel;
/// # assert_eq!(tile_sums::BOUNDS.block, Some([128, 1, 1]));
/// ```
#[must_use = "dropped, it waits"]
pub struct InFlight<'s, N: Shape, S: Zeroable + Copy> {
    sums: &'s mut Accumulator<N, S>,
}

impl<N: Shape, S: Zeroable + Copy> InFlight<'_, N, S> {
    /// Opens a group: what the warpgroup wrote to registers is there for the instructions that follow.
    #[inline(always)]
    pub fn open_group(&mut self) {
        fence();
    }

    /// Adds the product of `a` and `b`, both in shared memory, of as many elements along the inner dimension as
    /// [`Element::DEPTH`].
    ///
    /// # Safety
    /// The operands' tiles have been filled, by copies that were waited for or by instructions that
    /// [`fence_shared`](crate::tma::fence_shared) and a barrier followed, and stay as they are until the group has been waited for.
    #[inline(always)]
    pub unsafe fn multiply<T, A, B>(&mut self, previous: Previous, a: A, b: B)
    where
        T: Element<Sum = S>,
        N: Instruction<T>,
        A: SharedOperand<T>,
        B: SharedOperand<T>,
    {
        let sums = &mut self.sums.registers;
        let (a, b) = (a.descriptor(), b.descriptor());
        // SAFETY: the caller's contract; the accumulator is borrowed until all has been waited for.
        unsafe {
            match (A::TRANSPOSED, B::TRANSPOSED) {
                (0, 0) => N::multiply_shared::<0, 0>(sums, a, b, previous as u32),
                (0, _) => N::multiply_shared::<0, 1>(sums, a, b, previous as u32),
                (_, 0) => N::multiply_shared::<1, 0>(sums, a, b, previous as u32),
                _ => N::multiply_shared::<1, 1>(sums, a, b, previous as u32),
            }
        }
    }

    /// The same with `a` in registers: four per thread, each of 4 bytes of neighbours along the inner dimension. Register `r` of
    /// thread `t` has those of row `16 (t / 32) + t % 32 / 4 + 8 (r % 2)` that begin `4 (t % 4) + 16 (r / 2)` bytes into it.
    ///
    /// # Safety
    /// As for [`InFlight::multiply`].
    #[inline(always)]
    pub unsafe fn multiply_registers<T, B>(&mut self, previous: Previous, a: [u32; 4], b: B)
    where
        T: Element<Sum = S>,
        N: Instruction<T>,
        B: SharedOperand<T>,
    {
        let sums = &mut self.sums.registers;
        let b = b.descriptor();
        // SAFETY: as in `multiply`.
        unsafe {
            match B::TRANSPOSED {
                0 => N::multiply_registers::<0>(sums, a, b, previous as u32),
                _ => N::multiply_registers::<1>(sums, a, b, previous as u32),
            }
        }
    }

    /// Closes the group: the instructions since the one before.
    #[inline(always)]
    pub fn commit(&mut self) {
        commit();
    }

    /// Waits until no more than the latest `PENDING` groups of the warpgroup are under way: the tiles that the others read may be
    /// filled anew. The accumulator stays lent.
    #[inline(always)]
    pub fn wait_operands<const PENDING: u64>(&self) {
        wait::<PENDING>();
    }

    /// Waits for everything, and gives the accumulator back.
    #[inline(always)]
    pub fn finish(self) {}

    /// Waits until no more than the latest `PENDING` groups of the warpgroup are under way, and gives the accumulator back: it is
    /// worked on while those groups add to others.
    ///
    /// # Safety
    /// None of the latest `PENDING` groups adds to this accumulator.
    #[inline(always)]
    pub unsafe fn finish_before<const PENDING: u64>(self) {
        wait::<PENDING>();
        // As in `drop`, which would wait for all.
        N::pin(&mut core::mem::ManuallyDrop::new(self).sums.registers);
    }
}

impl<N: Shape, S: Zeroable + Copy> Drop for InFlight<'_, N, S> {
    #[inline(always)]
    fn drop(&mut self) {
        wait::<0>();
        // No use of the registers moves in front of the wait.
        N::pin(&mut self.sums.registers);
    }
}

#[gpu_only]
#[inline(always)]
fn fence() {
    crate::arch::tensor::wgmma_fence();
}

#[gpu_only]
#[inline(always)]
fn commit() {
    crate::arch::tensor::wgmma_commit();
}

#[gpu_only]
#[inline(always)]
fn wait<const PENDING: u64>() {
    crate::arch::tensor::wgmma_wait::<PENDING>();
}

/// The types of [`KMajor`] and [`MnMajor`].
type Marker<T, S> = PhantomData<fn() -> (T, S)>;
