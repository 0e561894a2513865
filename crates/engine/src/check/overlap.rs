//! Stores of one instruction by lanes of one warp to the same bytes.
//!
//! One of the lanes writes, and which is not said: with equal values that is one store, and only
//! different ones race. The store is remembered twice, so that what follows is judged against each of
//! the lanes: as the last write, by the first lane, and as an access since, by all of them.

use std::fmt::Debug;

use super::cell::{Before, Wrong};
use super::finding::Why;
use super::line::{Fast, STRONG, WRITE};
use super::shadow::Cells;
use super::warp::{Ground, Numbered, Trouble};
use crate::memory::Lanes;

/// What the lanes of a store write.
pub trait Stored: Debug {
    /// A lane's bytes, those of its address first.
    fn bytes(&self, lane: u32) -> [u8; 16];
}

impl Ground<'_> {
    /// Weak stores, lanes of which may have equal addresses.
    #[cold]
    pub(super) fn overlapping(&mut self, access: &Numbered<'_>, fast: &Fast, stored: &dyn Stored) {
        let bytes = u64::from(access.lanes.bytes);
        for (lane, address) in access.lanes.each() {
            let lanes = of_address(access.lanes, address);
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
            self.race.get_or_insert(Trouble {
                lane,
                address: at,
                before: Some(Before {
                    epoch: fast.now,
                    thread: fast.base | leader,
                    site: access.site,
                    is_exact: true,
                    wrong: Wrong::Race(Why::Weak),
                }),
            });
        } else if self.race.is_none() {
            let who = fast.base | leader | fast.site;
            let state = [fast.now, who, fast.now, who | STRONG, lanes];
            self.shadow.cells(at, bytes).line.set_state(first, state);
        }
    }
}

impl Numbered<'_> {
    /// What lanes store that may have equal addresses.
    #[inline]
    pub(super) fn overlaps(&self) -> Option<&dyn Stored> {
        let stored = self.stored.filter(|_| self.kind() == WRITE)?;
        self.lanes.may_meet().then_some(stored)
    }
}

/// The lanes of an address. All are aligned to their bytes: others have none of these.
fn of_address(lanes: &Lanes<'_>, address: u64) -> u32 {
    let of = lanes.each().filter(|(_, its)| *its == address);
    of.fold(0, |all, (lane, _)| all | 1 << lane)
}
