//! Findings that are benign: unordered writes that no value depends on. The launch goes on, and they are kept until it ends,
//! once for two instructions.
//!
//! Equal stores are remembered as an access since the last write, one entry for each warp: what follows is judged against all of
//! them, as whichever comes last may be the one that wrote.

use super::access::{AccessKind, Accessors, LaunchId, Strength};
use super::cell::{Before, Judge, Touch, Wrong};
use super::finding::Finding;
use super::line::{LANE, Line, NEVER, PENDING, SITE_SHIFT, STRONG, WARP};
use super::sets::{DEPTH, Entry, Sets};
use super::sites::Role;
use super::warp::{Numbered, Trouble};
use super::{Checked, Checker, live};
use crate::finding_kind::{RaceReason, Severity};
use crate::memory::{Lanes, Place};

/// A kind of write that may be unordered after some accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harmless {
    /// A plain store of what is there already.
    EqualStore,
    /// `mbarrier.inval`.
    Invalidation,
}

/// An act that a warp has left out between two instructions that reach the same register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Waited for the load of tensor memory that writes it.
    WaitForLoad,
    /// `wgmma.fence`, between a write and a product.
    ProductFence,
}

impl Harmless {
    /// The kind of finding where the write is unordered after an access at a site, if that is benign.
    fn after(self, judge: &Judge<'_>, before: &Before) -> Option<Wrong> {
        if before.kind != Wrong::Race(RaceReason::Weak) {
            return None;
        }
        let site = judge.sites.get(before.site);
        match self {
            Harmless::EqualStore => site.is_plain_store().then_some(Wrong::EqualStores),
            Harmless::Invalidation => {
                let is_wait =
                    matches!(site.what, AccessKind::Read(_)) && site.what.strong().is_some();
                match site.is_arrival {
                    true => Some(Wrong::ArrivalBeforeInval),
                    false => is_wait.then_some(Wrong::WaitBeforeInval),
                }
            }
        }
    }
}

impl Judge<'_> {
    /// Remembers a write that is unordered after others, if that is benign for each of them. Gives the first.
    pub(super) fn harmless(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &mut Sets,
        (touch, harmless): (&Touch, Harmless),
    ) -> Option<Before> {
        let since = self.entries(line, cell, sets);
        let last = self.after_write(line, cell, touch);
        let unordered = since.iter().filter_map(|it| self.conflict(it, touch));
        let mut first = None;
        for before in last.into_iter().chain(unordered) {
            let kind = harmless.after(self, &before)?;
            first.get_or_insert(Before { kind, ..before });
        }
        let first = first?;
        let (now, who) = (self.clock.now, touch.thread | touch.site << SITE_SHIFT);
        let mut stores = since;
        if harmless == Harmless::EqualStore {
            let (epoch, by) = (line.we[cell], line.wt[cell]);
            let is_known = |it: &Entry| {
                it.epoch == epoch && (it.who ^ by) & WARP == 0 && it.mask >> (by & LANE) & 1 == 1
            };
            if !stores.iter().any(is_known) {
                stores.insert(
                    0,
                    Entry {
                        epoch,
                        who: by | STRONG,
                        mask: 1 << (by & LANE),
                    },
                );
            }
            stores.retain(|it| self.is_plain_store(it) && !self.all_before(it, touch.thread));
        } else {
            stores.clear();
        }
        (line.we[cell], line.wt[cell]) = (now, who);
        (line.re[cell], line.rt[cell], line.rm[cell]) = (NEVER, 0, 0);
        if !stores.is_empty() {
            self.store_together(line, cell, sets, (stores, (who, 1 << (who & LANE))));
        }
        Some(first)
    }

    /// Remembers a store by lanes of a warp beside equal ones.
    pub(super) fn store_together(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &mut Sets,
        (mut stores, (who, lanes)): (Vec<Entry>, (u32, u32)),
    ) {
        let (epoch, who) = (self.clock.now, who | STRONG);
        let same = |it: &&mut Entry| it.epoch == epoch && it.who & !LANE == who & !LANE;
        match stores.iter_mut().find(same) {
            Some(own) => own.mask |= lanes,
            None => stores.push(Entry {
                epoch,
                who,
                mask: lanes,
            }),
        }
        if stores.len() > DEPTH as usize {
            stores.drain(..DEPTH as usize / 2);
        }
        self.store(line, cell, sets, &stores);
    }
}

