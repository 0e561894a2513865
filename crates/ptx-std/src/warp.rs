//! The 32 lanes of a warp: votes, shuffles, matches and reductions, without memory.
//!
//! Every function takes a `mask` of the lanes that take part, bit n for lane n. All of them must
//! reach the same call with the same mask, which names the calling lane. It may name lanes that have
//! ended or do not exist, as in a partial last warp, but a shuffle must not read those.
//! Else the result is undefined, on a GPU possibly a hang. The emulator reports a mask that does not
//! name its lane, a shuffle from a lane that does not take part, and lanes that never come; it
//! does not tell two calls of the same kind with the same mask apart.
//!
//! The sum of a block's values is a shuffle tree in each warp, and one atomic addition per warp:
//!
//! ```
//! use cuda_std::atomic::{AtomicF32, Ordering};
//! use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_down};
//!
//! /// Each lane's sum with those above it: lane 0 has that of the warp.
//! ///
//! /// # Safety
//! /// All lanes of the warp reach the same call.
//! unsafe fn warp_sum(mut value: f32) -> f32 {
//!     let mut delta = WARP_SIZE / 2;
//!     while delta > 0 {
//!         // SAFETY: the caller's contract.
//!         value += unsafe { warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE) }.0;
//!         delta /= 2;
//!     }
//!     value
//! }
//!
//! let sum = AtomicF32::new(0.0);
//! let kernel = || {
//!     // SAFETY: there is no branch.
//!     let warp = unsafe { warp_sum(1.5) };
//!     if lane_id() == 0 {
//!         sum.fetch_add(warp, Ordering::Relaxed);
//!     }
//! };
//! # let shape = simt::Shape { grid: [1, 1, 1], block: [128, 1, 1], dynamic_shared: 0 };
//! # simt::Launch::new(shape).run(&kernel)?;
//! assert_eq!(sum.into_inner(), 128.0 * 1.5);
//! # Ok::<(), simt::LaunchError>(())
//! ```

use core::panic::Location;

use crate::arch;

/// Lanes per warp.
pub const WARP_SIZE: u32 = 32;

/// The mask of a whole warp.
pub const FULL_MASK: u32 = u32::MAX;

/// Index of the thread in its warp, 0 to 31.
#[inline(always)]
pub fn lane_id() -> u32 {
    arch::lane_id()
}

/// The lanes that happen to run this together. It says nothing about which lanes the program's
/// logic has here: do not build a mask from it where the branch taken is known.
///
/// ```
/// use cuda_std::warp::{activemask, lane_id};
///
/// let kernel = || {
///     let together = activemask();
///     assert_eq!(together >> lane_id() & 1, 1, "the lane itself is one of them");
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
#[inline(always)]
#[track_caller]
pub fn activemask() -> u32 {
    arch::activemask()
}

/// Waits until every lane in `mask` is here, and makes what they wrote to memory before it visible
/// to them after it.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::warp::{FULL_MASK, lane_id, sync_warp};
///
/// let kernel = || {
///     let values = shared_array![u32; 32];
///     let lane = lane_id() as usize;
///     // SAFETY: each lane writes its own element, and reads another's behind the barrier, to which all come.
///     let next = unsafe {
///         *values.add(lane) = lane as u32;
///         sync_warp(FULL_MASK);
///         *values.add((lane + 1) % 32)
///     };
///     assert_eq!(next, (lane as u32 + 1) % 32);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    arch::sync_warp(mask);
}

/// Whether the predicate holds in every lane of `mask`.
///
/// ```
/// use cuda_std::warp::*;
///
/// let kernel = || {
///     let is_low = lane_id() < 8;
///     // SAFETY: all lanes come here.
///     unsafe {
///         assert!(!warp_vote_all(FULL_MASK, is_low));
///         assert!(warp_vote_any(FULL_MASK, is_low));
///         assert_eq!(warp_vote_ballot(FULL_MASK, is_low), 0xFF);
///     }
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    arch::vote_all(mask, predicate)
}

/// Whether the predicate holds in any lane of `mask`.
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    arch::vote_any(mask, predicate)
}

/// The lanes of `mask` in which the predicate holds.
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    arch::vote_ballot(mask, predicate)
}

