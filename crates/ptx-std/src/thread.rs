//! Where the running thread stands, and how it waits for the others of its block.
//!
//! Indices and dimensions are `u32`, as the hardware gives them. The grid may hold more threads
//! than a `u32` counts: [`grid_stride`] and [`global_index`] use `usize`.
//!
//! Each dimension is a function of its own, or all three are a vector:
//!
//! ```
//! use cuda_std::thread::*;
//!
//! let kernel = || {
//!     let voxel = [
//!         block_idx_x() * block_dim_x() + thread_idx_x(),
//!         block_idx_y() * block_dim_y() + thread_idx_y(),
//!         block_idx_z() * block_dim_z() + thread_idx_z(),
//!     ];
//!     assert_eq!(voxel, (block_idx() * block_dim() + thread_idx()).to_array());
//!     assert_eq!(voxel, index_3d().to_array());
//!     assert_eq!(voxel[..2], index_2d().to_array());
//!
//!     let [width, height, depth] = (grid_dim() * block_dim()).to_array();
//!     assert_eq!(width, grid_dim_x() * block_dim_x());
//!     assert_eq!(height, grid_dim_y() * block_dim_y());
//!     assert_eq!(depth, grid_dim_z() * block_dim_z());
//!     assert!(voxel[0] < width && voxel[1] < height && voxel[2] < depth);
//! };
//! # let shape = simt::Shape { grid: [2, 3, 4], block: [4, 2, 2], dynamic_shared: 0 };
//! # simt::Launch::new(shape).run(&kernel)?;
//! # Ok::<(), simt::LaunchError>(())
//! ```
//!
//! Threads of a block exchange values through shared memory, with a barrier between writes and reads:
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// Reverses the elements of each block.
//! #[kernel]
//! pub fn reverse(x: &[f32], mut y: Output<f32>) {
//!     let tile = shared_array![f32; 64];
//!     let (own, last) = (thread::thread_idx_x() as usize, thread::block_threads() as usize - 1);
//!     // SAFETY: a block has 64 threads, each of which writes its own element.
//!     unsafe { *tile.add(own) = x[thread::global_index()] };
//!     thread::sync_threads();
//!     if let Some((_, y)) = y.own_element() {
//!         // SAFETY: written in front of the barrier.
//!         *y = unsafe { *tile.add(last - own) };
//!     }
//! }
//! # use cuda_std::launch::{Kernel, Slice, SliceMut};
//! # let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
//! # let mut y = vec![0.0_f32; 128];
//! # // SAFETY: the arrays outlive the launch.
//! # let arguments = unsafe { (Slice::from_raw(x.as_ptr(), 128), SliceMut::from_raw(y.as_mut_ptr(), 128)) };
//! # let shape = simt::Shape { grid: [2, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
//! # // SAFETY: the kernel is safe, and its buffers are in host memory.
//! # simt::Launch::new(shape).run(&|| unsafe { reverse::call(&arguments) })?;
//! assert_eq!(y[..2], [63.0, 62.0]);
//! assert_eq!(y[64..66], [127.0, 126.0]);
//! # Ok::<(), simt::LaunchError>(())
//! ```

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

/// Tells the compiler the block of every launch, for `#[kernel(block = ..)]`: divisions and loops by the block's size become
/// those by a constant.
///
/// # Safety
/// The block has exactly these threads, x, y and z.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub unsafe fn assume_block([x, y, z]: [u32; 3]) {
    let is_known = block_dim_x() == x && block_dim_y() == y && block_dim_z() == z;
    // SAFETY: the caller's.
    unsafe { core::hint::assert_unchecked(is_known) };
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
///
/// ```
/// use cuda_std::thread;
/// # use std::{cell::RefCell, collections::BTreeSet};
///
/// # let seen = RefCell::new(BTreeSet::new());
/// let kernel = || {
///     assert_eq!(thread::index() as usize, thread::linear_index());
///     assert_eq!(thread::grid_threads(), 6 * thread::block_threads() as usize);
///     assert_eq!(thread::first(), thread::linear_index() == 0);
/// #   assert_eq!(thread::multiprocessor(), 0);
/// #   seen.borrow_mut().insert(thread::linear_index());
/// };
/// # let shape = simt::Shape { grid: [3, 2, 1], block: [4, 4, 2], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # assert!(seen.into_inner().into_iter().eq(0..6 * 32), "one index per thread");
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
///
/// ```
/// use cuda_std::glam::UVec3;
/// use cuda_std::thread;
///
/// let kernel = || {
///     let own: UVec3 = thread::index_3d();
///     assert!(own.cmplt(thread::grid_dim() * thread::block_dim()).all());
/// };
/// # let shape = simt::Shape { grid: [2, 1, 3], block: [4, 4, 2], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
///
/// ```
/// use cuda_std::thread::multiprocessor;
///
/// assert_eq!(multiprocessor(), 0, "this runs on the host");
/// ```
#[inline(always)]
pub fn multiprocessor() -> u32 {
    arch::multiprocessor()
}

