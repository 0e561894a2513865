//! `C = A B`, in tiles of shared memory.

use cuda_std::prelude::*;

/// Rows and columns of `C` that a block computes; the matrices' sizes are multiples of it.
pub const TILE: usize = 64;
/// Columns of `A` and rows of `B` that a block holds in shared memory at once; the inner size is a
/// multiple of it.
pub const DEPTH: usize = 16;
/// Threads per block, x and y.
pub const BLOCK: [u32; 2] = [16, 16];
/// Rows and columns of `C` that a thread computes.
const OWN: usize = 4;
/// Steps of the inner loop that are written out.
const UNROLL: usize = 8;

/// All matrices are dense and in row-major order: `a` is rows x inner, `b` inner x columns, `c`
/// rows x columns. A block for each tile of `c`, x along the columns.
///
/// # Safety
/// rows and columns, which the grid gives, are multiples of [`TILE`], and inner of [`DEPTH`]; `a`
/// and `b` have as many elements, `c` has room for as many, and all are aligned to 16 bytes.
#[kernel(block = [16, 16])]
pub unsafe fn matmul(a: &[f32], b: &[f32], c: *mut f32, inner: u32) {
    let a_tile = shared_array![f32; TILE * DEPTH];
    let b_tile = shared_array![f32; TILE * DEPTH];
    let inner = inner as usize;
    let columns = thread::grid_dim_x() as usize * TILE;
    let (x, y) = (
        thread::thread_idx_x() as usize,
        thread::thread_idx_y() as usize,
    );
    let thread = y * BLOCK[0] as usize + x;
    let first_row = thread::block_idx_y() as usize * TILE;
    let first_column = thread::block_idx_x() as usize * TILE;

    // Each thread brings four neighbours of either tile: of A along a row, kept by columns, so that
    // the product reads four rows at once; of B along a row.
    let (a_row, a_column) = (thread / 4, thread % 4 * OWN);
    let (b_row, b_column) = (thread / 16, thread % 16 * OWN);
    // Inside the matrices, by the kernel's contract, for each tile below.
    let mut a_next = a
        .as_ptr()
        .wrapping_add((first_row + a_row) * inner + a_column);
    let mut b_next = b
        .as_ptr()
        .wrapping_add(b_row * columns + first_column + b_column);

    let mut sums = [[0.0f32; OWN]; OWN];
    for _ in 0..inner / DEPTH {
        // SAFETY: the tiles have room for what 256 threads bring, four elements each, all at other
        // places; the barriers part bringing from use.
        unsafe {
            let brought: [f32; OWN] = vector::load(a_next);
            for (i, value) in brought.iter().enumerate() {
                *a_tile.add((a_column + i) * TILE + a_row) = *value;
            }
            vector::copy::<f32, OWN>(b_next, b_tile.add(b_row * TILE + b_column));
            a_next = a_next.wrapping_add(DEPTH);
            b_next = b_next.wrapping_add(DEPTH * columns);
        }
        thread::sync_threads();
        for k in (0..DEPTH).step_by(UNROLL) {
            for k in k..k + UNROLL {
                // SAFETY: k < DEPTH and x, y < 16, so both are inside the tiles.
                let a_values: [f32; OWN] = unsafe { vector::load(a_tile.add(k * TILE + y * OWN)) };
                // SAFETY: as above.
                let b_values: [f32; OWN] = unsafe { vector::load(b_tile.add(k * TILE + x * OWN)) };
                for i in 0..OWN {
                    for j in 0..OWN {
                        sums[i][j] = a_values[i].mul_add(b_values[j], sums[i][j]);
                    }
                }
            }
        }
        thread::sync_threads();
    }
    for (i, row) in sums.iter().enumerate() {
        let index = (first_row + y * OWN + i) * columns + first_column + x * OWN;
        // SAFETY: inside `c`, by the kernel's contract; the element is this thread's alone.
        unsafe { vector::store(c.add(index), *row) };
    }
}
