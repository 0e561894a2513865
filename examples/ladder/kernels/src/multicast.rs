//! Step 7: clusters of two blocks, whose tiles are above each other. Each block brings half of the columns of `B` to both: the L2
//! cache is read for them once. A stage is filled again when the warpgroups of both blocks have read it.

use cuda_std::cluster::{self, BlockRank};
use cuda_std::mbarrier::{Full, Ring};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, N256, Shape, Swizzle128};
use gemm_kernels::operand::{ByColumns, Width};
use gemm_kernels::order::Tiles;
use gemm_kernels::pipeline::add_up;
use gemm_kernels::team::Team;

use crate::Sizes;
use crate::producer::{ROWS, STAGES_256 as STAGES};
use crate::tile::{DEPTH, GROUP_ROWS, ROW_BYTES, places, store};

/// Blocks of a cluster.
pub const BLOCKS: u32 = Team::PAIR;
/// Columns of `B` that a block brings.
pub const SHARE: u32 = COLUMNS / BLOCKS;

const COLUMNS: u32 = N256::COLUMNS;

/// `C = A B`.
///
/// # Safety
/// As for [`persistent`](crate::persistent::persistent()), in clusters of [`BLOCKS`]; boxes of `b` are of [`SHARE`] columns.
#[kernel(block = [384], min_blocks = 1)]
pub unsafe fn multicast(a: &TensorMap, b: &TensorMap, c: *mut bf16, sizes: Sizes) {
    let (to_a, to_b, barriers) = places(ROWS, COLUMNS, STAGES);
    // SAFETY: the place is the barriers' alone.
    let ring = unsafe { Ring::<STAGES>::new(barriers) };
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    if thread::thread_idx_x() == 0 {
        // Two warpgroups of each block.
        ring.init(1, 2 * BLOCKS);
    }
    // SAFETY: all threads of both blocks come here.
    unsafe { cluster::sync() };
    let BlockRank(rank) = cluster::rank();
    let team = Team { rank, size: BLOCKS };
    // Of pairs of tiles above each other.
    let pairs = Tiles {
        rows: sizes.m.div_ceil(BLOCKS * ROWS),
        columns: sizes.n.div_ceil(COLUMNS),
    };
    let corner = |number: u32| {
        let (pair, column) = pairs.at(number);
        [(pair * BLOCKS + rank) * ROWS, column * COLUMNS]
    };
    let steps = sizes.k.div_ceil(DEPTH);
    let mut number = cluster::index_x();
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<40>() };
        if thread::thread_idx_x() == 0 {
            let mut producer = ring.producer();
            while number < pairs.count() {
                let first = corner(number);
                for step in 0..steps {
                    let free = producer.acquire();
                    let to_a = to_a.byte_add(free.stage() * ROWS * ROW_BYTES);
                    let to_b = to_b.byte_add((free.stage() * COLUMNS + rank * SHARE) * ROW_BYTES);
                    let full = free.expect((ROWS + COLUMNS) * ROW_BYTES);
                    let along = (step * DEPTH) as i32;
                    // SAFETY: the stage is free in both blocks, which have announced the bytes of all tiles or do so before they wait.
                    unsafe {
                        a.load([along, first[0] as i32], to_a, full);
                        let share = [along, (first[1] + rank * SHARE) as i32];
                        b.load_multicast(share, to_b, full, 0b11);
                    }
                }
                number += cluster::count_x();
            }
            // The other block's warpgroups arrive at these barriers: the block stays until they have.
            for _ in 0..STAGES {
                let _ = producer.acquire();
            }
        }
    } else {
        let group = group - 1;
        let (tiles_a, tiles_b) = (
            KMajor::<bf16, Swizzle128>::new(to_a),
            KMajor::<bf16, Swizzle128>::new(to_b),
        );
        let mut consumer = ring.consumer();
        let mut sums = Accumulator::<N256>::zeroed();
        // SAFETY: the whole warpgroup is here, and the other gives registers back.
        unsafe { warpgroup::increase_registers::<232>() };
        while number < pairs.count() {
            let [row, column] = corner(number);
            let tiles = |stage| {
                let a = tiles_a.tile::<GROUP_ROWS>(2 * stage + group);
                (a, N256::tile_of::<bf16, ByColumns>(tiles_b, stage))
            };
            // SAFETY: both blocks stay until all have released all stages.
            let release = |stage: Full<STAGES>| unsafe { team.release(stage) };
            // SAFETY: the whole warpgroup is here, and the stages have such tiles.
            unsafe {
                add_up::<bf16, N256, ByColumns, STAGES>(
                    &mut sums,
                    &mut consumer,
                    steps,
                    tiles,
                    release,
                );
            }
            // SAFETY: the rows are this warpgroup's alone.
            unsafe { store(&sums, c, sizes, [row + group * GROUP_ROWS, column]) };
            number += cluster::count_x();
        }
    }
}
