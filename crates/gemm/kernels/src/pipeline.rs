//! The library's product. A block stays, and computes one tile of the result after the other: one warpgroup brings tiles of `A`
//! and `B`, two multiply 64 rows each, and while their results are on the way to memory the next tile's operands arrive. In a launch
//! in clusters of two, the blocks of a cluster take tiles above each other, and each brings half of the columns of `B` to both.

use cuda_std::mbarrier::{Consumer, Full, Ring};
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};
use cuda_std::wgmma::{Accumulator, E4m3, KMajor, N128, N256, Previous, Swizzle, Swizzle128, Tf32};
use cuda_std::{grid_dependency, warpgroup};

use crate::epilogue::{Buffers, Copied, Epilogue, Fused, Part, STORED_BYTES};
use crate::finishing::Finishing;
use crate::operand::{ByColumns, ByRows, Operand, ROW_BYTES, Right, Tile, row};
use crate::order::{Direction, Tiles};
use crate::problem::Problem;
use crate::stored::Stored;
use crate::team::Team;

/// Rows of a tile of the result.
pub const ROWS: u32 = 128;
/// Rows that a warpgroup multiplies.
pub const WARPGROUP_ROWS: u32 = 64;
/// Threads per block: a warpgroup that loads and two that multiply.
pub const THREADS: u32 = 3 * warpgroup::THREADS;
/// Stages of tiles of 256 columns.
pub const STAGES_256: u32 = 4;
/// Stages of tiles of 128 columns.
pub const STAGES_128: u32 = 6;

const A_BYTES: u32 = ROWS * ROW_BYTES;

/// Bytes of the four buffers that results go through.
const RESULT_BYTES: u32 = 4 * STORED_BYTES;

/// Dynamic shared memory of a block, with room to align it.
pub const fn shared_bytes(columns: u32, stages: u32) -> u32 {
    Swizzle128::ALIGN + stages * (A_BYTES + columns * ROW_BYTES) + RESULT_BYTES + 16 * stages
}

/// `alpha A B + bias`, with or without ReLU, rounded.
///
/// # Safety
/// The maps are of matrices in row-major order, in boxes whose rows are 128 bytes, with swizzles of as many: `a` of `m` x `k` in boxes
/// of [`ROWS`] rows; `b` of `n` x `k` in boxes of half a tile's columns, or where it is given by rows of `k` x `n` in boxes of 64 rows;
/// `c` of `m` x `n` in boxes of [`WARPGROUP_ROWS`]. `bias`, if there is one, has `n` elements. The launch gives [`shared_bytes`], in clusters of one or two blocks along x; nobody
/// else touches the result.
#[kernel(
    block = [384],
    min_blocks = 1,
    instances(
        gemm_bf16_by_columns_256<bf16, N256, ByColumns, STAGES_256>,
        gemm_bf16_by_columns_128<bf16, N128, ByColumns, STAGES_128>,
        gemm_bf16_by_rows_256<bf16, N256, ByRows, STAGES_256>,
        gemm_bf16_by_rows_128<bf16, N128, ByRows, STAGES_128>,
        gemm_f16_by_columns_256<f16, N256, ByColumns, STAGES_256>,
        gemm_f16_by_columns_128<f16, N128, ByColumns, STAGES_128>,
        gemm_f16_by_rows_256<f16, N256, ByRows, STAGES_256>,
        gemm_f16_by_rows_128<f16, N128, ByRows, STAGES_128>,
        gemm_tf32_by_columns_256<Tf32, N256, ByColumns, STAGES_256>,
        gemm_tf32_by_columns_128<Tf32, N128, ByColumns, STAGES_128>,
        gemm_e4m3_by_columns_256<E4m3, N256, ByColumns, STAGES_256>,
        gemm_e4m3_by_columns_128<E4m3, N128, ByColumns, STAGES_128>
    )
)]
pub unsafe fn gemm<T: Operand, N: Tile<T>, B: Right<T>, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    bias: *const T::Result,
    problem: Problem,
) {
    let layout = Layout::<T, STAGES>::of_block::<N>();
    let epilogue = Copied {
        map: c,
        finishing: Some(Finishing { bias, problem }),
        buffers: layout.results,
    };
    // SAFETY: the kernel's contract.
    unsafe { product::<T, N, B, _, STAGES>(a, b, layout, problem, &epilogue) };
}

