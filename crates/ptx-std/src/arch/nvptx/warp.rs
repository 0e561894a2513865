//! What threads do together: barriers, fences, votes, shuffles, matches, reductions.

use core::panic::Location;

use crate::warp::Source;

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
    source: Source,
    mask: u32,
    value: u32,
    n: u32,
    clamp: u32,
    _place: &'static Location<'static>,
) -> u32 {
    match source {
        Source::Down => shuffle_down(mask, value, n, clamp),
        Source::Up => shuffle_up(mask, value, n, clamp),
        Source::Index => shuffle_index(mask, value, n, clamp),
        Source::Xor => shuffle_xor(mask, value, n, clamp),
    }
}

macro_rules! reductions {
    ($($name:ident = $redux:ident: $ty:ty;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
            $redux(value, mask)
        }
    )*};
}

reductions! {
    reduce_add = redux_add: u32;
    reduce_min_u32 = redux_min_u32: u32;
    reduce_max_u32 = redux_max_u32: u32;
    reduce_min_i32 = redux_min_i32: i32;
    reduce_max_i32 = redux_max_i32: i32;
    reduce_and = redux_and: u32;
    reduce_or = redux_or: u32;
    reduce_xor = redux_xor: u32;
}