/// A benign finding of a launch that has not ended.
#[derive(Debug)]
pub(super) struct Kept {
    launch: LaunchId,
    /// The numbers of both sites.
    sites: (u32, u32),
    kind: Wrong,
    finding: Box<Finding>,
}

impl Checker {
    /// Keeps a benign finding until its launch has ended: the first of two instructions.
    ///
    /// # Errors
    /// It ends the launch, which is strict.
    #[cold]
    pub(super) fn keep(
        &mut self,
        who: Accessors,
        access: &Numbered<'_>,
        place: impl FnOnce(&Checker) -> Place,
        trouble: &Trouble,
    ) -> Checked {
        let Some(before) = trouble.before else {
            return Ok(());
        };
        let (sites, kind) = ((before.site, access.site), before.kind);
        self.keep_once(who, (sites, kind), |checker| {
            let place = place(checker);
            checker.found(who, access, place, trouble)
        })
    }

    /// Keeps what `found` makes, if there is none of the launch of these sites and this kind.
    fn keep_once(
        &mut self,
        who: Accessors,
        (sites, kind): ((u32, u32), Wrong),
        found: impl FnOnce(&mut Checker) -> Box<Finding>,
    ) -> Checked {
        let launch = live(&mut self.blocks, who.block).clock.launch;
        let is_same = |it: &Kept| (it.launch, it.sites, it.kind) == (launch, sites, kind);
        if self.kept.iter().any(is_same) {
            return Ok(());
        }
        let finding = found(self);
        let shape = self.shapes.iter().find(|(id, _)| *id == launch);
        if shape.is_some_and(|(_, shape)| shape.ends_with <= Severity::Benign) {
            return Err(finding.into());
        }
        self.kept.push(Kept {
            launch,
            sites,
            kind,
            finding,
        });
        Ok(())
    }

    /// A warp reaches a register with something missing since the instruction `before`. Kept once for each.
    ///
    /// # Errors
    /// Benign findings are errors.
    pub fn without(
        &mut self,
        missing: Missing,
        who: Accessors,
        (instruction, before): (u32, u32),
        (what, name): (AccessKind, &str),
    ) -> Checked {
        let own = [0; 32];
        let lanes = Lanes::new(&own, who.mask, 4);
        let write = AccessKind::Write(Strength::Weak);
        let before = self.bulk_half(who, before, &lanes, write, Role::Write).site;
        let access = self.bulk_half(who, instruction, &lanes, what, Role::of(what));
        let kind = match missing {
            Missing::WaitForLoad => Wrong::EarlyRegister,
            Missing::ProductFence => Wrong::UnfencedRegister,
        };
        let trouble = Trouble {
            lane: who.mask.trailing_zeros(),
            address: 0,
            before: Some(Before {
                epoch: PENDING,
                thread: who.warp * 32 + who.mask.trailing_zeros(),
                site: before,
                is_exact: true,
                kind,
            }),
        };
        self.keep_once(who, ((before, before), kind), |checker| {
            let mut finding = checker.found(who, &access, None, &trouble);
            finding.details = name.to_owned();
            finding
        })
    }

    /// Gives the benign findings of a launch.
    pub fn take_benign(&mut self, launch: LaunchId) -> Vec<Box<Finding>> {
        let is_its = |it: &mut Kept| it.launch == launch;
        let taken = self.kept.extract_if(.., is_its);
        taken.map(|it| it.finding).collect()
    }
}
