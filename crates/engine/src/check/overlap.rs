//! Stores of one instruction by lanes of one warp to the same bytes.
//!
//! One of the lanes writes, and which is not said: with equal values that is one store, and only
//! different ones race. Lanes that have parted come one after the other: what is there by then is what the others have
//! stored. The store is remembered twice, so that what follows is judged against each of
//! the lanes: as the last write, by the first lane, and as an access since, by all of them.

use std::fmt::Debug;

use super::benign::Harmless;
use super::cell::{Before, Judge, Touch, Wrong, entries};
use super::line::{Fast, LANE, Line, SITE, SITE_SHIFT, STRONG, WARP, WRITE};
use super::sets::{Entry, Sets};
use super::shadow::Cells;
use super::warp::{Ground, Numbered, Trouble};
use crate::finding_kind::RaceReason;

/// The bytes that the lanes of a store write.
pub trait Stored: Debug {
    /// A lane's bytes, those of its address first.
    fn bytes(&self, lane: u32) -> [u8; 16];

    /// The bytes that are there now, where a lane stores.
    fn there(&self, lane: u32) -> [u8; 16];
}

impl Judge<'_> {
    /// Whether a store meets one of the same instruction by other lanes of its warp, which have come there before
    /// it: it is remembered with theirs then. That what is there is equal, is the caller's to know.
    pub(super) fn joins(&self, touch: &Touch, before: &Before) -> bool {
        before.kind == Wrong::Race(RaceReason::Weak)
            && before.site == touch.site
            && (before.thread ^ touch.thread) & WARP == 0
            && self.clock.is_own(self.world, before.epoch)
    }

    /// Remembers such a store. Gives false, and nothing is changed, where another warp has been there since.
    pub(super) fn join(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &Sets,
        (touch, before): (&Touch, &Before),
    ) -> bool {
        let since = entries(line, cell, sets, self.floor);
        let is_own = |entry: &Entry| {
            (entry.who ^ touch.thread) & WARP == 0 && self.clock.is_own(self.world, entry.epoch)
        };
        if !since.iter().all(is_own) {
            return false;
        }
        let (now, who) = (self.clock.now, touch.thread | touch.site << SITE_SHIFT);
        let lanes = since
            .iter()
            .filter(|entry| (entry.who ^ who) & SITE == 0)
            .fold(0, |lanes, entry| lanes | entry.mask)
            | 1 << (before.thread & LANE)
            | 1 << (line.wt[cell] & LANE)
            | 1 << (touch.thread & LANE);
        line.set_state(cell, [now, who, now, who | STRONG, lanes]);
        true
    }
}

impl Ground<'_> {
    /// Weak stores, lanes of which may have equal addresses.
    #[cold]
    pub(super) fn overlapping(&mut self, access: &Numbered<'_>, fast: &Fast, stored: &dyn Stored) {
        let bytes = u64::from(access.lanes.bytes);
        for (lane, address) in access.lanes.each() {
            // All are aligned to their bytes: those of other addresses have none of these.
            let lanes = access.lanes.at(address);
            if lanes == 1 << lane {
                self.one(access, fast, lane, address, bytes);
            } else if lanes.trailing_zeros() == lane {
                let cell = bytes / self.shadow.cells(address, bytes).count as u64;
                for at in (address..address + bytes).step_by(cell as usize) {
                    self.together(access, fast, stored, (at, cell, lanes));
                }
            }
        }
    }

    /// A cell that several lanes store to at once: each is judged against what was before all of them.
    fn together(
        &mut self,
        access: &Numbered<'_>,
        fast: &Fast,
        stored: &dyn Stored,
        (at, bytes, lanes): (u64, u64, u32),
    ) {
        let Cells { line, first, .. } = self.shadow.cells(at, bytes);
        let before = line.state(first);
        for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
            self.shadow.cells(at, bytes).line.set_state(first, before);
            self.one(access, fast, lane, at, bytes);
        }
        let leader = lanes.trailing_zeros();
        let value = |lane: u32| {
            let from = (at - access.lanes.addresses[lane as usize]) as usize;
            stored.bytes(lane)[from..from + bytes as usize].to_vec()
        };
        let expected = value(leader);
        let mut others = (leader + 1..32).filter(|lane| lanes >> lane & 1 == 1);
        if let Some(lane) = others.find(|lane| value(*lane) != expected) {
            self.found.race.get_or_insert(Trouble {
                lane,
                address: at,
                before: Some(Before {
                    epoch: fast.now,
                    thread: fast.base | leader,
                    site: access.site,
                    is_exact: true,
                    kind: Wrong::Race(RaceReason::Weak),
                }),
            });
        } else if self.found.race.is_none() {
            let who = fast.base | leader | fast.site;
            let judge = Judge {
                world: self.world,
                clock: self.clock,
                sites: self.sites,
                floor: self.floor,
                unwritten: self.unwritten,
                initial: self.initial,
            };
            // Lanes that have come before, where the last has joined them; and other warps.
            let line = self.shadow.cells(at, bytes).line;
            let (own, others): (Vec<Entry>, Vec<Entry>) = judge
                .entries(line, first, self.sets)
                .into_iter()
                .filter(|it| it.who & STRONG != 0 && judge.is_plain_store(it))
                .partition(|it| (it.who ^ who) & (SITE | WARP) == 0);
            let lanes = own.iter().fold(lanes, |lanes, it| lanes | it.mask);
            line.set_state(first, [fast.now, who, fast.now, who | STRONG, lanes]);
            if !others.is_empty() {
                judge.store_together(line, first, self.sets, (others, (who, lanes)));
            }
        }
    }
}

impl Numbered<'_> {
    /// Why so many bytes from an address on may be written by a lane out of order: they are there already, or end an mbarrier.
    pub(super) fn harmless(&self, lane: u32, at: u64, bytes: usize) -> Option<Harmless> {
        let Some(stored) = self.stored else {
            return self.is_inval.then_some(Harmless::Invalidation);
        };
        let from = (at - self.lanes.addresses[lane as usize]) as usize;
        let part = from..from + bytes;
        let is_there = stored.bytes(lane)[part.clone()] == stored.there(lane)[part];
        is_there.then_some(Harmless::EqualStore)
    }

    /// Returns the values of a store whose lanes may have equal addresses.
    #[inline]
    pub(super) fn overlaps(&self) -> Option<&dyn Stored> {
        let stored = self.stored.filter(|_| self.kind() == WRITE)?;
        self.lanes.may_meet().then_some(stored)
    }
}
