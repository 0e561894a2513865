//! Step 6, with other tiles: each of the two warpgroups that multiply has tiles of its own, of 64 x 256. They take turns with the tensor
//! cores: while one stores its sums, the other multiplies.

use cuda_std::mbarrier::{Full, Ring};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup::{self, NamedBarrier};
use cuda_std::wgmma::{Accumulator, KMajor, N256, Shape, Swizzle128};
use gemm_kernels::operand::{ByColumns, Width};
use gemm_kernels::order::Tiles;
use gemm_kernels::pipeline::add_up;

use crate::Sizes;
use crate::tile::{DEPTH, GROUP_ROWS as ROWS, ROW_BYTES, places, store};

/// Stages of a tile of 64 rows of `A` and one of 256 columns of `B`.
pub const STAGES: u32 = 5;

const COLUMNS: u32 = N256::COLUMNS;

/// `C = A B`.
///
/// # Safety
/// As for [`persistent`](crate::persistent::persistent()), with [`STAGES`] stages; boxes of `a` are of 64 rows.
#[kernel(block = [384], min_blocks = 1)]
pub unsafe fn pingpong(a: &TensorMap, b: &TensorMap, c: *mut bf16, sizes: Sizes) {
    let (to_a, to_b, barriers) = places(ROWS, COLUMNS, STAGES);
    // SAFETY: the place is the barriers' alone.
    let ring = unsafe { Ring::<STAGES>::new(barriers) };
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    if thread::thread_idx_x() == 0 {
        ring.init(1, 1);
    }
    thread::sync_threads();
    let tiles = Tiles {
        rows: sizes.m.div_ceil(ROWS),
        columns: sizes.n.div_ceil(COLUMNS),
    };
    let steps = sizes.k.div_ceil(DEPTH);
    let blocks = thread::grid_dim_x();
    let mut number = thread::block_idx_x();
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<40>() };
        if thread::thread_idx_x() == 0 {
            let mut producer = ring.producer();
            while number < tiles.count() {
                let (tile_row, tile_column) = tiles.at(number);
                for step in 0..steps {
                    let free = producer.acquire();
                    let to_a = to_a.byte_add(free.stage() * ROWS * ROW_BYTES);
                    let to_b = to_b.byte_add(free.stage() * COLUMNS * ROW_BYTES);
                    let full = free.expect((ROWS + COLUMNS) * ROW_BYTES);
                    let along = (step * DEPTH) as i32;
                    // SAFETY: the stage is free, and the bytes of both tiles have been announced.
                    unsafe {
                        a.load([along, (tile_row * ROWS) as i32], to_a, full);
                        b.load([along, (tile_column * COLUMNS) as i32], to_b, full);
                    }
                }
                number += blocks;
            }
        }
    } else {
        let group = group - 1;
        // Where a warpgroup waits until its partner has multiplied.
        let turn = |group| NamedBarrier::new(1 + group, 2 * warpgroup::THREADS);
        let (tiles_a, tiles_b) = (
            KMajor::<bf16, Swizzle128>::new(to_a),
            KMajor::<bf16, Swizzle128>::new(to_b),
        );
        let mut consumer = ring.consumer();
        let mut sums = Accumulator::<N256>::zeroed();
        number += group * blocks;
        // SAFETY: the whole warpgroup is here, and the loading one gives registers back. A warpgroup waits for stages when it has waited
        // for its turn, and by then its partner has read all stages before.
        unsafe {
            warpgroup::increase_registers::<232>();
            consumer.skip(group * steps);
        }
        while number < tiles.count() {
            let (tile_row, tile_column) = tiles.at(number);
            // SAFETY: the whole warpgroup is here, its partner arrives at the barrier for each of the block's tiles but the first, the
            // stages have such tiles, and the tile is this warpgroup's alone.
            unsafe {
                if number >= blocks {
                    turn(group).sync();
                }
                add_up::<bf16, N256, ByColumns, STAGES>(
                    &mut sums,
                    &mut consumer,
                    steps,
                    |stage| {
                        let b = N256::tile_of::<bf16, ByColumns>(tiles_b, stage);
                        (tiles_a.tile::<ROWS>(stage), b)
                    },
                    Full::release_by_warpgroup,
                );
                if number + blocks < tiles.count() {
                    turn(1 - group).arrive();
                }
                consumer.skip(steps);
                store(&sums, c, sizes, [tile_row * ROWS, tile_column * COLUMNS]);
            }
            number += 2 * blocks;
        }
    }
}
