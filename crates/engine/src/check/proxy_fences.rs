//! Proxy fences: what threads have written themselves, copies and products see behind one.

use std::sync::Arc;

use super::access::{AccessKind, Accessors, BlockId, Strength};
use super::bulk::Part;
use super::cell::{Before, Wrong, entries};
use super::chains::View;
use super::clock::lanes;
use super::entry::in_shared_of;
use super::line::{PENDING, SITE, SITE_SHIFT, THREAD};
use super::shadow::Cells;
use super::sites::Role;
use super::warp::Trouble;
use super::{Checked, Checker, live};
use crate::memory::Lanes;

/// A thread's last proxy fence.
#[derive(Debug)]
pub(super) struct Fenced {
    time: u32,
    barrier: u32,
    /// When the thread's warp had last met as a whole.
    sync: u32,
    view: Option<Arc<View>>,
}

impl Checker {
    /// A proxy fence of threads.
    pub fn proxy_fence(&mut self, who: Accessors) {
        let block = live(&mut self.blocks, who.block);
        block.clock.learn_seen(who.warp);
        let (time, barrier) = (block.clock.now, block.clock.barrier);
        let sync = block.clock.syncs.get(who.warp as usize).copied();
        let sync = sync.unwrap_or(0);
        for thread in lanes(who.warp, who.mask) {
            let view = block.clock.views.get(&thread).cloned();
            let fenced = Fenced {
                time,
                barrier,
                sync,
                view,
            };
            block.bulks.fences.insert(thread, fenced);
        }
        block.clock.tick(&mut self.world);
    }

    /// Finds a write by threads themselves to bytes that a copy reaches, without a proxy fence since; of strong writes,
    /// too, if asked to.
    pub(super) fn behind_fences(
        &mut self,
        owner: BlockId,
        who: Accessors,
        parts: &[Part],
        with_strong: bool,
    ) -> Option<Trouble> {
        let lane = who.mask.trailing_zeros();
        let block = live(&mut self.blocks, owner);
        let start = block.clock.start;
        let mut written: Vec<(u64, u32, u32)> = Vec::new();
        for part in parts {
            let Cells { line, first, count } = block.shadow.cells(part.shared, part.bytes.into());
            for cell in first..first + count {
                let mut add = |epoch: u32, by: u32| {
                    let is_last = |it: &&(u64, u32, u32)| (it.1, it.2) == (epoch, by);
                    if epoch > start && epoch != PENDING && written.last().filter(is_last).is_none()
                    {
                        written.push((part.shared, epoch, by));
                    }
                };
                add(line.we[cell], line.wt[cell] & (SITE | THREAD));
                if !with_strong || line.re[cell] <= start {
                    continue;
                }
                for entry in entries(line, cell, &block.sets, start) {
                    let site = entry.who & SITE;
                    if self.sites.get(site >> SITE_SHIFT).what.writes() {
                        let warp = (entry.who & THREAD) / 32;
                        lanes(warp, entry.mask).for_each(|thread| add(entry.epoch, thread | site));
                    }
                }
            }
        }
        let (address, epoch, by) = written.into_iter().find(|&(_, epoch, by)| {
            let site = (by & SITE) >> SITE_SHIFT;
            !self.sites.get(site).is_bulk
                && ![owner, who.block]
                    .into_iter()
                    .any(|block| self.is_fenced(block, epoch, by & THREAD))
        })?;
        let before = Before {
            epoch,
            thread: by & THREAD,
            site: (by & SITE) >> SITE_SHIFT,
            is_exact: true,
            kind: Wrong::NoProxyFence,
        };
        Some(Trouble {
            lane,
            address,
            before: Some(before),
        })
    }

    /// Whether a proxy fence is between what a thread wrote and what another does now: of the one, of the
    /// other, or of a third.
    fn is_fenced(&self, block: BlockId, epoch: u32, thread: u32) -> bool {
        let Some(block) = self.blocks[block.0 as usize].as_deref() else {
            return false;
        };
        let fences = &block.bulks.fences;
        let is_later = |(&by, fenced): (&u32, &Fenced)| {
            let has_met = by / 32 == thread / 32 && epoch < fenced.sync;
            let is_by_itself = by == thread && fenced.time >= epoch;
            is_by_itself || has_met || epoch < fenced.barrier
        };
        if block.clock.is_own(&self.world, epoch) && fences.iter().any(is_later) {
            return true;
        }
        // It takes longer to ask what the fences' threads know of others.
        let Some(owner) = self.world.instance_at(epoch) else {
            return false;
        };
        let mut views = fences.values().filter_map(|fenced| fenced.view.as_ref());
        views.any(|view| self.world.chains.knows(view, owner, thread, epoch))
    }

    /// Whether the thread knows that an mbarrier has been initialised, and a fence has shown that to copies.
    pub(super) fn is_initialised(
        &mut self,
        who: Accessors,
        owner: BlockId,
        mbarrier: u64,
        instruction: u32,
    ) -> Checked {
        let mut addresses = [0; 32];
        addresses[who.mask.trailing_zeros() as usize & 31] = mbarrier;
        let lanes = Lanes::new(&addresses, who.mask, 8);
        let write = AccessKind::Write(Strength::Weak);
        let access = self.bulk_half(who, instruction, &lanes, write, Role::BulkTo);
        let part = Part {
            global: None,
            shared: mbarrier,
            bytes: 8,
        };
        let Some(mut trouble) = self.behind_fences(owner, who, &[part], false) else {
            return Ok(());
        };
        let place = in_shared_of(owner, &trouble);
        match &mut trouble.before {
            Some(before) if owner == who.block => before.kind = Wrong::UnfencedMbarrier,
            _ => {
                let place = place(self);
                return Err(self.found(who, &access, place, &trouble).into());
            }
        }
        self.keep(who, &access, place, &trouble)
    }
}
