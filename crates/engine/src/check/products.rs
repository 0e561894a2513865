//! Products of matrices that warps issue and wait for later: what they read of shared memory until then.

use super::access::{AccessKind, Accessors, Strength};
use super::bulk::Part;
use super::cell::{Before, Wrong};
use super::hash::Map;
use super::line::PENDING;
use super::sites::Role;
use super::{Checked, Checker, live};
use crate::memory::Lanes;

/// Products that a block's warps have not waited for.
#[derive(Debug, Default)]
pub(super) struct Products {
    readings: Vec<Reading>,
    warps: Map<u32, Warp>,
}

/// Whose products they are, and with which others they are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A warp's `wgmma`, in a group.
    Warp { warp: u32, group: u32 },
    /// A thread's `tcgen05.mma`, in a commit.
    Thread { thread: u32, commit: u32 },
}

#[derive(Debug)]
struct Reading {
    by: By,
    /// Bytes, from the first to behind the last.
    ranges: Vec<(u64, u64)>,
    site: u32,
}

#[derive(Debug, Default)]
struct Warp {
    committed: u32,
    /// When it issued the first product that it has not committed.
    since: Option<u32>,
}

impl Products {
    pub(super) fn is_idle(&self) -> bool {
        self.readings.is_empty()
    }

    /// Which product still reads bytes.
    pub(super) fn reads(&self, address: u64, bytes: u64) -> Option<Before> {
        let meets = |it: &&Reading| {
            let mut ranges = it.ranges.iter();
            ranges.any(|&(from, to)| from < address + bytes && address < to)
        };
        let reading = self.readings.iter().find(meets)?;
        Some(Before {
            epoch: PENDING,
            thread: match reading.by {
                By::Warp { warp, .. } => warp * 32,
                By::Thread { thread, .. } => thread,
            },
            site: reading.site,
            is_exact: true,
            kind: Wrong::PendingProduct,
        })
    }
}

/// The newest readings among which an equal one is looked for: a loop may repeat a few products.
const RECENT: usize = 16;

impl Products {
    /// A product reads 16 bytes at each of some offsets.
    pub(super) fn read(&mut self, by: By, chunks: &[u64], site: u32) {
        let ranges = ranges(chunks);
        let is_known = |it: &Reading| (it.by, it.site, &it.ranges) == (by, site, &ranges);
        if !self.readings.iter().rev().take(RECENT).any(is_known) {
            self.readings.push(Reading { by, ranges, site });
        }
    }

    /// Forgets those that are done.
    pub(super) fn forget(&mut self, is_done: impl Fn(By) -> bool) {
        self.readings.retain(|it| !is_done(it.by));
    }
}

impl Checker {
    /// A warp issues a product that reads 16 bytes at each of some offsets in shared memory.
    ///
    /// # Errors
    /// It races with another access, or reads bytes that nobody has written.
    pub fn product(&mut self, who: Accessors, instruction: u32, chunks: &[u64]) -> Checked {
        let part = |&shared: &u64| Part {
            global: None,
            shared,
            bytes: 16,
        };
        let parts: Vec<Part> = chunks.iter().map(part).collect();
        let one = Accessors { mask: 1, ..who };
        let block = live(&mut self.blocks, who.block);
        let warp = block.products.warps.entry(who.warp).or_default();
        let group = warp.committed;
        if warp.since.is_none() {
            block.clock.tick(&mut self.world);
            warp.since = Some(block.clock.now);
        }
        let own = [0; 32];
        let lanes = Lanes::new(&own, 1, 16);
        let read = AccessKind::Read(Strength::Weak);
        let access = self.bulk_half(one, instruction, &lanes, read, Role::Product);
        self.bulk_shared(who.block, one, &access, &parts)?;
        let by = By::Warp {
            warp: who.warp,
            group,
        };
        let products = &mut live(&mut self.blocks, who.block).products;
        products.read(by, chunks, access.site);
        Ok(())
    }

    /// A warp commits the products that it has issued.
    pub fn commit_products(&mut self, who: Accessors) {
        let block = live(&mut self.blocks, who.block);
        let warp = block.products.warps.entry(who.warp).or_default();
        warp.committed += 1;
        if let Some(since) = warp.since.take() {
            block
                .clock
                .commit_products(&mut self.world, who.warp, since);
        }
    }

    /// A warp has waited for so many groups of all that it has committed, and so for those of the other three of
    /// its warpgroup.
    pub fn wait_for_products(&mut self, who: Accessors, awaited: u32) {
        let block = live(&mut self.blocks, who.block);
        block.products.forget(|by| match by {
            By::Warp { warp, group } => warp / 4 == who.warp / 4 && group < awaited,
            By::Thread { .. } => false,
        });
        let clock = &mut block.clock;
        clock.wait_for_products(&mut self.world, who.warp, who.mask);
    }
}

/// Adjacent chunks of 16 bytes as one.
fn ranges(chunks: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for at in sorted {
        match ranges.last_mut() {
            Some((_, to)) if *to >= at => *to = (*to).max(at + 16),
            _ => ranges.push((at, at + 16)),
        }
    }
    ranges
}