/// The lanes of `mask` that hold the same value as this one.
///
/// ```
/// use cuda_std::warp::*;
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     let (same_pair, all) = unsafe {
///         (warp_match_any(FULL_MASK, lane_id() / 2), warp_match_all(FULL_MASK, 1.5_f64))
///     };
///     assert_eq!(same_pair, 0b11 << (lane_id() & !1));
///     assert_eq!(all, Some(FULL_MASK));
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_match_any<T: MatchValue>(mask: u32, value: T) -> u32 {
    value.match_any(mask)
}

/// `mask` if all its lanes hold the same value, else `None`.
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_match_all<T: MatchValue>(mask: u32, value: T) -> Option<u32> {
    (value.match_any(mask) == mask).then_some(mask)
}

/// A value that lanes compare: any integer or float of 32 or 64 bits, by its bits.
///
/// ```
/// use cuda_std::warp::{FULL_MASK, MatchValue, lane_id, warp_match_any};
///
/// /// How many lanes hold the value of this one.
/// ///
/// /// # Safety
/// /// All lanes of the warp reach the same call.
/// unsafe fn occurrences(value: impl MatchValue) -> u32 {
///     // SAFETY: the caller's contract.
///     unsafe { warp_match_any(FULL_MASK, value) }.count_ones()
/// }
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     assert_eq!(unsafe { occurrences(lane_id() % 4) }, 8);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub trait MatchValue: Copy {
    #[doc(hidden)]
    fn match_any(self, mask: u32) -> u32;
}

macro_rules! match_values {
    ($($ty:ty, $bits:expr, $match_any:ident;)*) => {$(
        impl MatchValue for $ty {
            #[inline(always)]
            #[track_caller]
            fn match_any(self, mask: u32) -> u32 {
                arch::$match_any(mask, $bits(self))
            }
        }
    )*};
}

match_values! {
    u32, core::convert::identity, match_any_32;
    i32, i32::cast_unsigned, match_any_32;
    f32, f32::to_bits, match_any_32;
    u64, core::convert::identity, match_any_64;
    i64, i64::cast_unsigned, match_any_64;
    f64, f64::to_bits, match_any_64;
}

/// The operation of [`warp_reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, wrapping.
    Add,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The bits that are set in all values.
    And,
    /// The bits that are set in any value.
    Or,
    /// The bits that are set in an odd number of values.
    Xor,
}

/// Combines the values of all lanes of `mask`, and gives every one of them the result: one
/// instruction from sm_80 on, before that 5 shuffles for a whole warp or one for each lane.
///
/// ```
/// use cuda_std::warp::{FULL_MASK, WarpReductionOp, lane_id, warp_reduce};
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     let of_lanes = |op| unsafe { warp_reduce(FULL_MASK, lane_id(), op) };
///     assert_eq!(of_lanes(WarpReductionOp::Add), 496);
///     assert_eq!(of_lanes(WarpReductionOp::Min), 0);
///     assert_eq!(of_lanes(WarpReductionOp::Max), 31);
///     assert_eq!(of_lanes(WarpReductionOp::And), 0);
///     assert_eq!(of_lanes(WarpReductionOp::Or), 31);
///     assert_eq!(of_lanes(WarpReductionOp::Xor), 0);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// `mask` keeps [the rule of this module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_reduce<T: ReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    value.reduce(mask, op)
}

/// A value that the hardware reduces: `i32`, `u32`.
///
/// ```
/// use cuda_std::warp::{FULL_MASK, ReduceValue, WarpReductionOp, lane_id, warp_reduce};
///
/// /// The range of the lanes' values.
/// ///
/// /// # Safety
/// /// All lanes of the warp reach the same call.
/// unsafe fn range<T: ReduceValue>(value: T) -> (T, T) {
///     // SAFETY: the caller's contract.
///     let of_lanes = |op| unsafe { warp_reduce(FULL_MASK, value, op) };
///     (of_lanes(WarpReductionOp::Min), of_lanes(WarpReductionOp::Max))
/// }
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     assert_eq!(unsafe { range(lane_id() as i32 - 16) }, (-16, 15));
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub trait ReduceValue: Copy {
    #[doc(hidden)]
    fn reduce(self, mask: u32, op: WarpReductionOp) -> Self;
}

