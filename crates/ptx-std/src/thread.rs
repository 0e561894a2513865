//! Where the running thread stands, and how it waits for the others of its block.
//!
//! Indices and dimensions are `u32`, as the hardware gives them. The grid may hold more threads
//! than a `u32` counts: [`grid_stride`] and [`global_index`] use `usize`.

use crate::arch;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            arch::$name()
        }
    )*};
}

indices! {
    /// Index of the thread in its block, x.
    thread_idx_x;
    /// Index of the thread in its block, y.
    thread_idx_y;
    /// Index of the thread in its block, z.
    thread_idx_z;
    /// Index of the block in the grid, x.
    block_idx_x;
    /// Index of the block in the grid, y.
    block_idx_y;
    /// Index of the block in the grid, z.
    block_idx_z;
    /// Threads a block, x.
    block_dim_x;
    /// Threads a block, y.
    block_dim_y;
    /// Threads a block, z.
    block_dim_z;
    /// Blocks in the grid, x.
    grid_dim_x;
    /// Blocks in the grid, y.
    grid_dim_y;
    /// Blocks in the grid, z.
    grid_dim_z;
}

/// Index of the thread in a one-dimensional grid: `block_idx_x * block_dim_x + thread_idx_x`.
/// Wraps in a grid of more than 2^32 threads, where [`global_index`] does not.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x()
        .wrapping_mul(block_dim_x())
        .wrapping_add(thread_idx_x())
}

/// Index of the thread in a one-dimensional grid of any size.
#[inline(always)]
pub fn global_index() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The elements of `0..len` that belong to this thread of a one-dimensional grid: its own index,
/// then steps of the whole grid. Each index comes to exactly one thread, whatever the grid.
///
/// ```
/// # use ptx_std::thread;
/// /// # Safety
/// /// `y` has room for `x.len()` elements.
/// unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
///     for i in thread::grid_stride(x.len()) {
///         unsafe { *y.add(i) = a * x[i] };
///     }
/// }
/// ```
#[inline(always)]
pub fn grid_stride(len: usize) -> GridStride {
    GridStride {
        next: global_index(),
        len,
    }
}

/// The iterator of [`grid_stride`].
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    len: usize,
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.len {
            return None;
        }
        let index = self.next;
        self.next += grid_dim_x() as usize * block_dim_x() as usize;
        Some(index)
    }
}

/// Waits until every live thread of the block has come here, and makes what they wrote to shared
/// and global memory before it visible to the whole block after it.
///
/// All threads of the block must reach the same call: under a branch that only some of them take,
/// the block hangs or goes on with stale data.
#[inline(always)]
pub fn sync_threads() {
    arch::sync_threads();
}
