//! Products of matrices on tensor cores, of operands that stay where they are: nothing is loaded meanwhile, so the
//! tensor cores alone hold the rate down, and the power that they take.
//!
//! The sums begin again after [`TILE_STEPS`] steps, as those of the next tile of a product do. So they stay of the size
//! that sums have, and the last ones can be compared.

use bytemuck::Zeroable;
use cuda_std::misc::{clock, globaltimer};
use cuda_std::mma::F64x16;
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::wgmma::{
    Accumulator, E4m3, E5m2, Element, Instruction, KMajor, N256, Previous, Swizzle, Swizzle128,
    Tf32,
};
use cuda_std::{mma, tma, unroll, warpgroup};

use crate::Piece;

/// Steps after which sums begin again.
pub const TILE_STEPS: u32 = 32;

/// Rows of `A`: 64 of each warpgroup.
pub const ROWS: u32 = 128;
/// Columns of `B`.
pub const COLUMNS: u32 = 256;
/// Bytes of a row of `A` and of a column of `B` that a step multiplies.
pub const ROW_BYTES: u32 = Swizzle128::SPAN;
/// Steps with operands of their own; behind the last the first follows.
pub const STAGES: u32 = 4;
/// Threads per block of [`products()`].
pub const THREADS: u32 = 2 * warpgroup::THREADS;
/// Elements of a thread's sums.
pub const SUMS: u32 = COLUMNS / 2;

const WARPGROUP_ROWS: u32 = 64;

/// Vectors of the operands of [`products()`]: `A` of all stages, and behind it `B`.
pub const PIECES: u32 = STAGES * (ROWS + COLUMNS) * ROW_BYTES / size_of::<Piece>() as u32;

/// Dynamic shared memory of [`products()`], with room to align it.
pub const SHARED_BYTES: u32 = Swizzle128::ALIGN + PIECES * size_of::<Piece>() as u32;

/// Multiplies by `wgmma`. Step `s` adds the product of `A` and `B` of stage `s % STAGES`, of [`ROWS`] x [`COLUMNS`] elements,
/// to the sums. Thread `t` of block `b` writes element `i` of its [`Accumulator`] to place `(b * SUMS + i) * THREADS + t` of
/// `sums`; the block's first thread writes how long the steps took, in cycles and in nanoseconds.
///
/// # Safety
/// The launch gives [`SHARED_BYTES`]; `image` has [`PIECES`] vectors, tiles of `A` and of `B` as [`KMajor`] has them. There
/// are `THREADS * SUMS` sums and a clock for each block, and at least one step.
#[kernel(
    block = [256],
    min_blocks = 1,
    instances(
        wgmma_bf16<bf16, f32, N256>,
        wgmma_f16<f16, f32, N256>,
        wgmma_tf32<Tf32, f32, N256>,
        wgmma_e4m3<E4m3, f32, N256>,
        wgmma_e5m2<E5m2, f32, N256>,
        wgmma_s8<i8, i32, N256>
    )
)]
pub unsafe fn products<
    T: Element<Sum = S>,
    S: Zeroable + Copy,
    N: Instruction<T, Registers<S> = [S; 128]>,
>(
    image: *const Piece,
    steps: u32,
    sums: *mut S,
    clocks: *mut [u64; 2],
) {
    let own = thread::thread_idx_x();
    let start: *mut Piece = dynamic_shared_mem();
    let tiles = SharedPtr::new(start).align_up(Swizzle128::ALIGN);
    let room = tiles.address() - SharedPtr::new(start).address();
    let mut piece = own;
    while piece < PIECES {
        // SAFETY: as many pieces are given, and there is room for them behind the first that is aligned.
        unsafe {
            *start.wrapping_byte_add(room as usize).add(piece as usize) = *image.add(piece as usize)
        };
        piece += THREADS;
    }
    tma::fence_shared();
    thread::sync_threads();
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    let a = KMajor::<T, Swizzle128>::new(tiles.cast());
    let b = KMajor::<T, Swizzle128>::new(tiles.byte_add(STAGES * ROWS * ROW_BYTES).cast());
    let mut tile = Accumulator::<N, S>::zeroed();
    let (ticks, nanoseconds) = (clock(), globaltimer());
    // SAFETY: the whole warpgroup is here, and in the same step of the same loop; nobody touches the operands.
    unsafe {
        let mut in_flight = tile.begin();
        for step in 0..steps {
            let stage = step % STAGES;
            let a = a.tile::<WARPGROUP_ROWS>(2 * stage + group);
            let b = b.tile::<COLUMNS>(stage);
            in_flight.open_group();
            in_flight.multiply(
                Previous::of_step(step % TILE_STEPS),
                a.step::<0>(),
                b.step::<0>(),
            );
            in_flight.multiply(Previous::Keep, a.step::<1>(), b.step::<1>());
            in_flight.multiply(Previous::Keep, a.step::<2>(), b.step::<2>());
            in_flight.multiply(Previous::Keep, a.step::<3>(), b.step::<3>());
            in_flight.commit();
            in_flight.wait_operands::<1>();
        }
        in_flight.finish();
    }
    let passed = [clock() - ticks, globaltimer() - nanoseconds];
    let block = thread::block_idx_x();
    // SAFETY: places of this thread alone.
    unsafe {
        let values = tile.values();
        unroll!(I in 0..128 => {
            *sums.add(((block * SUMS + I as u32) * THREADS + own) as usize) = values[I];
        });
        if own == 0 {
            *clocks.add(block as usize) = passed;
        }
    }
}