impl ReduceValue for u32 {
    #[inline(always)]
    #[track_caller]
    fn reduce(self, mask: u32, op: WarpReductionOp) -> u32 {
        match op {
            WarpReductionOp::Add => arch::reduce_add(mask, self),
            WarpReductionOp::Min => arch::reduce_min_u32(mask, self),
            WarpReductionOp::Max => arch::reduce_max_u32(mask, self),
            WarpReductionOp::And => arch::reduce_and(mask, self),
            WarpReductionOp::Or => arch::reduce_or(mask, self),
            WarpReductionOp::Xor => arch::reduce_xor(mask, self),
        }
    }
}

impl ReduceValue for i32 {
    #[inline(always)]
    #[track_caller]
    fn reduce(self, mask: u32, op: WarpReductionOp) -> i32 {
        match op {
            WarpReductionOp::Min => arch::reduce_min_i32(mask, self),
            WarpReductionOp::Max => arch::reduce_max_i32(mask, self),
            // The rest do not depend on the sign.
            _ => self.cast_unsigned().reduce(mask, op).cast_signed(),
        }
    }
}

/// How a shuffle finds the lane that it reads.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpShuffleMode {
    /// So many below.
    Up,
    /// So many above.
    Down,
    /// By its index.
    Idx,
    /// By the bits in which its index differs.
    Xor,
}

/// Rust-CUDA's name, for bounds of generic functions.
///
/// ```
/// use cuda_std::warp::*;
///
/// /// 32 times the value that all lanes hold, if they do; else that of lane 0.
/// ///
/// /// # Safety
/// /// All lanes of the warp reach the same call.
/// unsafe fn sum_or_first<T: WarpMatchValue + WarpReduceValue + WarpShuffleValue>(value: T) -> T {
///     // SAFETY: the caller's contract; all lanes take the same branch.
///     unsafe {
///         match warp_match_all(FULL_MASK, value) {
///             Some(mask) => warp_reduce(mask, value, WarpReductionOp::Add),
///             None => warp_shuffle_idx(FULL_MASK, value, 0, 32).0,
///         }
///     }
/// }
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     let [same, different] = unsafe { [sum_or_first(2), sum_or_first(lane_id() + 7)] };
///     assert_eq!([same, different], [64, 7]);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub use {
    MatchValue as WarpMatchValue, ReduceValue as WarpReduceValue, ShuffleValue as WarpShuffleValue,
};

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident: $source:ident($n:ident), $read:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// `width` is 1, 2, 4, 8, 16 or 32, and divides the warp into segments. The second argument
        /// counts modulo 32. The flag says whether the source was in the segment; where it was not,
        /// the value is the lane's own.
        ///
        /// ```
        #[doc = concat!("use cuda_std::warp::{FULL_MASK, lane_id, ", stringify!($name), "};")]
        ///
        /// let kernel = || {
        ///     // SAFETY: all lanes come here.
        #[doc = concat!("    let (value, is_in_segment) = unsafe { ", stringify!($name), "(FULL_MASK, lane_id(), 4, 16) };")]
        ///     let lane = lane_id();
        #[doc = concat!("    let (read, expected) = ", $read, ";")]
        ///     assert_eq!(is_in_segment, expected);
        ///     assert_eq!(value, if expected { read } else { lane });
        /// };
        /// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
        /// # simt::Launch::new(shape).run(&kernel)?;
        /// # Ok::<(), simt::LaunchError>(())
        /// ```
        ///
        /// # Safety
        /// `mask` keeps [the rule of this module](self), and names the source lane.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $name<T: ShuffleValue>(
            mask: u32,
            value: T,
            $n: u32,
            width: u32,
        ) -> (T, bool) {
            shuffle::<T>(WarpShuffleMode::$source, mask, value, $n, width)
        }
    )*};
}

shuffles! {
    /// The value of the lane `delta` above.
    warp_shuffle_down: Down(delta), "(lane + 4, lane % 16 < 12)";
    /// The value of the lane `delta` below.
    warp_shuffle_up: Up(delta), "(lane.wrapping_sub(4), lane % 16 >= 4)";
    /// The value of the lane `index` of the segment.
    warp_shuffle_idx: Idx(index), "(lane / 16 * 16 + 4, true)";
    /// The value of the lane whose index differs in the bits of `bits`. It may lie in a segment
    /// before the lane's own.
    warp_shuffle_xor: Xor(bits), "(lane ^ 4, true)";
}

