//! The product where its tiles are few: twice as many tiles of half the size, one for each block. Nothing is shared between
//! blocks, and what a block does before its first product and after its last one, nearly all of its time, is as little as possible.

use cuda_std::mbarrier::{Full, Ring};
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};
use cuda_std::wgmma::{Accumulator, E4m3, KMajor, N128, Shape, Swizzle, Swizzle128, Tf32};
use cuda_std::{grid_dependency, warpgroup};

use crate::epilogue::{Buffers, Copied, Epilogue, Part, STORED_BYTES};
use crate::finishing::Finishing;
use crate::operand::{ByColumns, ByRows, Operand, ROW_BYTES, Right, Tile, row};
use crate::order::Direction;
use crate::pipeline::{WARPGROUP_ROWS, add_up};
use crate::problem::Problem;
use crate::team::Team;

/// Rows of a tile of the result: those of one warpgroup.
pub const ROWS: u32 = WARPGROUP_ROWS;
/// Columns of a tile of the result.
pub const COLUMNS: u32 = N128::COLUMNS;
/// Threads per block: a warpgroup that multiplies, and a warp that loads.
pub const THREADS: u32 = warpgroup::THREADS + 32;

/// As many as a multiprocessor has room for: half of a product's time is the wait for the first of them.
const STAGES: u32 = 8;
const A_BYTES: u32 = ROWS * ROW_BYTES;
const B_BYTES: u32 = COLUMNS * ROW_BYTES;

/// Dynamic shared memory of a block, with room to align it.
pub const SHARED_BYTES: u32 =
    Swizzle128::ALIGN + STAGES * (A_BYTES + B_BYTES) + Ring::<STAGES>::BYTES;

// Results go through the place of the stages of `A`, once all have been read.
const _: () = assert!(2 * STORED_BYTES <= STAGES * A_BYTES);

/// `A B`, rounded, or where it is `FINISHED` `alpha A B + bias`, with or without ReLU: in kernels of their own, because the branch around
/// it makes a small product take 2 % longer. Blocks take tiles of a column of tiles one after the other, then those of the next column.
///
/// # Safety
/// As for [`gemm`](crate::pipeline::gemm), with boxes of [`ROWS`] rows of `a`, and as many blocks as there are tiles. The launch gives
/// [`SHARED_BYTES`].
#[kernel(
    block = [160],
    instances(
        small_bf16_by_columns<bf16, ByColumns, false>,
        small_bf16_by_rows<bf16, ByRows, false>,
        small_f16_by_columns<f16, ByColumns, false>,
        small_f16_by_rows<f16, ByRows, false>,
        small_tf32_by_columns<Tf32, ByColumns, false>,
        small_e4m3_by_columns<E4m3, ByColumns, false>,
        finished_small_bf16_by_columns<bf16, ByColumns, true>,
        finished_small_bf16_by_rows<bf16, ByRows, true>,
        finished_small_f16_by_columns<f16, ByColumns, true>,
        finished_small_f16_by_rows<f16, ByRows, true>,
        finished_small_tf32_by_columns<Tf32, ByColumns, true>,
        finished_small_e4m3_by_columns<E4m3, ByColumns, true>
    )
)]
pub unsafe fn small<T: Operand, B: Right<T>, const FINISHED: bool>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    bias: *const T::Result,
    problem: Problem,
) where
    N128: Tile<T>,
{
    let pointer = dynamic_shared_mem::<u8>();
    let start = SharedPtr::new(pointer).align_up(Swizzle128::ALIGN);
    let (to_a, to_b) = (start.cast(), start.byte_add(STAGES * A_BYTES).cast());
    let barriers = start.byte_add(STAGES * (A_BYTES + B_BYTES));
    // SAFETY: the launch gives `SHARED_BYTES`; the last of them are the barriers', and nothing else's.
    let ring = unsafe { Ring::<STAGES>::new(barriers.cast()) };
    let loads = thread::thread_idx_x() == warpgroup::THREADS;
    if loads {
        ring.init(1, 1);
        tma::fence_shared();
        // SAFETY: the kernel's contract.
        unsafe {
            a.prefetch();
            b.prefetch();
            c.prefetch();
        }
    }
    thread::sync_threads();
    grid_dependency::launch_dependents();
    grid_dependency::wait();

    let rows = problem.m.div_ceil(ROWS).max(1);
    let column = thread::block_idx_x() / rows;
    let part = Part {
        row: (thread::block_idx_x() - column * rows) * ROWS,
        column: column * COLUMNS,
        group: 0,
    };
    let steps = problem.k.div_ceil(row::<T>());
    if loads {
        let direction = Direction::of(&problem, part.row, part.column, steps);
        let mut producer = ring.producer();
        for step in 0..steps {
            let free = producer.acquire();
            let to_a = to_a.byte_add(free.stage() * A_BYTES);
            let to_b = to_b.byte_add(free.stage() * B_BYTES);
            let full = free.expect(A_BYTES + B_BYTES);
            let along = direction.step(step) * row::<T>();
            // SAFETY: the stage is free, has room for both tiles, and their bytes have been announced.
            unsafe {
                a.load([along as i32, part.row as i32], to_a, full);
                B::load::<N128>(b, part.column, along, to_b, full, Team::ALONE);
            }
        }
    } else if thread::thread_idx_x() < warpgroup::THREADS {
        let a_tiles = KMajor::<T, Swizzle128>::new(to_a);
        let b_tiles = B::tiles(to_b);
        let mut sums = Accumulator::<N128>::zeroed();
        let epilogue = Copied {
            map: c,
            finishing: FINISHED.then_some(Finishing { bias, problem }),
            buffers: Buffers::new(start, pointer),
        };
        // SAFETY: the whole warpgroup is here, the ring's stages have such tiles, and the tile of the result is this block's own. No
        // stage is filled any more when the results come.
        unsafe {
            let tiles = |stage| (a_tiles.tile::<ROWS>(stage), B::tile::<128>(b_tiles, stage));
            let mut consumer = ring.consumer();
            let release = Full::release_by_warpgroup;
            add_up::<T, N128, B, STAGES>(&mut sums, &mut consumer, steps, tiles, release);
            Epilogue::<T>::store(&epilogue, &mut sums, part);
        }
        Epilogue::<T>::finish(&epilogue);
    }
}
