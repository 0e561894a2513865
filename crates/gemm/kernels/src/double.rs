//! The product of `f64`, for which there is no `wgmma`: warps multiply by `mma.sync`. One thread brings tiles of `A` and `B` through
//! a ring of stages; eight warps multiply 32 x 64 elements each, and store their sums from registers.
//!
//! An instruction takes 64 cycles, so shared memory has time: of 2048 cycles per stage it needs 768. What counts is that a warp's
//! next operands are there when the tensor core is free, at the beginning of a stage, too.
//!
//! Blocks take whole tiles in turns. Tiles that are left over for the last turn are shared by the blocks of a cluster, if there is a
//! cluster for each: every block adds up a part of the terms.

pub mod finish;
pub mod fragment;

use cuda_std::cluster::{self, BlockRank};
use cuda_std::mbarrier::{Consumer, Full, Ring};
use cuda_std::mma::{self, F64x16};
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};
use cuda_std::{grid_dependency, unroll, vector, warpgroup};

use self::finish::{Finish, Part};
use self::fragment::{ByColumns, ByRows, Lane, Place, ROW, ROW_BYTES, Right, left};
use crate::order::Tiles;
use crate::problem::Problem;

/// Rows of a tile of the result.
pub const ROWS: u32 = 128;
/// Columns of a tile of the result.
pub const COLUMNS: u32 = 128;
/// Warps that multiply: four below one another, and two of them beside each other.
const WARPS: u32 = 8;
const WARP_ROWS: u32 = 32;
const WARP_COLUMNS: u32 = 64;
/// Threads per block: a warpgroup that loads, and those that multiply.
pub const THREADS: u32 = warpgroup::THREADS + 32 * WARPS;

const A_BYTES: u32 = ROWS * ROW_BYTES;
const B_BYTES: u32 = COLUMNS * ROW_BYTES;

/// One less than a multiprocessor has room for.
const STAGES: u32 = 6;

/// The alignment of tiles, as their permutation asks.
const ALIGN: u32 = 1024;

/// Dynamic shared memory of a block, with room to align it.
pub const SHARED_BYTES: u32 = ALIGN + STAGES * (A_BYTES + B_BYTES) + Ring::<STAGES>::BYTES;

/// Bytes of a warp's sums.
const WARP_BYTES: u32 = WARP_ROWS * WARP_COLUMNS * size_of::<f64>() as u32;

/// A lane's sums: of 16 rows and 8 columns each.
type Sums = [[[f64; 4]; 8]; 2];

/// `activation(alpha A B + beta C + bias)`.
///
/// # Safety
/// The maps are of matrices in row-major order, in boxes whose rows are 128 bytes, with swizzles of as many: `a` of `m` x `k` in boxes
/// of [`ROWS`] rows; `b` of `n` x `k` in boxes of [`COLUMNS`] rows, or where it is given by rows of `k` x `n` in boxes of 16. The result
/// has `m` rows of `n` elements, `problem.pitch` apart, which nobody else touches, and `bias`, if there is one, `n` elements. The launch
/// gives [`SHARED_BYTES`], and its clusters are of 1, 2, 4 or 8 blocks.
#[kernel(
    block = [384],
    min_blocks = 1,
    instances(
        gemm_f64_by_columns<ByColumns>,
        gemm_f64_by_rows<ByRows>
    )
)]
pub unsafe fn gemm<B: Right>(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut f64,
    bias: *const f64,
    problem: Problem<f64>,
) {
    let stages = Stages::of_block();
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    if thread::thread_idx_x() == 0 {
        stages.ring.init(1, WARPS);
        tma::fence_shared();
        // SAFETY: the kernel's contract.
        unsafe {
            a.prefetch();
            b.prefetch();
        }
    }
    thread::sync_threads();
    grid_dependency::launch_dependents();
    grid_dependency::wait();
    let work = Work::of_block(problem);
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<40>() };
        if thread::thread_idx_x() == 0 {
            // SAFETY: the kernel's contract.
            unsafe { load::<B>(a, b, stages, work) };
        }
    } else {
        let finish = Finish {
            result: c,
            bias,
            problem,
        };
        let warp = (thread::thread_idx_x() - warpgroup::THREADS) / 32;
        // SAFETY: the whole warpgroup comes here, and the other gives back what these two take.
        unsafe {
            warpgroup::increase_registers::<232>();
            multiply::<B>(stages, work, warp, &finish);
        }
    }
}

/// Where things lie in shared memory: stages of `A`, those of `B`, and barriers.
#[derive(Clone, Copy)]
struct Stages {
    start: SharedPtr<u8>,
    /// The same place for loads.
    pointer: *mut u8,
    ring: Ring<STAGES>,
}