/// Lanes per warp: 32 on every GPU so far.
///
/// ```
/// use cuda_std::{thread, warp};
///
/// assert_eq!(thread::warp_size(), warp::WARP_SIZE);
/// ```
#[inline(always)]
pub fn warp_size() -> u32 {
    crate::warp::WARP_SIZE
}

/// Index of the thread in a one-dimensional grid: `block_idx_x * block_dim_x + thread_idx_x`.
/// Wraps in a grid of more than 2^32 threads, where [`global_index`] does not.
///
/// ```
/// use cuda_std::thread;
///
/// let kernel = || {
///     assert_eq!(thread::index_1d(), thread::block_idx_x() * 32 + thread::thread_idx_x());
///     assert_eq!(thread::index_1d() as usize, thread::global_index());
/// };
/// # let shape = simt::Shape { grid: [3, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
/// # use cuda_std::thread;
/// /// # Safety
/// /// `y` has room for `x.len()` elements.
/// unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
///     for i in thread::grid_stride(x.len()) {
///         // SAFETY: i < x.len(), and comes to one thread.
///         unsafe { *y.add(i) = a * x[i] };
///     }
/// }
/// # let (x, mut y) = ([1.5_f32; 100], [0.0_f32; 100]);
/// # let y_pointer = y.as_mut_ptr();
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: `y` has as many elements as `x`.
/// # simt::Launch::new(shape).run(&|| unsafe { scale(&x, y_pointer, 2.0) })?;
/// assert_eq!(y, [3.0; 100]); // 64 threads, 100 elements.
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[inline(always)]
pub fn grid_stride(len: usize) -> GridStride {
    GridStride {
        next: global_index(),
        len,
    }
}

/// The iterator of [`grid_stride`].
///
/// ```
/// use cuda_std::thread::{self, GridStride};
///
/// let kernel = || {
///     let mut own: GridStride = thread::grid_stride(100);
///     let first = thread::global_index();
///     assert_eq!(own.next(), Some(first));
///     assert_eq!(own.next(), (first + 64 < 100).then_some(first + 64));
/// };
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
///
/// ```
/// use cuda_std::thread::{self, sync_threads_and, sync_threads_count, sync_threads_or};
///
/// let kernel = || {
///     let thread = thread::thread_idx_x();
///     assert_eq!(sync_threads_count((thread < 10).into()), 10);
///     assert_eq!(sync_threads_and((thread < 10).into()), 0);
///     assert_eq!(sync_threads_or((thread < 10).into()), 1);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
///
/// A block hands a value to another by a flag, with a fence on both sides; for the CPU or another device to
/// see it, [`system_fence`] takes the fences' place:
///
/// ```
/// use cuda_std::thread;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let (value, flag) = (AtomicU32::new(0), AtomicU32::new(0));
/// let kernel = || {
///     if thread::block_idx_x() == 1 {
///         value.store(7, Ordering::Relaxed);
///         thread::device_fence();
///         flag.store(1, Ordering::Relaxed);
///         thread::system_fence();
///     } else {
///         while flag.load(Ordering::Relaxed) == 0 {
///             thread::nanosleep(100); // Others have their turn.
///         }
///         thread::grid_fence();
///         assert_eq!(value.load(Ordering::Relaxed), 7);
///     }
/// };
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [1, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
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
