//! Reads by a whole warp, recorded at once: of cells that other warps have read since they were written, where all lanes
//! have found the same.

use super::clock::Clock;
use super::epochs::Epochs;
use super::line::{CELLS, Fast, LANE, Line, SET, STRONG, all, is_written_for, pick};
use super::sets::{DEPTH, Entry, SAME_LANE, Sets};

/// The accesses to a cell since it was written: a line's `re`, `rt` and `rm`.
#[derive(Clone, Copy)]
struct Since {
    epoch: u32,
    who: u32,
    mask: u32,
}

impl Since {
    fn of(line: &Line, cell: usize) -> Since {
        Since {
            epoch: line.re[cell],
            who: line.rt[cell],
            mask: line.rm[cell],
        }
    }
}

/// The lane that accesses a cell: its bit, its thread, and all ones if it is active.
struct Lane {
    bit: u32,
    me: u32,
    active: u32,
}

impl Lane {
    fn of(cell: usize, fast: &Fast, first: i32, shift: u32) -> Lane {
        let lane = ((cell as i32 - first) >> shift) as u32;
        let bit = 1 << (lane & 31);
        Lane {
            bit,
            me: fast.base | (lane & 31),
            active: all(lane < 32) & all(fast.mask & bit != 0),
        }
    }
}

/// The state with which the reads are judged.
pub(super) struct WarpReaders<'a> {
    pub(super) world: &'a Epochs,
    pub(super) clock: &'a Clock,
    pub(super) sets: &'a mut Sets,
    pub(super) fast: &'a Fast,
}

impl WarpReaders<'_> {
    /// Reads by lanes with 2^`shift` cells each, the first of lane 0 at cell `first`, which may lie outside:
    /// whether they are in order as far as can be told for all of them at once, and remembered.
    pub(super) fn read_row(&mut self, line: &mut Line, (first, shift): (i32, u32)) -> bool {
        let fast = self.fast;
        let lanes: [Lane; CELLS] = std::array::from_fn(|cell| Lane::of(cell, fast, first, shift));
        let Some(some) = lanes.iter().position(|lane| lane.active != 0) else {
            return true;
        };
        let common = Since::of(line, some);
        let is_set = common.who & SET != 0;
        let mut off = 0;
        for (cell, lane) in lanes.iter().enumerate() {
            let who = common.who & !LANE | lane.me & LANE;
            let mask = if is_set { common.mask } else { lane.bit };
            let differs =
                (line.re[cell] ^ common.epoch) | (line.rt[cell] ^ who) | (line.rm[cell] ^ mask);
            off |= lane.active & (differs | !is_written_for(line, cell, fast, lane.me));
        }
        if off != 0 {
            return false;
        }
        let by_lane = |epoch, who: u32| Entry {
            epoch,
            who: who & !LANE | SAME_LANE,
            mask: 0,
        };
        let before = by_lane(common.epoch, common.who);
        let own = by_lane(fast.now, fast.base | fast.site);
        let Some(set) = self.with(common, before, own) else {
            return false;
        };
        for (cell, lane) in lanes.iter().enumerate() {
            let epoch = common.epoch.max(fast.now);
            line.re[cell] = pick(lane.active, epoch, line.re[cell]);
            line.rt[cell] = pick(lane.active, SET | lane.me | fast.site, line.rt[cell]);
            line.rm[cell] = pick(lane.active, set, line.rm[cell]);
        }
        true
    }

    /// A read of one cell by all active lanes.
    pub(super) fn read_one(&mut self, line: &mut Line, cell: usize) -> bool {
        let fast = self.fast;
        // By no thread: what one lane did is before the others only if all have met.
        if is_written_for(line, cell, fast, u32::MAX) == 0 {
            return false;
        }
        let common = Since::of(line, cell);
        let before = Entry {
            epoch: common.epoch,
            who: common.who,
            mask: common.mask,
        };
        let own = Entry {
            epoch: fast.now,
            who: fast.base | fast.mask.trailing_zeros() | fast.site,
            mask: fast.mask,
        };
        let Some(set) = self.with(common, before, own) else {
            return false;
        };
        line.re[cell] = common.epoch.max(fast.now);
        line.rt[cell] = SET | own.who;
        line.rm[cell] = set;
        true
    }

    /// The set of a cell's accesses with the warp's own: what there is as a set, or `before` if it is none
    /// yet. None where it is to be looked at closely.
    fn with(&mut self, since: Since, before: Entry, own: Entry) -> Option<u32> {
        let weak = None;
        if since.who & STRONG != 0 || since.epoch < self.fast.floor {
            return None;
        }
        if since.who & SET == 0 {
            if self.clock.is_before_barrier(self.world, since.epoch) {
                return None;
            }
            let set = self.sets.with(0, before, weak);
            return Some(self.sets.with(set, own, weak));
        }
        let (sets, fast, set) = (&mut *self.sets, self.fast, since.mask);
        let depends_on_lane = !is_by_lane(own.who) && sets.is_by_lane(set);
        let is_known = sets.has(since.epoch) && !sets.has_strong(set) && sets.depth(set) < DEPTH;
        if depends_on_lane || !is_known {
            return None;
        }
        // What is before the read needs no more be remembered, as far as the block's own goes.
        let (mut own_depth, mut some_are_before) = (0, false);
        for entry in newest(sets, set).take_while(|it| fast.is_own(it.epoch)) {
            if fast.is_of_warp(entry.who) && entry.epoch == fast.now {
                let has_more = is_by_lane(entry.who ^ own.who) || own.mask & !entry.mask != 0;
                return (!has_more).then_some(set);
            }
            own_depth += 1;
            some_are_before |= is_before(&entry, &own, fast);
        }
        if !some_are_before {
            return Some(sets.with(set, own, weak));
        }
        let all: Vec<Entry> = newest(sets, set).take(own_depth).collect();
        let others = (0..own_depth).fold(set, |set, _| sets.top(set).map_or(0, |(_, rest)| rest));
        let kept = all.iter().rev().filter(|it| !is_before(it, &own, fast));
        let kept = kept.fold(others, |set, entry| sets.with(set, *entry, weak));
        Some(sets.with(kept, own, weak))
    }
}

fn is_by_lane(who: u32) -> bool {
    who & SAME_LANE != 0
}

/// The entries of a set as they are written, the newest first.
fn newest(sets: &Sets, set: u32) -> impl Iterator<Item = Entry> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let (entry, parent) = sets.top(rest)?;
        rest = parent;
        Some(entry)
    })
}

/// Whether a read of the same block is before another, as far as comparisons tell.
fn is_before(entry: &Entry, own: &Entry, fast: &Fast) -> bool {
    let since = entry.epoch.wrapping_sub(fast.run);
    let are_same_threads = is_by_lane(entry.who & own.who);
    since < fast.barrier_span
        || fast.is_of_warp(entry.who) && (since < fast.sync_span || are_same_threads)
}
