//! Step 6: blocks stay. While the sums of a tile leave the registers, the tiles of the next one arrive. And blocks that run at the
//! same time take tiles whose rows and columns lie in the L2 cache together.

use cuda_std::mbarrier::{Full, Ring};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, N256, Shape, Swizzle128};
use gemm_kernels::operand::{ByColumns, Width};
use gemm_kernels::order::Tiles;
use gemm_kernels::pipeline::add_up;

use crate::Sizes;
use crate::producer::{ROWS, STAGES_256 as STAGES};
use crate::tile::{DEPTH, GROUP_ROWS, ROW_BYTES, places, store};

const COLUMNS: u32 = N256::COLUMNS;

/// `C = A B`.
///
/// # Safety
/// As for [`producer_128x256`](crate::producer::producer()), with any number of blocks.
#[kernel(block = [384], min_blocks = 1)]
pub unsafe fn persistent(a: &TensorMap, b: &TensorMap, c: *mut bf16, sizes: Sizes) {
    let (to_a, to_b, barriers) = places(ROWS, COLUMNS, STAGES);
    // SAFETY: the place is the barriers' alone.
    let ring = unsafe { Ring::<STAGES>::new(barriers) };
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    if thread::thread_idx_x() == 0 {
        ring.init(1, 2);
    }
    thread::sync_threads();
    let tiles = Tiles {
        rows: sizes.m.div_ceil(ROWS),
        columns: sizes.n.div_ceil(COLUMNS),
    };
    let steps = sizes.k.div_ceil(DEPTH);
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
                number += thread::grid_dim_x();
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
        while number < tiles.count() {
            let (tile_row, tile_column) = tiles.at(number);
            let first = [tile_row * ROWS + group * GROUP_ROWS, tile_column * COLUMNS];
            // SAFETY: the whole warpgroup is here, the stages have such tiles, and the rows are this warpgroup's alone.
            unsafe {
                add_up::<bf16, N256, ByColumns, STAGES>(
                    &mut sums,
                    &mut consumer,
                    steps,
                    |stage| {
                        let b = N256::tile_of::<bf16, ByColumns>(tiles_b, stage);
                        (tiles_a.tile::<GROUP_ROWS>(2 * stage + group), b)
                    },
                    Full::release_by_warpgroup,
                );
                store(&sums, c, sizes, first);
            }
            number += thread::grid_dim_x();
        }
    }
}
