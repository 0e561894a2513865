//! `C = A B` for matrices of any extents, in tiles of shared memory, without `unsafe`.

use cuda_std::prelude::*;

/// Rows and columns of `C` that a thread has.
pub const OWN: usize = 4;
/// Threads per block, x and y.
pub const BLOCK: u32 = 16;
/// Rows and columns of `C` that a block has.
pub const TILE: usize = BLOCK as usize * OWN;
/// Columns of `A` and rows of `B` that a block holds in shared memory at once.
const DEPTH: usize = 16;
/// A row of `A` in shared memory, whose last two elements keep rows in different banks.
const PITCH: usize = DEPTH + 2;

/// All matrices are in row-major order: `a` has `inner` columns, and `b` as many rows. A thread for each 4 x 4 elements of
/// `c`, of which four blocks on a multiprocessor leave 64 registers.
#[kernel(block = [BLOCK, BLOCK], min_blocks = 4)]
pub fn product(a: &[f32], b: &[f32], inner: usize, mut c: Output2<f32, OWN, OWN>) {
    let [rows, columns] = c.extents();
    let first_row = thread::block_idx_y() as usize * TILE;
    let first_column = thread::block_idx_x() as usize * TILE;
    // A block has no more threads, which tells the compiler that the indices below are in the tiles.
    let x = thread::thread_idx_x() as usize % BLOCK as usize;
    let y = thread::thread_idx_y() as usize % BLOCK as usize;

    let mut a_tile = shared_tile![f32; TILE * PITCH];
    let mut b_tile = shared_tile![f32; DEPTH * TILE];
    let mut sums = [[0.0f32; OWN]; OWN];
    for first in (0..inner).step_by(DEPTH) {
        a_tile.fill(|i| {
            let (row, k) = (first_row + i / PITCH, first + i % PITCH);
            element(a, row * inner + k, row < rows && k < inner)
        });
        b_tile.fill(|i| {
            let (k, column) = (first + i / TILE, first_column + i % TILE);
            element(b, k * columns + column, k < inner && column < columns)
        });
        for k in 0..DEPTH / 2 {
            // Two neighbours of each of the thread's rows, and two rows of its columns.
            let a: [[f32; 2]; OWN] =
                core::array::from_fn(|i| a_tile.pair((y * OWN + i) * (PITCH / 2) + k));
            #[allow(clippy::needless_range_loop, reason = "it indexes columns")]
            for half in 0..2 {
                let b = b_tile.quad((2 * k + half) * (TILE / OWN) + x);
                for i in 0..OWN {
                    for j in 0..OWN {
                        sums[i][j] = a[i][half].mul_add(b[j], sums[i][j]);
                    }
                }
            }
        }
    }
    // At the edges a thread may have none; it has brought elements for the others.
    if let Some(mut tile) = c.own_tiles().next() {
        tile.set(sums);
    }
}

/// The element of an index, or 0 outside.
fn element(of: &[f32], index: usize, is_inside: bool) -> f32 {
    match of.get(index) {
        Some(element) if is_inside => *element,
        _ => 0.0,
    }
}

/// An element of the product, in float64.
pub fn reference(a: &[f32], b: &[f32], inner: usize, columns: usize, i: usize) -> f64 {
    let (row, column) = (i / columns, i % columns);
    let products =
        (0..inner).map(|k| f64::from(a[row * inner + k]) * f64::from(b[k * columns + column]));
    products.sum()
}
