//! Sums, minima, maxima, reductions and scans over the threads of a warp, of a block and of a grid, without `unsafe`.
//!
//! ```
//! use cuda_std::group;
//! use cuda_std::prelude::*;
//!
//! /// Each row's sum, mean and largest element's place: a warp for each row.
//! #[kernel]
//! pub fn statistics(x: &[f32], width: usize, mut sums: WarpOutput<f32>, mut places: WarpOutput<u32>) {
//!     let warp: group::Warp = group::warp();
//!     let mut places = places.own_rows();
//!     for mut sum in sums.own_rows() {
//!         let row = &x[sum.row() * width..][..width];
//!         let (mut total, mut largest) = (0.0, (f32::NEG_INFINITY, 0));
//!         for (i, &value) in warp.own(row) {
//!             total += value;
//!             if value > largest.0 {
//!                 largest = (value, i as u32);
//!             }
//!         }
//!         let total = warp.sum(total);
//!         let (_, place) = warp.arg_max(largest.0, largest.1);
//!         sum.own().for_each(|(_, sum)| *sum = total);
//!         if let Some(mut own) = places.next() {
//!             own.own().for_each(|(_, own)| *own = place);
//!         }
//!     }
//! }
//! # use cuda_std::launch::{Kernel, Slice, SliceMut};
//! # let x: Vec<f32> = (0..300).map(|i| (i % 70) as f32).collect();
//! # let (mut sums, mut places) = (vec![0.0_f32; 3], vec![0_u32; 3]);
//! # let shape = simt::Shape { grid: [1, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
//! # // SAFETY: the arrays outlive the launch, and the kernel is safe.
//! # let arguments = unsafe { (
//! #     Slice::from_raw(x.as_ptr(), 300), 100,
//! #     SliceMut::from_raw(sums.as_mut_ptr(), 3).shaped([3, 1]),
//! #     SliceMut::from_raw(places.as_mut_ptr(), 3).shaped([3, 1]),
//! # ) };
//! # simt::Launch::new(shape).run(&|| unsafe { statistics::call(&arguments) })?;
//! # assert_eq!(sums, [0, 1, 2].map(|row| x[100 * row..][..100].iter().sum::<f32>()));
//! # assert_eq!(places, [69, 39, 9]);
//! # Ok::<(), simt::LaunchError>(())
//! ```
//!
//! # Who comes
//!
//! All threads of the group reach the same call, as they do [`sync_threads`](crate::thread::sync_threads). Where some do
//! not, the group waits for ever, or goes on with values of another call: the result is then any number, and no memory
//! but a block's own words of exchange is touched, which is why the functions are safe. The emulator reports threads
//! that wait at different calls; the values of threads that have ended are any numbers. A partial last warp, and blocks
//! of one, two or three dimensions, are as good as any.
//!
//! # Order
//!
//! A result depends on the values, on the shape of the block and, over a grid, on the number of blocks: on nothing else,
//! so the same launch gives the same bits each time. Threads are counted with x fastest. Of neighbours the left is the
//! first operand:
//!
//! ```text
//! reduce, of 6 lanes:   ((v0 + v1) + (v2 + v3)) + (v4 + v5)
//! scan, lane 5:         (v0 + v1) + ((v2 + v3) + (v4 + v5))
//! of a block:           the warps' results, combined in the same way
//! of a grid:            thread t of the last block combines the results of the blocks t, t + threads .. from the
//!                       left, and the block these; a scan combines the blocks from the left, one by one
//! ```
//!
//! Integers of 32 bits take one instruction in a warp from sm_80 on, whose order changes nothing.

mod element;
mod lanes;
pub(crate) mod places;
mod scratch;
mod threads;
mod workspace;

pub use element::{Element, Number};
pub use lanes::Warp;
pub use threads::Block;
pub use workspace::{Workspace, workspace_words};

pub(crate) use element::map_words;

use crate::thread::{block_dim_x, block_dim_y, thread_idx_x, thread_idx_y, thread_idx_z};

/// The results of a scan for a thread.
///
/// ```
/// use cuda_std::group::{self, Scan};
///
/// let kernel = || {
///     let lane = cuda_std::warp::lane_id();
///     let Scan { before, through, total } = group::warp().scan(1_u32, |a, b| a + b);
///     assert_eq!((before.unwrap_or(0), through, total), (lane, lane + 1, 32));
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<T> {
    /// The values of the threads before this one, combined; none for the first.
    pub before: Option<T>,
    /// These and the thread's own.
    pub through: T,
    /// The values of all threads, combined: of a block the warps' results by their own scan, so where an operation rounds
    /// it may differ from the last thread's.
    pub total: T,
}

