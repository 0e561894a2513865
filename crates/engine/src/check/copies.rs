//! Asynchronous copies: accesses of their own, which land when their thread waits for them.

use super::access::{Access, AccessKind, Accessors, Strength, Unwritten};
use super::cell::{Before, Wrong};
use super::clock::lanes;
use super::hash::Map;
use super::line::{PENDING, SITE_SHIFT, THREAD};
use super::shadow::Cells;
use super::sites::Role;
use super::sources::Source;
use super::warp::Trouble;
use super::{Checked, Checker, live};
use crate::memory::{Cached, Lanes, Memory};

/// One `cp.async` of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// Which instruction.
    pub instruction: u32,
    /// To where in shared memory.
    pub to: &'a Lanes<'a>,
    /// From where in global memory: the same lanes, with fewer bytes if the rest is filled with
    /// zeros. None if all is.
    pub from: Option<&'a Lanes<'a>>,
}

/// Writes that have not landed, per thread, the oldest group first; the last is not committed.
#[derive(Debug, Default)]
pub(super) struct Copies(Map<u32, Vec<Vec<Piece>>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) to: u64,
    pub(super) bytes: u64,
    /// The number of its source.
    pub(super) from: Option<u64>,
}

impl Checker {
    /// Threads begin asynchronous copies. Both sides are resolved, the source with `cached`.
    ///
    /// # Errors
    /// Either half races with another access, or reads bytes that nobody has written.
    pub fn copy(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Accessors,
        copy: &Copy<'_>,
    ) -> Checked {
        if let Some(from) = copy.from {
            let what = AccessKind::Read(Strength::Weak);
            let read = self.half(who, copy.instruction, from, what, Role::CopyFrom);
            self.global_in_each(memory, cached, who, &read)?;
            self.remember_sources(who, from, read.site);
        }
        let mut sources = copy.from.map_or(0..0, |from| {
            let count = u64::from(from.mask.count_ones());
            self.sources.next() - count..self.sources.next()
        });
        let what = AccessKind::Write(Strength::Weak);
        let write = self.half(who, copy.instruction, copy.to, what, Role::CopyTo);
        let pending = self.pending_reads(who.block, &write);
        let found = self.in_shared(who.block, who, &write);
        if let Some(trouble) = pending.or(found.race) {
            let place = live(&mut self.blocks, who.block)
                .layout
                .place(trouble.address);
            return Err(self.found(who, &write, place, &trouble).into());
        }
        let block = live(&mut self.blocks, who.block);
        for (lane, to) in copy.to.each() {
            let thread = who.warp * 32 + lane;
            let bytes = u64::from(copy.to.bytes);
            let Cells { line, first, count } = block.shadow.cells(to, bytes);
            line.we[first..first + count].fill(PENDING);
            line.wt[first..first + count].fill(thread | write.site << SITE_SHIFT);
            let from = sources.next();
            let groups = block
                .copies
                .0
                .entry(thread)
                .or_insert_with(|| vec![Vec::new()]);
            if let Some(open) = groups.last_mut() {
                open.push(Piece { to, bytes, from });
            }
        }
        Ok(())
    }

    /// Threads end a group of copies.
    pub fn commit(&mut self, who: Accessors) {
        let block = live(&mut self.blocks, who.block);
        for thread in lanes(who.warp, who.mask) {
            let groups = block
                .copies
                .0
                .entry(thread)
                .or_insert_with(|| vec![Vec::new()]);
            groups.push(Vec::new());
        }
    }

    /// Threads wait for all of their groups but the newest `but`. `None` is `cp.async.wait_all`: it
    /// also waits for what is in no group yet.
    pub fn wait(&mut self, who: Accessors, but: Option<u32>) {
        let block = live(&mut self.blocks, who.block);
        let now = block.clock.now;
        let mut landed = Vec::new();
        for thread in lanes(who.warp, who.mask) {
            let Some(groups) = block.copies.0.get_mut(&thread) else {
                continue;
            };
            let stay = but.map_or(0, |but| but as usize + 1).min(groups.len());
            for piece in groups.drain(..groups.len() - stay).flatten() {
                let Cells { line, first, count } = block.shadow.cells(piece.to, piece.bytes);
                for cell in first..first + count {
                    if line.we[cell] == PENDING && line.wt[cell] & THREAD == thread {
                        line.we[cell] = now;
                    }
                }
                landed.extend(piece.from);
            }
            if groups.is_empty() {
                groups.push(Vec::new());
            }
        }
        for source in landed {
            self.sources.end(source);
        }
    }

    /// Whether a write reaches what a copy still reads.
    #[inline]
    pub(super) fn pending_sources(
        &mut self,
        memory: &Memory,
        who: Accessors,
        access: &Access<'_>,
    ) -> Checked {
        if self.sources.is_empty() || !access.what.writes() {
            return Ok(());
        }
        let bytes = u64::from(access.lanes.bytes);
        let found = access.lanes.each().find_map(|(lane, address)| {
            let source = self.sources.meeting(address, bytes)?;
            let before = Before {
                epoch: PENDING,
                thread: source.thread,
                site: source.site,
                is_exact: true,
                kind: Wrong::PendingCopy,
            };
            Some(Trouble {
                lane,
                address,
                before: Some(before),
            })
        });
        let Some(trouble) = found else {
            return Ok(());
        };
        let numbered = self.numbered(who, access, Role::of(access.what));
        let place = memory.place(trouble.address);
        Err(self.found(who, &numbered, place, &trouble).into())
    }

    fn half<'a>(
        &mut self,
        who: Accessors,
        instruction: u32,
        lanes: &'a Lanes<'a>,
        what: AccessKind,
        role: Role,
    ) -> super::warp::Numbered<'a> {
        let access = Access {
            instruction,
            what,
            element_bytes: lanes.bytes,
            lanes,
            unwritten: Unwritten::Found,
            stored: None,
        };
        self.numbered(who, &access, role)
    }

    fn remember_sources(&mut self, who: Accessors, from: &Lanes<'_>, site: u32) {
        let instance = live(&mut self.blocks, who.block).clock.number;
        for (lane, address) in from.each() {
            self.sources.begin(Source {
                instance,
                thread: who.warp * 32 + lane,
                from: address,
                bytes: from.bytes.into(),
                site,
            });
        }
    }
}

impl Copies {
    /// Takes what a thread has begun that has not landed.
    pub(super) fn take(&mut self, thread: u32) -> Vec<Piece> {
        let groups = self.0.remove(&thread).unwrap_or_default();
        groups.into_iter().flatten().collect()
    }

    /// Whether all have landed.
    pub(super) fn is_empty(&self) -> bool {
        self.0.values().flatten().all(Vec::is_empty)
    }
}