impl Stages {
    #[inline(always)]
    fn of_block() -> Self {
        let pointer = dynamic_shared_mem::<u8>();
        let unaligned = SharedPtr::new(pointer);
        let start = unaligned.align_up(ALIGN);
        let end = start.byte_add(STAGES * (A_BYTES + B_BYTES));
        Stages {
            start,
            pointer: pointer
                .wrapping_add(start.address().wrapping_sub(unaligned.address()) as usize),
            // SAFETY: the launch gives `SHARED_BYTES`; the last of them are the barriers', and nothing else's.
            ring: unsafe { Ring::new(end.cast()) },
        }
    }

    /// Where `A` of a stage lies, and where `B` does, behind the start.
    #[inline(always)]
    fn offsets(stage: u32) -> [u32; 2] {
        [stage * A_BYTES, STAGES * A_BYTES + stage * B_BYTES]
    }
}

/// The tiles of a block.
#[derive(Clone, Copy)]
struct Work {
    tiles: Tiles,
    /// Stages of terms.
    steps: u32,
    /// Tiles from this one on are shared.
    shared: u32,
}

/// A tile, and what the block adds up of it.
#[derive(Clone, Copy)]
struct Turn {
    tile: u32,
    /// The first stage of terms, and the one behind the last.
    steps: [u32; 2],
    is_shared: bool,
}

impl Work {
    #[inline(always)]
    fn of_block(problem: Problem<f64>) -> Work {
        let tiles = Tiles {
            rows: problem.m.div_ceil(ROWS),
            columns: problem.n.div_ceil(COLUMNS),
        };
        let left_over = tiles.count() % thread::grid_dim_x();
        Work {
            tiles,
            steps: problem.k.div_ceil(ROW),
            shared: match left_over <= cluster::count_x() {
                true => tiles.count() - left_over,
                false => u32::MAX,
            },
        }
    }

    /// Returns the block's next work, after so many tiles have been taken.
    #[inline(always)]
    fn turn(self, taken: u32) -> Option<Turn> {
        let is_shared = taken >= self.shared;
        let tile = taken
            + match is_shared {
                true => cluster::index_x(),
                false => thread::block_idx_x(),
            };
        let BlockRank(rank) = cluster::rank();
        let part = |rank: u32| (rank * self.steps) >> cluster::size().trailing_zeros();
        let turn = Turn {
            tile,
            steps: match is_shared {
                true => [part(rank), part(rank + 1)],
                false => [0, self.steps],
            },
            is_shared: is_shared && cluster::size() > 1,
        };
        (tile < self.tiles.count()).then_some(turn)
    }
}

/// Brings the operands of all tiles, stage by stage.
///
/// # Safety
/// The kernel's contract; one thread of the block comes here.
#[inline(always)]
unsafe fn load<B: Right>(a: &TensorMap, b: &TensorMap, stages: Stages, work: Work) {
    let mut producer = stages.ring.producer();
    let mut taken = 0;
    while let Some(Turn { tile, steps, .. }) = work.turn(taken) {
        let (tile_row, tile_column) = work.tiles.at(tile);
        for step in steps[0]..steps[1] {
            let free = producer.acquire();
            let [to_a, to_b] = Stages::offsets(free.stage());
            let full = free.expect(A_BYTES + B_BYTES);
            let along = step * ROW;
            // SAFETY: the stage is free, has room for both tiles, and their bytes have been announced.
            unsafe {
                let corner = [along as i32, (tile_row * ROWS) as i32];
                a.load(corner, stages.start.byte_add(to_a), full);
                B::load(
                    b,
                    tile_column * COLUMNS,
                    along,
                    stages.start.byte_add(to_b),
                    full,
                );
            }
        }
        taken += thread::grid_dim_x();
    }
}

/// Multiplies the warp's part of every tile, and stores it.
///
/// # Safety
/// The kernel's contract; all warps that multiply come here.
#[inline(always)]
unsafe fn multiply<B: Right>(stages: Stages, work: Work, warp: u32, finish: &Finish) {
    let (row, column) = (warp / 2 * WARP_ROWS, warp % 2 * WARP_COLUMNS);
    let lane = Lane::running();
    let operands = Operands {
        start: stages.pointer,
        a: row * ROW_BYTES + lane.place_in_row(),
        b: STAGES * A_BYTES + B::place(lane, column),
    };
    let mut consumer = stages.ring.consumer();
    let mut taken = 0;
    while let Some(turn) = work.turn(taken) {
        let mut sums: Sums = [[[0.0; 4]; 8]; 2];
        let count = turn.steps[1] - turn.steps[0];
        // SAFETY: the whole warp is here.
        unsafe { add_up::<B>(&mut sums, &mut consumer, count, operands) };
        // SAFETY: a shared tile is the last one.
        let is_whole = !turn.is_shared || unsafe { add_others(&mut sums, stages.pointer, warp) };
        if is_whole {
            let (tile_row, tile_column) = work.tiles.at(turn.tile);
            let part = Part {
                row: tile_row * ROWS + row,
                column: tile_column * COLUMNS + column,
            };
            // SAFETY: the part is this warp's own.
            unsafe { finish.store(&sums, part) };
        }
        taken += thread::grid_dim_x();
    }
}

