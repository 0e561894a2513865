//! Copies of matrices whose rows no tensor map describes: into rows that begin at multiples of 128 bytes.

use cuda_std::prelude::*;
use cuda_std::unroll;

/// Threads per block: a row for each warp.
pub const THREADS: u32 = 256;
/// Rows that a block copies at the same time.
pub const ROWS: u32 = THREADS / 32;
/// Elements of a row that a warp copies at the same time.
pub const COLUMNS: u32 = 32 * EACH as u32;
/// Loads of a lane before its first store.
const EACH: usize = 16;

/// Where a matrix lies and where its copy does.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Shape {
    /// Rows.
    pub rows: u32,
    /// Elements of a row.
    pub columns: u32,
    /// Elements from one row of the matrix to the next.
    pub pitch: u32,
    /// Elements from one row of the copy to the next.
    pub copy_pitch: u32,
}

/// Copies a matrix. Blocks along y take [`COLUMNS`] each; those along x take [`ROWS`] rows each, and then the next ones.
///
/// # Safety
/// Both matrices have `shape.rows` rows of `shape.columns` elements at the pitches that it says, and nobody else touches the copy.
#[kernel(
    block = [256],
    instances(pack_1<u8>, pack_2<u16>, pack_4<u32>, pack_8<u64>)
)]
pub unsafe fn pack<T: Copy>(matrix: *const T, copy: *mut T, shape: Shape) {
    let lane = thread::thread_idx_x() % 32;
    let first = thread::block_idx_y() * COLUMNS + lane;
    let columns = shape.columns.saturating_sub(first);
    let mut row = thread::block_idx_x() * ROWS + thread::thread_idx_x() / 32;
    while row < shape.rows {
        let place = |pitch: u32| row as usize * pitch as usize + first as usize;
        let (from, to) = (place(shape.pitch), place(shape.copy_pitch));
        let (from, to) = (matrix.wrapping_add(from), copy.wrapping_add(to));
        let mut elements = [const { core::mem::MaybeUninit::<T>::uninit() }; EACH];
        unroll!(I in 0..16 => {
            if 32 * (I as u32) < columns {
                // SAFETY: the element is in the row.
                elements[I].write(unsafe { *from.wrapping_add(32 * I) });
            }
        });
        unroll!(I in 0..16 => {
            if 32 * (I as u32) < columns {
                // SAFETY: as above, written under the same condition; the copy's element is this lane's alone.
                unsafe { *to.wrapping_add(32 * I) = elements[I].assume_init() };
            }
        });
        row += thread::grid_dim_x() * ROWS;
    }
}