/// `alpha A B + beta C + bias` with an activation, rounded, by ordinary stores.
///
/// # Safety
/// As for [`gemm`]; the result has `m` rows of `n` elements, `problem.pitch` apart.
#[kernel(
    block = [384],
    min_blocks = 1,
    instances(
        fused_bf16_by_columns<bf16, bf16, N256, ByColumns, STAGES_256>,
        fused_bf16_by_rows<bf16, bf16, N256, ByRows, STAGES_256>,
        fused_f16_by_columns<f16, f16, N256, ByColumns, STAGES_256>,
        fused_f16_by_rows<f16, f16, N256, ByRows, STAGES_256>,
        fused_tf32_by_columns<Tf32, f32, N256, ByColumns, STAGES_256>,
        fused_e4m3_by_columns<E4m3, bf16, N256, ByColumns, STAGES_256>
    )
)]
pub unsafe fn fused<
    T: Operand<Result = R>,
    R: Stored,
    N: Tile<T>,
    B: Right<T>,
    const STAGES: u32,
>(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut R,
    bias: *const R,
    problem: Problem,
) {
    let layout = Layout::<T, STAGES>::of_block::<N>();
    let epilogue = Fused {
        result: c,
        finishing: Finishing { bias, problem },
        buffers: layout.results,
    };
    // SAFETY: the kernel's contract.
    unsafe { product::<T, N, B, _, STAGES>(a, b, layout, problem, &epilogue) };
}

/// Where things lie in shared memory.
#[derive(Clone, Copy)]
struct Layout<T, const STAGES: u32> {
    a: SharedPtr<T>,
    b: SharedPtr<T>,
    results: Buffers,
    ring: Ring<STAGES>,
}

impl<T: Operand, const STAGES: u32> Layout<T, STAGES> {
    #[inline(always)]
    fn of_block<N: Tile<T>>() -> Self {
        let pointer = dynamic_shared_mem::<u8>();
        let a = SharedPtr::new(pointer).align_up(Swizzle128::ALIGN);
        let b = a.byte_add(STAGES * A_BYTES);
        let results = b.byte_add(STAGES * N::COLUMNS * ROW_BYTES);
        // SAFETY: the launch gives `shared_bytes`; the last of them are the barriers', and nothing else's.
        let ring = unsafe { Ring::new(results.byte_add(RESULT_BYTES).cast()) };
        Layout {
            a: a.cast(),
            b: b.cast(),
            results: Buffers::new(results, pointer),
            ring,
        }
    }
}

/// Deals out the block's work.
#[inline(always)]
unsafe fn product<T: Operand, N: Tile<T>, B: Right<T>, E: Epilogue<T>, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    layout: Layout<T, STAGES>,
    problem: Problem,
    epilogue: &E,
) {
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    let team = Team::of_cluster();
    if thread::thread_idx_x() == 0 {
        // The producer fills, and two warpgroups of each block read.
        layout.ring.init(1, 2 * team.size);
        tma::fence_shared();
        // SAFETY: the kernel's contract.
        unsafe {
            a.prefetch();
            b.prefetch();
        }
    }
    // SAFETY: all threads of the cluster come here.
    unsafe { team.meet() };
    // The next grid's blocks may take the multiprocessors that this one leaves, and wait for its end as this one does for that of
    // the grid before.
    grid_dependency::launch_dependents();
    grid_dependency::wait();
    let work = Work {
        tiles: Tiles {
            rows: team.round_up(problem.m.div_ceil(ROWS)),
            columns: problem.n.div_ceil(N::COLUMNS),
        },
        steps: problem.k.div_ceil(row::<T>()),
        team,
    };
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<40>() };
        if thread::thread_idx_x() == 0 {
            // SAFETY: the kernel's contract; the ring was made before the barrier.
            unsafe { load::<T, N, B, STAGES>(a, b, layout, work, &problem) };
        }
    } else {
        // SAFETY: the whole warpgroup comes here, and the other gives back what these two take.
        unsafe {
            warpgroup::increase_registers::<232>();
            multiply::<T, N, B, E, STAGES>(layout, work, group - 1, epilogue);
        }
    }
}

/// The tiles of the result, which blocks take in turns, and the steps along the inner dimension. The blocks of a team have
/// neighbouring numbers, and so have their tiles: in an even number of rows, of which even numbers are taken together, these are above
/// each other.
#[derive(Clone, Copy)]
struct Work {
    tiles: Tiles,
    steps: u32,
    team: Team,
}

