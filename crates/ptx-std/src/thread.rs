//! Where the running thread stands, and how it waits for the others of its block.
//!
//! Indices and dimensions are `u32`, as the hardware gives them. The grid may hold more threads
//! than a `u32` counts: [`grid_stride`] and [`global_index`] use `usize`.

use crate::glam::{UVec2, UVec3};

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
    /// Threads per block, x.
    block_dim_x;
    /// Threads per block, y.
    block_dim_y;
    /// Threads per block, z.
    block_dim_z;
    /// Blocks in the grid, x.
    grid_dim_x;
    /// Blocks in the grid, y.
    grid_dim_y;
    /// Blocks in the grid, z.
    grid_dim_z;
}

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident = $x:ident, $y:ident, $z:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> UVec3 {
            UVec3::new($x(), $y(), $z())
        }
    )*};
}

vectors! {
    /// Index of the thread in its block.
    thread_idx = thread_idx_x, thread_idx_y, thread_idx_z;
    /// Index of the block in the grid.
    block_idx = block_idx_x, block_idx_y, block_idx_z;
    /// Threads per block.
    block_dim = block_dim_x, block_dim_y, block_dim_z;
    /// Blocks in the grid.
    grid_dim = grid_dim_x, grid_dim_y, grid_dim_z;
}

/// Index of the thread in the grid: block by block, and in each block x fastest. Wraps in a grid of
/// more than 2^32 threads, where [`linear_index`] does not.
#[inline(always)]
pub fn index() -> u32 {
    linear_index() as u32
}

/// Index of the thread in a grid of any shape and size: block by block, x fastest in the grid, and
/// in each block. Below [`grid_threads`], and no two threads' is the same.
#[inline(always)]
pub fn linear_index() -> usize {
    let block = (block_idx_z() as usize * grid_dim_y() as usize + block_idx_y() as usize)
        * grid_dim_x() as usize
        + block_idx_x() as usize;
    // A block has at most 1024 threads.
    let thread = (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x();
    block * block_threads() as usize + thread as usize
}

/// Threads per block, over all dimensions.
#[inline(always)]
pub fn block_threads() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// Threads in the grid, over all dimensions.
#[inline(always)]
pub fn grid_threads() -> usize {
    let blocks = grid_dim_x() as usize * grid_dim_y() as usize * grid_dim_z() as usize;
    blocks * block_threads() as usize
}

/// Index of the thread in a two-dimensional grid: `block_idx * block_dim + thread_idx`, x and y.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    index_3d().truncate()
}

/// Index of the thread in a three-dimensional grid: `block_idx * block_dim + thread_idx`.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    block_idx() * block_dim() + thread_idx()
}

/// Whether this is the first thread of the grid.
#[inline(always)]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Number of the multiprocessor that runs the thread, which may be more than there are. On the host 0.
#[inline(always)]
pub fn multiprocessor() -> u32 {
    arch::multiprocessor()
}

/// Lanes a warp: 32 on every GPU so far.
#[inline(always)]
pub fn warp_size() -> u32 {
    crate::warp::WARP_SIZE
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
        self.next = index.saturating_add(grid_dim_x() as usize * block_dim_x() as usize);
        Some(index)
    }
}

/// Waits until every live thread of the block has come here, and makes what they wrote to shared
/// and global memory before it visible to the whole block after it.
///
/// All threads of the block must reach the same call: under a branch that only some of them take,
/// the block hangs or goes on with stale data.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    arch::sync_threads();
}

/// [`sync_threads`], and gives every thread the number of threads whose predicate was not 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: u32) -> u32 {
    arch::sync_threads_count(predicate != 0)
}

/// [`sync_threads`], and gives every thread 1 if no thread's predicate was 0, else 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: u32) -> u32 {
    arch::sync_threads_and(predicate != 0).into()
}

/// [`sync_threads`], and gives every thread 1 if any thread's predicate was not 0, else 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: u32) -> u32 {
    arch::sync_threads_or(predicate != 0).into()
}

/// Orders this thread's memory accesses before and after it, as all threads of the grid see them.
#[inline(always)]
pub fn grid_fence() {
    arch::device_fence();
}

/// Orders this thread's memory accesses before and after it, as all threads of the device see them.
#[inline(always)]
pub fn device_fence() {
    arch::device_fence();
}

/// Orders this thread's memory accesses before and after it, as the device, the host and other
/// devices see them.
#[inline(always)]
pub fn system_fence() {
    arch::system_fence();
}

/// Sleeps for about so many nanoseconds, between 0 and twice as many, at most a millisecond.
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    arch::nanosleep(nanoseconds);
}
