//! The threads of a block.

use super::scratch::Scratch;
use super::{Element, Number, Scan, Warp};
use crate::thread::{block_threads, sync_threads, sync_threads_or};
use crate::warp::{WARP_SIZE, WarpReductionOp};

/// The block of the thread that runs.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    thread: u32,
    threads: u32,
    warp: Warp,
}

impl Block {
    #[inline(always)]
    pub(super) fn current() -> Block {
        Block {
            thread: super::thread_of_block(),
            threads: block_threads(),
            warp: Warp::current(),
        }
    }

    /// Waits for all threads of the block: [`sync_threads`].
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) {
        sync_threads();
    }

    /// The values of all threads, combined: of each warp as [`Warp::reduce`] does, and then of the warps. Every thread
    /// has the result.
    #[inline(always)]
    #[track_caller]
    pub fn reduce<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        self.reduce_first(value, self.threads, op)
    }

    /// As [`Block::reduce`], of the first `count` threads, of which there is one at least.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_first<T: Element>(
        self,
        value: T,
        count: u32,
        op: impl Fn(T, T) -> T,
    ) -> T {
        let lanes = count.saturating_sub(self.first_of_warp()).min(WARP_SIZE);
        let of_warp = self.warp.reduce_first(value, lanes, &op);
        self.reduce_warps(of_warp, count.div_ceil(WARP_SIZE), op)
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_commutative<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        let of_warp = self.warp.reduce_commutative(value, &op);
        self.reduce_warps(of_warp, self.warps(), op)
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_number<T: Number>(
        self,
        value: T,
        at_once: WarpReductionOp,
        op: impl Fn(T, T) -> T,
    ) -> T {
        let of_warp = self.warp.reduce_number(value, at_once, &op);
        self.reduce_warps(of_warp, self.warps(), op)
    }

    /// Combines what the first lanes of the first `warps` warps hold. The first warp does, which has as many lanes.
    #[inline(always)]
    #[track_caller]
    fn reduce_warps<T: Element>(self, of_warp: T, warps: u32, op: impl Fn(T, T) -> T) -> T {
        let (brought, made) = (Scratch::<T>::brought(), Scratch::<T>::made());
        let (warp, lane) = (self.index_of_warp(), self.warp.rank());
        if lane == 0 {
            brought.write(warp, of_warp);
        }
        sync_threads();
        if warp == 0 {
            let value = if lane < warps {
                brought.read(lane, of_warp)
            } else {
                of_warp
            };
            let result = self
                .warp
                .reduce_first(value, warps.min(self.warp.len()), op);
            if lane == 0 {
                made.write(0, result);
            }
        }
        sync_threads();
        made.read(0, of_warp)
    }

    /// Combines what the threads before this one brought, this one included, and all of them: of each warp as
    /// [`Warp::scan`] does, and then of the warps.
    #[inline(always)]
    #[track_caller]
    pub fn scan<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> Scan<T> {
        let (brought, made) = (Scratch::<T>::brought(), Scratch::<T>::made());
        let (warp, lane) = (self.index_of_warp(), self.warp.rank());
        let through = self.warp.scan_lanes(value, &op);
        let before = self.warp.previous(through);
        if lane == self.warp.len() - 1 {
            brought.write(warp, through);
        }
        sync_threads();
        if warp == 0 {
            // A block of several warps has 32 lanes in the first.
            let value = if lane < self.warps() {
                brought.read(lane, value)
            } else {
                value
            };
            let result = self.warp.scan_lanes(value, &op);
            if lane < self.warps() {
                made.write(lane, result);
            }
        }
        sync_threads();
        let total = made.read(self.warps() - 1, value);
        if warp == 0 {
            return Scan {
                before,
                through,
                total,
            };
        }
        let warps_before = made.read(warp - 1, value);
        let behind_them = |value| op(warps_before, value);
        Scan {
            before: Some(before.map_or(warps_before, behind_them)),
            through: behind_them(through),
            total,
        }
    }

    /// The value that the first thread brought.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of_first<T: Element>(self, value: T) -> T {
        let made = Scratch::<T>::made();
        // Those that still read what an exchange before has made.
        sync_threads();
        if self.thread == 0 {
            made.write(0, value);
        }
        sync_threads();
        made.read(0, value)
    }

    /// Whether the predicate holds in any thread.
    #[inline(always)]
    #[track_caller]
    pub(super) fn any(self, predicate: bool) -> bool {
        sync_threads_or(predicate.into()) != 0
    }

    #[inline(always)]
    fn rank_and_len(self) -> (u32, u32) {
        (self.thread, self.threads)
    }

    #[inline(always)]
    fn first_of_warp(self) -> u32 {
        self.thread & !(WARP_SIZE - 1)
    }

    #[inline(always)]
    fn index_of_warp(self) -> u32 {
        self.thread / WARP_SIZE
    }

    #[inline(always)]
    fn warps(self) -> u32 {
        self.threads.div_ceil(WARP_SIZE)
    }
}

super::of_group!(
    Block,
    Places,
    "block",
    "thread",
    "The methods that take all of them at once, such as `fold`, `for_each` and `sum`, wait for the loads of several \
     together. A `for` loop waits for each."
);