/// The warp of the thread that runs: 32 lanes, or what the block has left for the last.
///
/// ```
/// use cuda_std::group;
/// use cuda_std::warp::{FULL_MASK, lane_id};
///
/// let kernel = || {
///     let warp = group::warp();
///     let lanes = if cuda_std::thread::index_1d() < 32 { 32 } else { 8 };
///     assert_eq!((warp.rank(), warp.len()), (lane_id(), lanes));
///     assert_eq!(warp.mask(), FULL_MASK >> (32 - lanes));
///     assert_eq!(warp.broadcast(lane_id() + 5, 2), 7);
///     let is_odd = lane_id() % 2 == 1;
///     assert_eq!(warp.ballot(is_odd), 0xAAAA_AAAA & warp.mask());
///     assert!(warp.any(is_odd) && !warp.all(is_odd));
///     assert_eq!(warp.reduce(lane_id(), |_, later| later), lanes - 1);
///     warp.sync();
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [40, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[inline(always)]
pub fn warp() -> Warp {
    Warp::current()
}

/// The block of the thread that runs.
///
/// ```
/// use cuda_std::{group, thread};
///
/// let kernel = || {
///     let block: group::Block = group::block();
///     let own = f64::from(block.rank());
///     assert_eq!(block.sum(0.5_f64), 50.0);
///     assert_eq!((block.min(own), block.max(own)), (0.0, 99.0));
///     assert_eq!(block.arg_min((own - 40.0).abs(), block.rank()), (0.0, 40));
///     assert_eq!(block.arg_max(1.5, block.rank()), (1.5, 0), "of equal values the first place");
///     assert_eq!(block.inclusive_sum(1_u32), block.rank() + 1);
///     assert_eq!(block.exclusive_sum(2_i64), 2 * i64::from(block.rank()));
///     assert_eq!(block.scan(own, f64::max).before.unwrap_or(0.0), (own - 1.0).max(0.0));
///     assert_eq!(block.reduce(block.rank(), |first, _| first), 0);
///     block.sync();
///     // The elements that come to this thread.
///     assert!(block.own(&[7; 150]).map(|(i, _)| i as u32).eq((block.rank()..150).step_by(block.len() as usize)));
/// };
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [10, 5, 2], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[inline(always)]
pub fn block() -> Block {
    Block::current()
}

/// The thread's index in its block, counted over all dimensions.
#[inline(always)]
fn thread_of_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Declares what warps and blocks have alike, on `reduce_number`, `reduce_commutative` and `scan`.
macro_rules! of_group {
    ($group:ident, $places:ident, $name:literal, $thread:literal, $loads:literal) => {
        impl $group {
            #[doc = concat!("Index of the thread in the ", $name, ".")]
            #[inline(always)]
            pub fn rank(self) -> u32 {
                self.rank_and_len().0
            }

            #[doc = concat!("Threads of the ", $name, ".")]
            #[inline(always)]
            #[allow(clippy::len_without_is_empty, reason = "the thread that asks is one of them")]
            pub fn len(self) -> u32 {
                self.rank_and_len().1
            }

            #[doc = concat!("The elements that come to this ", $thread, ", with their indices: that of its rank, and from there in \
                steps of all the ", $name, "'s threads.")]
            ///
            #[doc = $loads]
            #[inline(always)]
            pub fn own<T>(self, elements: &[T]) -> impl Iterator<Item = (usize, &T)> {
                // SAFETY: places are below the count.
                self.places(elements.len()).map(|index| (index, unsafe { elements.get_unchecked(index) }))
            }

            /// The places among `count` that come to this thread.
            #[inline(always)]
            pub(crate) fn places(self, count: usize) -> $crate::group::places::$places {
                $crate::group::places::$places::new(self.rank(), self.len(), count)
            }

            /// The sum of the values of all threads; every thread has it.
            #[inline(always)]
            #[track_caller]
            pub fn sum<T: $crate::group::Number>(self, value: T) -> T {
                self.reduce_number(value, $crate::warp::WarpReductionOp::Add, T::plus)
            }

            /// The least value of all threads; every thread has it.
            #[inline(always)]
            #[track_caller]
            pub fn min<T: $crate::group::Number>(self, value: T) -> T {
                self.reduce_number(value, $crate::warp::WarpReductionOp::Min, T::least)
            }

            /// The greatest value of all threads; every thread has it.
            #[inline(always)]
            #[track_caller]
            pub fn max<T: $crate::group::Number>(self, value: T) -> T {
                self.reduce_number(value, $crate::warp::WarpReductionOp::Max, T::greatest)
            }

            /// The least value of all threads, and its place; of equal values the lowest place, and a NaN only where
            /// all are. Every thread has it.
            #[inline(always)]
            #[track_caller]
            pub fn arg_min<T, I>(self, value: T, place: I) -> (T, I)
            where
                T: $crate::group::Number,
                I: $crate::group::Element + Ord,
            {
                self.reduce_commutative((value, place), |a, b| $crate::group::element::better(a, b, |a, b| a < b))
            }

            /// The greatest value of all threads, and its place; of equal values the lowest place, and a NaN only where
            /// all are. Every thread has it.
            #[inline(always)]
            #[track_caller]
            pub fn arg_max<T, I>(self, value: T, place: I) -> (T, I)
            where
                T: $crate::group::Number,
                I: $crate::group::Element + Ord,
            {
                self.reduce_commutative((value, place), |a, b| $crate::group::element::better(a, b, |a, b| a > b))
            }

            /// The sum of the values of the threads up to this one, its own included.
            #[inline(always)]
            #[track_caller]
            pub fn inclusive_sum<T: $crate::group::Number>(self, value: T) -> T {
                self.scan(value, T::plus).through
            }

            /// The sum of the values of the threads before this one: 0 in the first.
            #[inline(always)]
            #[track_caller]
            pub fn exclusive_sum<T: $crate::group::Number>(self, value: T) -> T {
                self.scan(value, T::plus).before.unwrap_or(T::ZERO)
            }
        }
    };
}
use of_group;
