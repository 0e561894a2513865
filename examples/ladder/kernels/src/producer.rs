//! Steps 4 and 5: a ring of stages. A warpgroup that does nothing else asks for the next tiles while two multiply. It hands them
//! its registers, so that a tile may have 256 columns.

use cuda_std::mbarrier::{Full, Ring};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, N128, N256, Swizzle128};
use gemm_kernels::operand::{ByColumns, Tile};
use gemm_kernels::pipeline::add_up;

use crate::Sizes;
use crate::tile::{DEPTH, GROUP_ROWS, ROW_BYTES, corner, places, store};

/// Rows of a tile of the result, for two warpgroups.
pub const ROWS: u32 = 2 * GROUP_ROWS;
/// Threads per block.
pub const THREADS: u32 = 3 * warpgroup::THREADS;
/// Stages of tiles of 128 columns.
pub const STAGES_128: u32 = 6;
/// Stages of tiles of 256 columns.
pub const STAGES_256: u32 = 4;

/// `C = A B`.
///
/// # Safety
/// As for [`wgmma`](crate::wgmma::wgmma()), with `STAGES` stages.
#[kernel(
    block = [384],
    min_blocks = 1,
    instances(
        producer_128x128<N128, STAGES_128>,
        producer_128x256<N256, STAGES_256>
    )
)]
pub unsafe fn producer<N: Tile<bf16>, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut bf16,
    sizes: Sizes,
) {
    let (to_a, to_b, barriers) = places(ROWS, N::COLUMNS, STAGES);
    // SAFETY: the place is the barriers' alone.
    let ring = unsafe { Ring::<STAGES>::new(barriers) };
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    if thread::thread_idx_x() == 0 {
        ring.init(1, 2);
    }
    thread::sync_threads();
    let first = corner(thread::block_idx_x(), sizes, ROWS, N::COLUMNS);
    let steps = sizes.k.div_ceil(DEPTH);
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<40>() };
        if thread::thread_idx_x() == 0 {
            let mut producer = ring.producer();
            for step in 0..steps {
                let free = producer.acquire();
                let to_a = to_a.byte_add(free.stage() * ROWS * ROW_BYTES);
                let to_b = to_b.byte_add(free.stage() * N::COLUMNS * ROW_BYTES);
                let full = free.expect((ROWS + N::COLUMNS) * ROW_BYTES);
                let along = (step * DEPTH) as i32;
                // SAFETY: the stage is free, and the bytes of both tiles have been announced.
                unsafe {
                    a.load([along, first[0] as i32], to_a, full);
                    b.load([along, first[1] as i32], to_b, full);
                }
            }
        }
    } else {
        let group = group - 1;
        let (tiles_a, tiles_b) = (
            KMajor::<bf16, Swizzle128>::new(to_a),
            KMajor::<bf16, Swizzle128>::new(to_b),
        );
        let mut sums = Accumulator::<N>::zeroed();
        // SAFETY: the whole warpgroup is here, the other gives registers back, the stages have such tiles, and the rows are this
        // warpgroup's alone.
        unsafe {
            warpgroup::increase_registers::<232>();
            add_up::<bf16, N, ByColumns, STAGES>(
                &mut sums,
                &mut ring.consumer(),
                steps,
                |stage| {
                    let b = N::tile_of::<bf16, ByColumns>(tiles_b, stage);
                    (tiles_a.tile::<GROUP_ROWS>(2 * stage + group), b)
                },
                Full::release_by_warpgroup,
            );
            store(&sums, c, sizes, [first[0] + group * GROUP_ROWS, first[1]]);
        }
    }
}