/// Threads per block of [`warp_products()`].
pub const WARP_THREADS: u32 = 256;

/// Multiplies by `mma.sync`: a warp holds `A` parts of the left factor and `B` of the right one, and adds all their products to
/// its sums in each step. Lane `l` reads its registers of part `p` at place `32 * p + l`. Thread `t` of block `b`, of
/// [`WARP_THREADS`] threads, writes its sums of parts `i` and `j` to place `((b * A + i) * B + j) * WARP_THREADS + t`; the
/// block's first thread writes how long the steps took, in cycles and in nanoseconds.
///
/// # Safety
/// `a` and `b` have 32 places for each part, and `sums` as many as are written; there is a clock for each block.
#[kernel(
    block = [256],
    min_blocks = 1,
    instances(
        mma_bf16<bf16, f32, 4, 4, 8>,
        mma_f64<f64, f64, 2, 4, 8>,
        mma_f64_k16<F64x16, f64, 4, 2, 4>
    )
)]
pub unsafe fn warp_products<
    T: mma::Element<Sums = [S; N]>,
    S: Zeroable + Copy,
    const N: usize,
    const A: usize,
    const B: usize,
>(
    a: *const T::A,
    b: *const T::B,
    steps: u32,
    sums: *mut [S; N],
    clocks: *mut [u64; 2],
) {
    let (lane, own) = (warp::lane_id() as usize, thread::thread_idx_x());
    // SAFETY: 32 places of each part.
    let left: [T::A; A] = core::array::from_fn(|part| unsafe { *a.add(32 * part + lane) });
    // SAFETY: as above.
    let right: [T::B; B] = core::array::from_fn(|part| unsafe { *b.add(32 * part + lane) });
    let mut tile = [[[S::zeroed(); N]; B]; A];
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for step in 0..steps {
        if step.is_multiple_of(TILE_STEPS) {
            tile = [[[S::zeroed(); N]; B]; A];
        }
        unroll!(I in 0..32 => {
            if I < A * B {
                // SAFETY: whole warps are here.
                unsafe { mma::multiply::<T>(&mut tile[I / B][I % B], left[I / B], right[I % B]) };
            }
        });
    }
    let passed = [clock() - ticks, globaltimer() - nanoseconds];
    let block = thread::block_idx_x();
    // SAFETY: places of this thread alone.
    unsafe {
        unroll!(I in 0..32 => {
            if I < A * B {
                let place = (block * (A * B) as u32 + I as u32) * WARP_THREADS + own;
                *sums.add(place as usize) = tile[I / B][I % B];
            }
        });
        if own == 0 {
            *clocks.add(block as usize) = passed;
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::{Resident, ResidentInWarps};

/// The host's side: entries to launch the kernels.
#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::marker::PhantomData;

    use cuda_std::launch::{Signature, Slice, SliceMut};

    use super::*;

    /// The signature of [`products()`] with sums `S`: operands, steps, sums and clocks.
    pub struct Resident<S>(PhantomData<S>);

    impl<S: 'static> Signature for Resident<S> {
        type Arguments<'a> = (
            Slice<'a, Piece>,
            u32,
            SliceMut<'a, S>,
            SliceMut<'a, [u64; 2]>,
        );
    }

    /// The signature of [`warp_products()`]: both operands, steps, sums and clocks.
    pub struct ResidentInWarps<T>(PhantomData<T>);

    impl<T: mma::Element + 'static> Signature for ResidentInWarps<T> {
        type Arguments<'a> = (
            Slice<'a, T::A>,
            Slice<'a, T::B>,
            u32,
            SliceMut<'a, T::Sums>,
            SliceMut<'a, [u64; 2]>,
        );
    }
}