/// Brings the operands of all tiles, stage by stage.
#[inline(always)]
unsafe fn load<T: Operand, N: Tile<T>, B: Right<T>, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    layout: Layout<T, STAGES>,
    work: Work,
    problem: &Problem,
) {
    let b_bytes = N::COLUMNS * ROW_BYTES;
    let mut producer = layout.ring.producer();
    let mut number = thread::block_idx_x();
    while number < work.tiles.count() {
        let (tile_row, tile_column) = work.tiles.at(number);
        let (first_row, first_column) = (tile_row * ROWS, tile_column * N::COLUMNS);
        let direction = Direction::of(problem, first_row, first_column, work.steps);
        for step in 0..work.steps {
            let free = producer.acquire();
            let to_a = layout.a.byte_add(free.stage() * A_BYTES);
            let to_b = layout.b.byte_add(free.stage() * b_bytes);
            let full = free.expect(A_BYTES + b_bytes);
            let along = direction.step(step) * row::<T>();
            // SAFETY: the stage is free in all blocks, has room for both tiles, and their bytes have been announced here.
            unsafe {
                a.load([along as i32, first_row as i32], to_a, full);
                B::load::<N>(b, first_column, along, to_b, full, work.team);
            }
        }
        number += thread::grid_dim_x();
    }
    // The other block's warpgroups arrive at these barriers: this block stays until they have.
    for _ in 0..STAGES {
        let _ = producer.acquire();
    }
}

/// Multiplies the 64 rows of warpgroup `group` of every tile, and stores them.
#[inline(always)]
unsafe fn multiply<T: Operand, N: Tile<T>, B: Right<T>, E: Epilogue<T>, const STAGES: u32>(
    layout: Layout<T, STAGES>,
    work: Work,
    group: u32,
    epilogue: &E,
) {
    let mut consumer = layout.ring.consumer();
    let a_tiles = KMajor::<T, Swizzle128>::new(layout.a);
    let b_tiles = B::tiles(layout.b);
    let mut sums = Accumulator::<N>::zeroed();
    let mut number = thread::block_idx_x();
    while number < work.tiles.count() {
        let tiles = |stage| {
            let a = a_tiles.tile::<WARPGROUP_ROWS>(2 * stage + group);
            (a, N::tile_of::<T, B>(b_tiles, stage))
        };
        // SAFETY: all blocks' producers stay until all stages have been released.
        let release = |stage: Full<STAGES>| unsafe { work.team.release(stage) };
        // SAFETY: the whole warpgroup is here, and the ring's stages have such tiles.
        unsafe {
            add_up::<T, N, B, STAGES>(&mut sums, &mut consumer, work.steps, tiles, release);
        }
        let (tile_row, tile_column) = work.tiles.at(number);
        let part = Part {
            row: tile_row * ROWS + group * WARPGROUP_ROWS,
            column: tile_column * N::COLUMNS,
            group,
        };
        // SAFETY: the part is this warpgroup's own.
        unsafe { epilogue.store(&mut sums, part) };
        number += thread::grid_dim_x();
    }
    epilogue.finish();
}

/// The sums of a warpgroup's 64 rows over the next stages, as many as there are `steps`. `tiles` gives what lies in a stage, and `release`
/// tells those who fill it that the warpgroup has read it.
///
/// # Safety
/// All threads of the warpgroup reach the same call, and the stages are filled with such tiles.
#[inline(always)]
pub unsafe fn add_up<T: Operand, N: Tile<T>, B: Right<T>, const STAGES: u32>(
    sums: &mut Accumulator<N>,
    consumer: &mut Consumer<STAGES>,
    steps: u32,
    tiles: impl Fn(u32) -> (KMajor<T, Swizzle128>, B::Tile),
    release: impl Fn(Full<STAGES>),
) {
    // SAFETY: the whole warpgroup is here, and in the same step of the same loop.
    let mut in_flight = unsafe { sums.begin() };
    let mut previous = None;
    for step in 0..steps {
        let full = consumer.wait();
        let (a, b) = tiles(full.stage());
        in_flight.open_group();
        // SAFETY: the stage is full until it is released, behind the wait for this group.
        unsafe {
            in_flight.multiply(Previous::of_step(step), a.step::<0>(), B::step::<0>(b));
            in_flight.multiply(Previous::Keep, a.step::<1>(), B::step::<1>(b));
            in_flight.multiply(Previous::Keep, a.step::<2>(), B::step::<2>(b));
            in_flight.multiply(Previous::Keep, a.step::<3>(), B::step::<3>(b));
        }
        in_flight.commit();
        if let Some(previous) = previous.replace(full) {
            // All groups but this one have read their stages.
            in_flight.wait_operands::<1>();
            release(previous);
        }
    }
    in_flight.finish();
    if let Some(last) = previous {
        release(last);
    }
}
