//! Steps 2 and 3: Hopper's tensor cores. A thread asks for tiles by their map, all wait for them, and warpgroups multiply them
//! where they lie. Nothing overlaps: while tiles come nobody multiplies.

use cuda_std::mbarrier::{Barrier, Parity, fence_init};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, N64, N128, Previous, Swizzle128};
use gemm_kernels::operand::Tile;

use crate::Sizes;
use crate::tile::{DEPTH, GROUP_ROWS, ROW_BYTES, corner, places, store};

/// `C = A B`, by blocks of `GROUPS` warpgroups of 64 rows each.
///
/// # Safety
/// The maps are of the matrices in row-major order, in boxes of a tile's rows or columns and 128 bytes, with swizzles of as many. `c` has
/// `m` x `n` elements, which nobody else writes. The launch gives [`shared_bytes`](crate::tile::shared_bytes) of one stage, and as
/// many blocks as there are tiles.
#[kernel(instances(
    wgmma_64x64<N64, 1>,
    wgmma_128x128<N128, 2>
))]
pub unsafe fn wgmma<N: Tile<bf16>, const GROUPS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut bf16,
    sizes: Sizes,
) {
    let rows = GROUPS * GROUP_ROWS;
    let (to_a, to_b, barriers) = places(rows, N::COLUMNS, 1);
    let leads = thread::thread_idx_x() == 0;
    let group = thread::thread_idx_x() / warpgroup::THREADS;
    // SAFETY: the place is the barrier's alone.
    let full = unsafe { Barrier::at(barriers) };
    if leads {
        full.init(1);
        fence_init();
    }
    thread::sync_threads();
    let first = corner(thread::block_idx_x(), sizes, rows, N::COLUMNS);
    let (tiles_a, tiles_b) = (
        KMajor::<bf16, Swizzle128>::new(to_a),
        KMajor::<bf16, Swizzle128>::new(to_b),
    );
    let mut sums = Accumulator::<N>::zeroed();
    let mut phase = Parity::EVEN;
    for step in 0..sizes.k.div_ceil(DEPTH) {
        if leads {
            let along = (step * DEPTH) as i32;
            full.arrive_expect((rows + N::COLUMNS) * ROW_BYTES);
            // SAFETY: nobody reads the tiles, whose bytes have been announced.
            unsafe {
                a.load([along, first[0] as i32], to_a, full);
                b.load([along, first[1] as i32], to_b, full);
            }
        }
        full.wait(phase);
        phase = phase.flipped();
        let a = tiles_a.tile::<GROUP_ROWS>(group);
        // SAFETY: the whole warpgroup is here, and the tiles stay until all have waited for the products.
        unsafe {
            let mut in_flight = sums.begin();
            in_flight.open_group();
            in_flight.multiply(Previous::Keep, a.step::<0>(), tiles_b.step::<0>());
            in_flight.multiply(Previous::Keep, a.step::<1>(), tiles_b.step::<1>());
            in_flight.multiply(Previous::Keep, a.step::<2>(), tiles_b.step::<2>());
            in_flight.multiply(Previous::Keep, a.step::<3>(), tiles_b.step::<3>());
            in_flight.commit();
            in_flight.finish();
        }
        thread::sync_threads();
    }
    // SAFETY: the rows are this warpgroup's alone.
    unsafe { store(&sums, c, sizes, [first[0] + group * GROUP_ROWS, first[1]]) };
}
