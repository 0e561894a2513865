//! Step 1: tensor cores as before Hopper. Threads copy tiles to shared memory themselves (`cp.async`, three stages), warps load
//! their operands into registers (`ldmatrix`) and multiply them (`mma.sync`).

use cuda_std::async_copy::{cp_async_cg, cp_async_commit_group, cp_async_wait_group};
use cuda_std::mma::{self, Plain, load_matrices};
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::unroll;

use crate::Sizes;
use crate::tile::{corner, store_pair};

/// Rows and columns of a tile of the result.
pub const TILE: u32 = 128;
/// Threads per block: eight warps, of 64 rows and 32 columns each.
pub const THREADS: u32 = 256;
/// Dynamic shared memory of a block.
pub const SHARED_BYTES: u32 = size_of::<[Tiles; STAGES]>() as u32;

const STAGES: usize = 3;
/// Elements along the inner dimension.
const DEPTH: u32 = 32;
/// Elements from row to row: eight rows of 16 bytes are in different banks.
const PITCH: usize = 40;

/// Tiles of `A` and of `B`.
type Tiles = [[[bf16; PITCH]; TILE as usize]; 2];

/// `C = A B`.
///
/// # Safety
/// `a` has `m` x `k` elements, `b` `n` x `k` and `c` `m` x `n`, which nobody else writes; the launch gives [`SHARED_BYTES`], and as many
/// blocks as there are tiles.
#[kernel(block = [256], min_blocks = 2)]
pub unsafe fn mma_sync(a: *const bf16, b: *const bf16, c: *mut bf16, sizes: Sizes) {
    let stages: *mut Tiles = dynamic_shared_mem();
    let first = corner(thread::block_idx_x(), sizes, TILE, TILE);
    let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
    let (warp_row, warp_column) = (warp / 4 * 64, warp % 4 * 32);
    let steps = sizes.k.div_ceil(DEPTH);
    let load = |step: u32| {
        if step < steps {
            let tiles = stages.wrapping_add(step as usize % STAGES).cast();
            // SAFETY: the kernel's contract; nobody reads this stage before the next barrier but one.
            unsafe {
                copy(a, [first[0], sizes.m], sizes.k, step, tiles);
                copy(b, [first[1], sizes.n], sizes.k, step, tiles.wrapping_add(1));
            }
        }
        cp_async_commit_group();
    };
    load(0);
    load(1);
    let mut sums = [[[0.0; 4]; 4]; 4];
    for step in 0..steps {
        cp_async_wait_group::<1>();
        // Everybody's copies of this step have come, and everybody is done with the step before, whose stage is filled next.
        thread::sync_threads();
        load(step + 2);
        let tiles = stages
            .wrapping_add(step as usize % STAGES)
            .cast::<[[bf16; PITCH]; TILE as usize]>();
        let (tile_a, tile_b) = (
            tiles.cast::<[bf16; PITCH]>(),
            tiles.wrapping_add(1).cast::<[bf16; PITCH]>(),
        );
        for part in 0..2 {
            // SAFETY: all lanes come here, and the rows are in the tiles.
            unsafe {
                let a: [[u32; 4]; 4] = core::array::from_fn(|i| {
                    let row = warp_row + i as u32 * 16 + lane % 16;
                    matrices(tile_a, row, part * 16 + lane / 16 * 8)
                });
                let b: [[u32; 4]; 2] = core::array::from_fn(|j| {
                    let row = warp_column + j as u32 * 16 + lane / 16 * 8 + lane % 8;
                    matrices(tile_b, row, part * 16 + lane / 8 % 2 * 8)
                });
                unroll!(I in 0..4 => {
                    unroll!(J in 0..4 => {
                        let b = [b[J / 2][J % 2 * 2], b[J / 2][J % 2 * 2 + 1]];
                        mma::multiply::<bf16>(&mut sums[I][J], a[I], b);
                    });
                });
            }
        }
    }
    unroll!(I in 0..4 => {
        unroll!(J in 0..4 => {
            let row = first[0] + warp_row + I as u32 * 16 + lane / 4;
            let column = first[1] + warp_column + J as u32 * 8 + lane % 4 * 2;
            let [x0, x1, x2, x3] = sums[I][J];
            // SAFETY: these elements are this lane's alone.
            unsafe {
                store_pair([x0, x1], c, sizes, [row, column]);
                store_pair([x2, x3], c, sizes, [row + 8, column]);
            }
        });
    });
}

/// Starts to copy a tile of `TILE` rows, 16 bytes at a time; what is outside of the matrix is zero.
///
/// # Safety
/// The matrix has `rows` rows of `k` elements, and nobody else touches the tile until the copies have been waited for.
#[inline(always)]
unsafe fn copy(
    from: *const bf16,
    [first, rows]: [u32; 2],
    k: u32,
    step: u32,
    to: *mut [[bf16; PITCH]; TILE as usize],
) {
    for i in 0..2 {
        let number = thread::thread_idx_x() + i * THREADS;
        let (row, along) = (number / 4, number % 4 * 8);
        let to = to
            .cast::<bf16>()
            .wrapping_add(row as usize * PITCH + along as usize)
            .cast::<[u32; 4]>();
        let (row, along) = (first + row, step * DEPTH + along);
        // SAFETY: the caller's contract; eight elements are inside or outside together.
        unsafe {
            if row < rows && along < k {
                let from = from.wrapping_add(row as usize * k as usize + along as usize);
                cp_async_cg(to, from.cast());
            } else {
                *to = [0; 4];
            }
        }
    }
}

/// Four matrices of 8 x 8, of which this lane names a row.
///
/// # Safety
/// As for [`load_matrices`].
#[inline(always)]
unsafe fn matrices(tile: *mut [bf16; PITCH], row: u32, along: u32) -> [u32; 4] {
    let place = tile
        .cast::<bf16>()
        .wrapping_add(row as usize * PITCH + along as usize);
    // SAFETY: the caller's contract.
    unsafe { load_matrices::<[u32; 4], Plain, _>(SharedPtr::new(place)) }
}