/// A value that shuffles carry: integers of 8 to 128 bits, `f16`, `bf16`, `f32`, `f64`, and pairs of such values.
/// Each 32 bits take one instruction.
///
/// ```
/// use cuda_std::warp::{FULL_MASK, ShuffleValue, lane_id, warp_shuffle_idx};
///
/// /// The value of lane 0.
/// ///
/// /// # Safety
/// /// All lanes of the warp reach the same call.
/// unsafe fn broadcast<T: ShuffleValue>(value: T) -> T {
///     // SAFETY: the caller's contract.
///     unsafe { warp_shuffle_idx(FULL_MASK, value, 0, 32) }.0
/// }
///
/// let kernel = || {
///     // SAFETY: all lanes come here.
///     assert_eq!(unsafe { broadcast(f64::from(lane_id()) + 0.5) }, 0.5);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub trait ShuffleValue: Copy {
    #[doc(hidden)]
    fn shuffle(self, word: impl Fn(u32) -> u32) -> Self;
}

macro_rules! shuffle_values {
    ($($ty:ty: |$value:ident, $word:ident| $body:expr;)*) => {$(
        impl ShuffleValue for $ty {
            #[inline(always)]
            fn shuffle(self, $word: impl Fn(u32) -> u32) -> Self {
                let $value = self;
                $body
            }
        }
    )*};
}

shuffle_values! {
    u8: |value, word| word(value.into()) as u8;
    u16: |value, word| word(value.into()) as u16;
    u32: |value, word| word(value);
    u64: |value, word| {
        u64::from(word(value as u32)) | u64::from(word((value >> 32) as u32)) << 32
    };
    u128: |value, word| {
        let (low, high) = (value as u64, (value >> 64) as u64);
        u128::from(low.shuffle(&word)) | u128::from(high.shuffle(&word)) << 64
    };
    i8: |value, word| value.cast_unsigned().shuffle(word).cast_signed();
    i16: |value, word| value.cast_unsigned().shuffle(word).cast_signed();
    i32: |value, word| value.cast_unsigned().shuffle(word).cast_signed();
    i64: |value, word| value.cast_unsigned().shuffle(word).cast_signed();
    i128: |value, word| value.cast_unsigned().shuffle(word).cast_signed();
    usize: |value, word| (value as u64).shuffle(word) as usize;
    f32: |value, word| f32::from_bits(value.to_bits().shuffle(word));
    f64: |value, word| f64::from_bits(value.to_bits().shuffle(word));
    half::f16: |value, word| half::f16::from_bits(value.to_bits().shuffle(word));
    half::bf16: |value, word| half::bf16::from_bits(value.to_bits().shuffle(word));
}

/// A pair: the words of the one behind those of the other.
impl<A: ShuffleValue, B: ShuffleValue> ShuffleValue for (A, B) {
    #[inline(always)]
    fn shuffle(self, word: impl Fn(u32) -> u32) -> Self {
        (self.0.shuffle(&word), self.1.shuffle(&word))
    }
}

/// The rule of PTX's `shfl.sync` (PTX ISA, "Data Movement and Conversion Instructions").
#[inline(always)]
#[track_caller]
fn shuffle<T: ShuffleValue>(
    source: WarpShuffleMode,
    mask: u32,
    value: T,
    n: u32,
    width: u32,
) -> (T, bool) {
    // The hardware looks at no more bits.
    let n = n & (WARP_SIZE - 1);
    let lane = arch::lane_id();
    let segment = lane & !(width - 1);
    let last = segment + width - 1;
    // What the hardware gets: the segments' mask in bits 8 to 12, the limit in bits 0 to 4.
    let segments = (WARP_SIZE - width) << 8;
    let (clamp, in_segment) = match source {
        WarpShuffleMode::Down => (segments | 31, lane + n <= last),
        WarpShuffleMode::Up => (segments, lane >= segment + n),
        WarpShuffleMode::Idx => (segments | 31, (segment | (n & (width - 1))) <= last),
        WarpShuffleMode::Xor => (segments | 31, lane ^ n <= last),
    };
    let place = Location::caller();
    let shuffled = value.shuffle(|word| arch::shuffle(source, mask, word, n, clamp, place));
    (shuffled, in_segment)
}