/// Where the lane's operands lie in the first stage.
#[derive(Clone, Copy)]
struct Operands {
    start: *const u8,
    a: u32,
    b: u32,
}

impl Operands {
    /// Those of `A` and of `B` in a stage.
    #[inline(always)]
    fn of_stage(self, stage: u32) -> [Place; 2] {
        [self.a + stage * A_BYTES, self.b + stage * B_BYTES].map(|offset| Place {
            start: self.start,
            offset,
        })
    }
}

/// Adds the products of so many stages. Each operand is read in front of products that do without it, and so is what the next stage
/// begins with.
///
/// # Safety
/// The whole warp comes here, and so many stages do.
#[inline(always)]
unsafe fn add_up<B: Right>(
    sums: &mut Sums,
    consumer: &mut Consumer<STAGES>,
    mut steps: u32,
    operands: Operands,
) {
    if steps == 0 {
        return;
    }
    // SAFETY: the caller's contract; a stage is read before it is released.
    unsafe {
        let mut full = consumer.wait();
        let [mut a, mut b] = operands.of_stage(full.stage());
        let mut upper = left(a, 0);
        let mut first = [B::right(b, 0), B::right(b, 1)];
        loop {
            let lower = left(a, 1);
            let second = [B::right(b, 2), B::right(b, 3)];
            add::<0>(&mut sums[0], upper, first);
            add::<0>(&mut sums[1], lower, first);
            let third = [B::right(b, 4), B::right(b, 5)];
            add::<1>(&mut sums[0], upper, second);
            add::<1>(&mut sums[1], lower, second);
            let fourth = [B::right(b, 6), B::right(b, 7)];
            add::<2>(&mut sums[0], upper, third);
            add::<2>(&mut sums[1], lower, third);
            warp::sync_warp(warp::FULL_MASK);
            release(full);
            add::<3>(&mut sums[0], upper, fourth);
            steps -= 1;
            if steps == 0 {
                add::<3>(&mut sums[1], lower, fourth);
                return;
            }
            full = consumer.wait();
            [a, b] = operands.of_stage(full.stage());
            upper = left(a, 0);
            first = [B::right(b, 0), B::right(b, 1)];
            add::<3>(&mut sums[1], lower, fourth);
        }
    }
}

/// Adds the products of 16 rows and of 16 columns, the pair of this number.
///
/// # Safety
/// The whole warp comes here.
#[inline(always)]
unsafe fn add<const PAIR: usize>(sums: &mut [[f64; 4]; 8], a: [f64; 8], b: [[f64; 4]; 2]) {
    // SAFETY: the caller's contract.
    unsafe {
        mma::multiply::<F64x16>(&mut sums[2 * PAIR], a, b[0]);
        mma::multiply::<F64x16>(&mut sums[2 * PAIR + 1], a, b[1]);
    }
}

/// Where the blocks of a cluster have added up a part of a tile's terms each: gives the warp's sums to the block that stores them, or
/// adds those of the other blocks, in the order of their ranks. Says whether the warp stores them.
///
/// # Safety
/// All warps that multiply come here, in all blocks of the cluster, and nothing reads or writes the stages any more.
#[inline(always)]
unsafe fn add_others(sums: &mut Sums, stages: *mut u8, warp: u32) -> bool {
    let (BlockRank(rank), split) = (cluster::rank(), cluster::size());
    // A power of two; no division by it.
    let doublings = split.trailing_zeros();
    let owner = (warp << doublings) / WARPS;
    // The places of one owner are apart: as many of each block as of warps that it stores.
    let place = |from: u32| {
        let slot = (warp + ((from * WARPS) >> doublings)) % WARPS;
        let offset = slot * WARP_BYTES + warp::lane_id() * 16;
        stages.wrapping_add(offset as usize)
    };
    // SAFETY: the caller's contract.
    unsafe {
        cluster::sync();
        if owner != rank {
            let to = cluster::map_shared(place(rank), BlockRank(owner));
            unroll!(I in 0..32 => {
                let [x, y] = [2 * (I % 2), 2 * (I % 2) + 1].map(|i| sums[I / 16][I / 2 % 8][i]);
                vector::store::<f64, 2>(to.wrapping_add(I * 512).cast(), [x, y]);
            });
        }
        cluster::sync();
        if owner == rank {
            for other in 0..split {
                if other != rank {
                    let from = place(other);
                    unroll!(I in 0..32 => {
                        let [x, y] = vector::load::<f64, 2>(from.wrapping_add(I * 512).cast());
                        sums[I / 16][I / 2 % 8][2 * (I % 2)] += x;
                        sums[I / 16][I / 2 % 8][2 * (I % 2) + 1] += y;
                    });
                }
            }
        }
    }
    owner == rank
}

/// One lane speaks for its warp.
#[inline(always)]
fn release(stage: Full<STAGES>) {
    if warp::lane_id() == 0 {
        stage.release();
    } else {
        stage.leave();
    }
}
