//! Operations of threads together: barriers, fences, votes, shuffles, matches, reductions.

use core::ops::{BitAnd, BitOr, BitXor};
use core::panic::Location;

use crate::warp::WarpShuffleMode;

macro_rules! intrinsics {
    ($($link:literal $name:ident($($argument:ident: $ty:ty),*) $(-> $returned:ty)?;)*) => {
        #[allow(improper_ctypes)]
        mod llvm {
            unsafe extern "C" {$(
                #[link_name = $link]
                pub(super) fn $name($($argument: $ty),*) $(-> $returned)?;
            )*}
        }

        $(
            #[inline(always)]
            pub(crate) fn $name($($argument: $ty),*) $(-> $returned)? {
                // SAFETY: the instruction touches no memory of its own; its rule about the threads
                // that reach it is stated by the public function that calls this one.
                unsafe { llvm::$name($($argument),*) }
            }
        )*
    };
}

intrinsics! {
    "llvm.nvvm.barrier.cta.sync.aligned.all" barrier(id: u32);
    "llvm.nvvm.barrier.cta.red.popc.aligned.all" barrier_count(id: u32, predicate: bool) -> u32;
    "llvm.nvvm.barrier.cta.red.and.aligned.all" barrier_and(id: u32, predicate: bool) -> bool;
    "llvm.nvvm.barrier.cta.red.or.aligned.all" barrier_or(id: u32, predicate: bool) -> bool;
    "llvm.nvvm.membar.gl" device_fence();
    "llvm.nvvm.membar.sys" system_fence();
    "llvm.nvvm.nanosleep" nanosleep(nanoseconds: u32);
    "llvm.nvvm.activemask" activemask() -> u32;
    "llvm.nvvm.bar.warp.sync" sync_warp(mask: u32);
    "llvm.nvvm.vote.all.sync" vote_all(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.any.sync" vote_any(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.ballot.sync" vote_ballot(mask: u32, predicate: bool) -> u32;
    "llvm.nvvm.match.any.sync.i32" match_any_32(mask: u32, value: u32) -> u32;
    "llvm.nvvm.match.any.sync.i64" match_any_64(mask: u32, value: u64) -> u32;
    "llvm.nvvm.shfl.sync.down.i32" shuffle_down(mask: u32, value: u32, n: u32, clamp: u32) -> u32;
    "llvm.nvvm.shfl.sync.up.i32" shuffle_up(mask: u32, value: u32, n: u32, clamp: u32) -> u32;
    "llvm.nvvm.shfl.sync.idx.i32" shuffle_index(mask: u32, value: u32, n: u32, clamp: u32) -> u32;
    "llvm.nvvm.shfl.sync.bfly.i32" shuffle_xor(mask: u32, value: u32, n: u32, clamp: u32) -> u32;
    "llvm.nvvm.redux.sync.add" redux_add(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.umin" redux_min_u32(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.umax" redux_max_u32(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.min" redux_min_i32(value: i32, mask: u32) -> i32;
    "llvm.nvvm.redux.sync.max" redux_max_i32(value: i32, mask: u32) -> i32;
    "llvm.nvvm.redux.sync.and" redux_and(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.or" redux_or(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.xor" redux_xor(value: u32, mask: u32) -> u32;
}

#[inline(always)]
pub(crate) fn sync_threads() {
    barrier(0);
}

#[inline(always)]
pub(crate) fn sync_threads_count(predicate: bool) -> u32 {
    barrier_count(0, predicate)
}

#[inline(always)]
pub(crate) fn sync_threads_and(predicate: bool) -> bool {
    barrier_and(0, predicate)
}

#[inline(always)]
pub(crate) fn sync_threads_or(predicate: bool) -> bool {
    barrier_or(0, predicate)
}

#[inline(always)]
pub(crate) fn shuffle(
    source: WarpShuffleMode,
    mask: u32,
    value: u32,
    n: u32,
    clamp: u32,
    _place: &'static Location<'static>,
) -> u32 {
    match source {
        WarpShuffleMode::Down => shuffle_down(mask, value, n, clamp),
        WarpShuffleMode::Up => shuffle_up(mask, value, n, clamp),
        WarpShuffleMode::Idx => shuffle_index(mask, value, n, clamp),
        WarpShuffleMode::Xor => shuffle_xor(mask, value, n, clamp),
    }
}

macro_rules! reductions {
    ($($name:ident = $redux:ident $combine:expr, $ty:ty;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
            if cfg!(target_feature = "compute_80") {
                return $redux(value, mask);
            }
            by_shuffles(mask, value as u32, |a, b| $combine(a as $ty, b as $ty) as u32) as $ty
        }
    )*};
}

reductions! {
    reduce_add = redux_add u32::wrapping_add, u32;
    reduce_min_u32 = redux_min_u32 Ord::min, u32;
    reduce_max_u32 = redux_max_u32 Ord::max, u32;
    reduce_min_i32 = redux_min_i32 Ord::min, i32;
    reduce_max_i32 = redux_max_i32 Ord::max, i32;
    reduce_and = redux_and BitAnd::bitand, u32;
    reduce_or = redux_or BitOr::bitor, u32;
    reduce_xor = redux_xor BitXor::bitxor, u32;
}

/// Computes what `redux` does, which came with sm_80: the values of the mask's lanes, one after the other, or
/// in five steps where all are there.
#[inline(always)]
fn by_shuffles(mask: u32, value: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    const CLAMP: u32 = 31;
    // All lanes of the mask have the same mask, so none goes another way.
    if mask == u32::MAX {
        let halves = [16, 8, 4, 2, 1].into_iter();
        return halves.fold(value, |value, other| {
            combine(value, shuffle_xor(mask, value, other, CLAMP))
        });
    }
    let first = mask.trailing_zeros();
    let mut result = shuffle_index(mask, value, first, CLAMP);
    let mut rest = mask & mask.wrapping_sub(1);
    while rest != 0 {
        let other = shuffle_index(mask, value, rest.trailing_zeros(), CLAMP);
        result = combine(result, other);
        rest &= rest - 1;
    }
    result
}
