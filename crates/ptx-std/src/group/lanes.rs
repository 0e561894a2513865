//! The lanes of a warp.

use super::{Element, Number, Scan};
use crate::arch;
use crate::warp::{
    FULL_MASK, WARP_SIZE, WarpReductionOp, lane_id, sync_warp, warp_shuffle_idx, warp_shuffle_up,
    warp_shuffle_xor, warp_vote_all, warp_vote_any, warp_vote_ballot,
};

/// The warp of the thread that runs, with all lanes that the block has in it.
#[derive(Clone, Copy, Debug)]
pub struct Warp {
    lane: u32,
    /// All of them, but for the last warp of a block whose size is no multiple of 32.
    lanes: u32,
}

impl Warp {
    #[inline(always)]
    pub(super) fn current() -> Warp {
        let threads = crate::thread::block_threads();
        // Asked for first, because it is the same for all threads, and known where the block's size is.
        let lanes = if threads.is_multiple_of(WARP_SIZE) {
            WARP_SIZE
        } else {
            let first = super::thread_of_block() & !(WARP_SIZE - 1);
            (threads - first).min(WARP_SIZE)
        };
        Warp {
            lane: lane_id(),
            lanes,
        }
    }

    /// The lanes, bit n for lane n.
    #[inline(always)]
    pub fn mask(self) -> u32 {
        FULL_MASK >> (WARP_SIZE - self.lanes)
    }

    /// Waits for all lanes, and makes what they wrote to memory before it visible to them after it.
    #[inline(always)]
    #[track_caller]
    pub fn sync(self) {
        // SAFETY: the mask has the lane itself, and no lane that the warp has not: the others come or are waited for.
        unsafe { sync_warp(self.mask()) };
    }

    /// The value that `lane` brought; of a lane that the warp has not, the caller's own.
    #[inline(always)]
    #[track_caller]
    pub fn broadcast<T: Element>(self, value: T, lane: u32) -> T {
        let source = if lane < self.lanes { lane } else { self.lane };
        // SAFETY: as in `sync`; the source is one of the mask's lanes.
        unsafe { warp_shuffle_idx(self.mask(), value, source, WARP_SIZE) }.0
    }

    /// The lanes in which the predicate holds, bit n for lane n.
    #[inline(always)]
    #[track_caller]
    pub fn ballot(self, predicate: bool) -> u32 {
        // SAFETY: as in `sync`.
        unsafe { warp_vote_ballot(self.mask(), predicate) }
    }

    /// Whether the predicate holds in all lanes.
    #[inline(always)]
    #[track_caller]
    pub fn all(self, predicate: bool) -> bool {
        // SAFETY: as in `sync`.
        unsafe { warp_vote_all(self.mask(), predicate) }
    }

    /// Whether the predicate holds in any lane.
    #[inline(always)]
    #[track_caller]
    pub fn any(self, predicate: bool) -> bool {
        // SAFETY: as in `sync`.
        unsafe { warp_vote_any(self.mask(), predicate) }
    }

    /// The values of all lanes, combined: neighbours first, then neighbouring pairs, and so on, as in [the
    /// module's drawing](super#order). Every lane has the result.
    #[inline(always)]
    #[track_caller]
    pub fn reduce<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        self.broadcast(self.reduce_first(value, self.lanes, op), 0)
    }

    /// The combined values of the first `count` lanes, which the warp has, in lane 0.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_first<T: Element>(
        self,
        value: T,
        count: u32,
        op: impl Fn(T, T) -> T,
    ) -> T {
        // Two registers for each of five steps would be held through the loop that this is in.
        let count = arch::not_before(count);
        let step = |value: T, delta: u32| {
            let is_there = self.lane + delta < count;
            let source = self.lane + delta * u32::from(is_there);
            // SAFETY: as in `sync`; the lanes before `count` are the mask's, as is the lane itself.
            let (other, _) = unsafe { warp_shuffle_idx(self.mask(), value, source, WARP_SIZE) };
            if is_there { op(value, other) } else { value }
        };
        five_steps(value, step)
    }

    /// As [`Warp::reduce`], of an operation whose operands may be exchanged: in a whole warp each lane works out the
    /// same, and nothing has to be broadcast.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_commutative<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        if self.lanes < WARP_SIZE {
            return self.reduce(value, op);
        }
        five_steps(value, |value, bits| {
            // SAFETY: all lanes are there.
            let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, value, bits, WARP_SIZE) };
            op(value, other)
        })
    }

    /// As [`Warp::reduce`], of numbers: by one instruction where the hardware has it.
    #[inline(always)]
    #[track_caller]
    pub(super) fn reduce_number<T: Number>(
        self,
        value: T,
        at_once: WarpReductionOp,
        op: impl Fn(T, T) -> T,
    ) -> T {
        // SAFETY: as in `sync`.
        let result = unsafe { value.at_once(self.mask(), at_once) };
        match result {
            Some(result) => result,
            None => self.reduce_commutative(value, op),
        }
    }

    /// Combines what the lanes before this one brought, this one included, and all of them, from the left.
    #[inline(always)]
    #[track_caller]
    pub fn scan<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> Scan<T> {
        let through = self.scan_lanes(value, op);
        Scan {
            before: self.previous(through),
            through,
            total: self.broadcast(through, self.lanes - 1),
        }
    }

    /// The value of the lane before this one.
    #[inline(always)]
    #[track_caller]
    pub(super) fn previous<T: Element>(self, value: T) -> Option<T> {
        // SAFETY: as in `sync`; a lane reads one of the mask's, and the first its own.
        let (before, has_before) = unsafe { warp_shuffle_up(self.mask(), value, 1, WARP_SIZE) };
        has_before.then_some(before)
    }

    /// Combines what the lanes up to this one brought.
    #[inline(always)]
    #[track_caller]
    pub(super) fn scan_lanes<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        five_steps(value, |value, delta| {
            // SAFETY: as in `sync`; a lane reads one of the mask's, and one that has none before it its own.
            let (other, is_there) =
                unsafe { warp_shuffle_up(self.mask(), value, delta, WARP_SIZE) };
            if is_there { op(other, value) } else { value }
        })
    }
}

/// Applies a step for each power of two below the size of a warp. Written out: the compiler would keep the loop where an
/// operation is long, and the distances in memory.
#[inline(always)]
fn five_steps<T>(value: T, step: impl Fn(T, u32) -> T) -> T {
    step(step(step(step(step(value, 1), 2), 4), 8), 16)
}

super::of_group!(
    Warp,
    LanePlaces,
    "warp",
    "lane",
    "The compiler unrolls a loop over them, which then waits for the loads of several turns together."
);

impl Warp {
    #[inline(always)]
    fn rank_and_len(self) -> (u32, u32) {
        (self.lane, self.lanes)
    }
}
