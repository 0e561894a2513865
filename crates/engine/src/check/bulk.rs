//! Copies of many bytes through the asynchronous proxy, and the mbarriers that count them.
//!
//! A copy's writes are pending until a thread waits: for a phase of its mbarrier, or for the group that its thread has
//! committed. From then on they count as writes of the thread that issued the copy, at that moment, and whoever waits
//! for the same phase knows of them. The bytes that a copy reads must not be written until then. A copy sees the
//! threads' own writes only behind a proxy fence. A missing one is looked for in shared memory alone: a copy that reads
//! bytes that threads have written to global memory, without a fence, is not found.

use std::sync::Arc;

use super::access::{Access, Order, Scope};
use super::access::{AccessKind, Accessors, BlockId, Strength};
use super::cell::{Before, Wrong};
use super::chains::{Head, Past};
use super::clock::lanes;
use super::hash::Map;
use super::line::{PENDING, SITE_SHIFT, THREAD};
use super::proxy_fences::Fenced;
use super::shadow::Cells;
use super::sites::Role;
use super::sources::Source;
use super::tensor_memory::Committed;
use super::warp::{Numbered, Trouble};
use super::{Checked, Checker, Global, Stop, Unwritten, live};
use crate::memory::{AllocationId, Cached, Lanes, Memory};

/// Adjacent bytes that a copy moves: at most 16, a power of 2 that both addresses are multiples of.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where they are in global memory. None of those outside of a tensor.
    pub global: Option<u64>,
    /// Their offset in shared memory.
    pub shared: u64,
    /// How many.
    pub bytes: u32,
}

/// The effect of a copy on global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyRole {
    /// Writes over what is there.
    Replace,
    /// Changes it atomically, in elements of so many bytes.
    Change(u32),
}

/// Copies that a block's threads and others have begun in its shared memory.
#[derive(Debug, Default)]
pub(super) struct Bulks {
    /// How many phases of an mbarrier have ended, by its offset.
    phases: Map<u64, u32>,
    /// Which phase of an mbarrier a thread has asked for, where copies count at it.
    asked: Map<(u64, u32), u32>,
    counts_bytes: Map<u64, ()>,
    /// Writes of copies that no thread has waited for at their mbarrier.
    pub(super) incoming: Vec<Incoming>,
    /// Copies that read its shared memory.
    pub(super) outgoing: Vec<Outgoing>,
    /// How many groups each thread has committed, with stores or without.
    committed: Map<u32, u32>,
    /// When each thread last made a proxy fence.
    pub(super) fences: Map<u32, Fenced>,
}

#[derive(Debug)]
pub(super) struct Incoming {
    mbarrier: u64,
    phase: u32,
    pub(super) parts: Vec<(u64, u32)>,
    /// The block that issued it, and its thread.
    pub(super) by: BlockId,
    pub(super) thread: u32,
    /// Where, if it is not `cp.async`, which its block does not end before.
    pub(super) site: Option<u32>,
    sources: std::ops::Range<u64>,
    /// The products in tensor memory of which a commit tells.
    products: Option<Committed>,
}

impl Incoming {
    /// The end of products, which a block's thread has committed.
    pub(super) fn of_products(mbarrier: u64, by: BlockId, committed: Committed) -> Incoming {
        Incoming {
            mbarrier,
            phase: 0,
            parts: Vec::new(),
            by,
            thread: committed.thread,
            site: None,
            sources: 0..0,
            products: Some(committed),
        }
    }
}

/// A copy out of shared memory.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) thread: u32,
    /// How many groups its thread had committed.
    group: u32,
    /// Of shared memory: from the first byte to behind the last.
    pub(super) from: u64,
    to: u64,
    pub(super) site: u32,
    /// Of global memory, where it is not a reduction.
    global: Vec<Stored>,
    pub(super) is_read: bool,
}

/// Bytes of an allocation.
type Stored = (AllocationId, u64, u32);

impl Bulks {
    /// The mbarrier of this will be told in its phase of now.
    pub(super) fn expect(&mut self, it: Incoming) {
        let phase = self.phases.get(&it.mbarrier).copied().unwrap_or(0);
        self.counts_bytes.insert(it.mbarrier, ());
        // Of phases that have ended the last one tells of all before it.
        let is_older = |known: &Incoming| {
            known.products.is_some()
                && (known.mbarrier, known.by, known.thread) == (it.mbarrier, it.by, it.thread)
                && known.phase < phase
        };
        let last = self
            .incoming
            .iter()
            .filter(|it| is_older(it))
            .map(|it| it.phase)
            .max();
        self.incoming
            .retain(|known| !is_older(known) || Some(known.phase) == last);
        self.incoming.push(Incoming { phase, ..it });
    }

    pub(super) fn is_idle(&self) -> bool {
        self.incoming.is_empty() && self.outgoing.is_empty()
    }
}

// The mbarriers.
impl Checker {
    /// A thread has initialised an mbarrier.
    pub fn begin_mbarrier(&mut self, owner: BlockId, offset: u64) {
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        bulks.phases.insert(offset, 0);
    }

    /// A phase of an mbarrier has ended.
    pub fn end_phase(&mut self, owner: BlockId, offset: u64) {
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        *bulks.phases.entry(offset).or_default() += 1;
    }

    /// Whether a thread that asks for a phase that has ended is told so. Who asks first is told, as a GPU may
    /// tell, that copies are under way: who does not ask again reads too early.
    pub fn may_know(&mut self, owner: BlockId, offset: u64, who: Accessors) -> bool {
        let thread = who.warp * 32 + who.mask.trailing_zeros();
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        let ended = bulks.phases.get(&offset).copied().unwrap_or(0);
        let is_first = |asked: Option<u32>| asked != Some(ended);
        !bulks.counts_bytes.contains_key(&offset)
            || !is_first(bulks.asked.insert((offset, thread), ended))
    }

    /// Whether nobody has waited for a phase that has ended with the last byte of its copies: they may be under
    /// way, and the phase go on.
    pub fn may_be_earlier(&mut self, owner: BlockId, offset: u64) -> bool {
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        let ended = bulks.phases.get(&offset).copied().unwrap_or(0);
        let is_last = |it: &Incoming| it.mbarrier == offset && it.phase + 1 == ended;
        bulks.incoming.iter().any(is_last)
    }

    /// Somebody has waited for a phase: what its copies have brought has landed. Before the wait itself, which
    /// is a strong read.
    pub fn land(&mut self, owner: BlockId, offset: u64) {
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        if bulks.incoming.is_empty() {
            return;
        }
        let ended = bulks.phases.get(&offset).copied().unwrap_or(0);
        let has_ended = |it: &Incoming| it.mbarrier == offset && it.phase < ended;
        let (landed, rest) = std::mem::take(&mut bulks.incoming)
            .into_iter()
            .partition(has_ended);
        bulks.incoming = rest;
        let landed: Vec<Incoming> = landed;
        for copy in landed {
            self.land_one(owner, offset, &copy);
        }
    }

    fn land_one(&mut self, owner: BlockId, offset: u64, copy: &Incoming) {
        let by = match self.blocks[copy.by.0 as usize] {
            Some(_) => copy.by,
            None => owner,
        };
        let clock = &mut live(&mut self.blocks, by).clock;
        let (time, number) = (clock.now, clock.number);
        clock.tick(&mut self.world);
        let block = live(&mut self.blocks, owner);
        for &(at, bytes) in &copy.parts {
            settle(&mut block.shadow.cells(at, bytes.into()), copy.thread, time);
        }
        let past = Past {
            barrier: 0,
            warp: copy.thread / 32,
            sync: 0,
            mask: 1 << (copy.thread % 32),
            from: copy.products.map_or(time, |it| it.since),
            time: time + 1,
        };
        let head = Head {
            past,
            view: Arc::default(),
        };
        block
            .clock
            .release_at(&mut self.world, offset, number, &head);
        for source in copy.sources.clone() {
            self.sources.end(source);
        }
        if let Some(committed) = copy.products {
            self.land_products(copy.by, committed, time);
        }
    }

    /// The copies of `cp.async` that a thread has begun count at an mbarrier.
    pub fn copies_arrive(&mut self, who: Accessors, owner: BlockId, offset: u64) {
        let block = live(&mut self.blocks, who.block);
        let mut moved = Vec::new();
        for thread in lanes(who.warp, who.mask) {
            for piece in block.copies.take(thread) {
                let from = piece.from.map_or(0..0, |it| it..it + 1);
                moved.push((thread, piece.to, piece.bytes as u32, from));
            }
        }
        let bulks = &mut live(&mut self.blocks, owner).bulks;
        let phase = bulks.phases.get(&offset).copied().unwrap_or(0);
        for (thread, to, bytes, sources) in moved {
            bulks.incoming.push(Incoming {
                mbarrier: offset,
                phase,
                parts: vec![(to, bytes)],
                by: who.block,
                thread,
                site: None,
                sources,
                products: None,
            });
        }
    }
}

// Copies.
impl Checker {
    /// A thread begins a copy to shared memory of `owner`, whose mbarrier at an offset counts its bytes.
    ///
    /// # Errors
    /// Either half races with another access, or reads bytes that nobody has written.
    pub fn bulk_load(
        &mut self,
        memory: &Memory,
        who: Accessors,
        (owner, mbarrier): (BlockId, u64),
        instruction: u32,
        parts: &[Part],
    ) -> Checked {
        let thread = who.warp * 32 + who.mask.trailing_zeros();
        self.is_initialised(who, owner, mbarrier, instruction)?;
        let first = self.sources.next();
        let read = AccessKind::Read(Strength::Weak);
        self.bulk_global(memory, who, instruction, parts, (read, 16))?;
        let write = AccessKind::Write(Strength::Weak);
        let own = [0; 32];
        let lanes = Lanes::new(&own, who.mask, 16);
        let access = self.bulk_half(who, instruction, &lanes, write, Role::BulkTo);
        self.bulk_shared(owner, who, &access, parts)?;
        let all: Vec<(u64, u32)> = parts.iter().map(|it| (it.shared, it.bytes)).collect();
        let site = access.site;
        let block = live(&mut self.blocks, owner);
        for &(at, bytes) in &all {
            let Cells { line, first, count } = block.shadow.cells(at, bytes.into());
            line.we[first..first + count].fill(PENDING);
            line.wt[first..first + count].fill(thread | site << SITE_SHIFT);
        }
        let phase = block.bulks.phases.get(&mbarrier).copied().unwrap_or(0);
        block.bulks.counts_bytes.insert(mbarrier, ());
        block.bulks.incoming.push(Incoming {
            mbarrier,
            phase,
            parts: all,
            by: who.block,
            thread,
            site: Some(site),
            sources: first..self.sources.next(),
            products: None,
        });
        Ok(())
    }

    /// A thread begins a copy from its block's shared memory, in the group that it has not committed. A
    /// reduction changes global memory atomically.
    ///
    /// # Errors
    /// As for [`Checker::bulk_load`].
    pub fn bulk_store(
        &mut self,
        memory: &Memory,
        who: Accessors,
        instruction: u32,
        parts: &[Part],
        does: CopyRole,
    ) -> Checked {
        let thread = who.warp * 32 + who.mask.trailing_zeros();
        let own = [0; 32];
        let lanes = Lanes::new(&own, who.mask, 16);
        let read = AccessKind::Read(Strength::Weak);
        let access = self.bulk_half(who, instruction, &lanes, read, Role::BulkFrom);
        self.bulk_shared(who.block, who, &access, parts)?;
        let (what, element) = match does {
            CopyRole::Change(bytes) => (AccessKind::Atomic(Order::Relaxed, Scope::Device), bytes),
            CopyRole::Replace => (AccessKind::Write(Strength::Weak), 16),
        };
        let global = self.bulk_global(memory, who, instruction, parts, (what, element))?;
        let block = live(&mut self.blocks, who.block);
        let group = block.bulks.committed.get(&thread).copied().unwrap_or(0);
        let from = parts.iter().map(|it| it.shared).min().unwrap_or(0);
        let to = parts.iter().map(|it| it.shared + u64::from(it.bytes)).max();
        block.bulks.outgoing.push(Outgoing {
            thread,
            group,
            from,
            to: to.unwrap_or(from),
            site: access.site,
            global,
            is_read: false,
        });
        Ok(())
    }

    /// Threads commit what they have begun since they last did.
    pub fn bulk_commit(&mut self, who: Accessors) {
        let block = live(&mut self.blocks, who.block);
        for thread in lanes(who.warp, who.mask) {
            *block.bulks.committed.entry(thread).or_default() += 1;
        }
    }

    /// Threads wait for all of their groups but the newest `but`: until they are done, or until what they read
    /// has been read.
    pub fn bulk_wait(&mut self, who: Accessors, but: u32, only_reads: bool) {
        let block = live(&mut self.blocks, who.block);
        let now = block.clock.now;
        let mut done = Vec::new();
        for thread in lanes(who.warp, who.mask) {
            let committed = block.bulks.committed.get(&thread).copied().unwrap_or(0);
            let is_waited = |it: &Outgoing| it.thread == thread && it.group + but < committed;
            for copy in block.bulks.outgoing.iter_mut().filter(|it| is_waited(it)) {
                copy.is_read = true;
            }
            if !only_reads {
                let (ended, rest) = std::mem::take(&mut block.bulks.outgoing)
                    .into_iter()
                    .partition(is_waited);
                block.bulks.outgoing = rest;
                let ended: Vec<Outgoing> = ended;
                done.extend(ended);
            }
        }
        done.iter().for_each(|copy| self.settle_stored(copy, now));
    }

    pub(super) fn settle_stored(&mut self, copy: &Outgoing, time: u32) {
        for &(id, address, bytes) in &copy.global {
            let known = self.shadows.get_mut(id.slot as usize);
            if let Some(shadow) = known
                .filter(|it| it.id == id)
                .and_then(|it| it.shadow.as_mut())
            {
                settle(&mut shadow.cells(address, bytes.into()), copy.thread, time);
            }
        }
    }

    /// Whether a write to shared memory reaches what a copy still reads.
    #[inline]
    pub(super) fn pending_reads(
        &mut self,
        owner: BlockId,
        access: &Numbered<'_>,
    ) -> Option<Trouble> {
        let block = live(&mut self.blocks, owner);
        if !access.what.writes() || block.bulks.outgoing.is_empty() && block.products.is_idle() {
            return None;
        }
        let bytes = u64::from(access.lanes.bytes);
        access.lanes.each().find_map(|(lane, address)| {
            Some(Trouble {
                lane,
                address,
                before: Some(block.reads(address, bytes)?),
            })
        })
    }

    pub(super) fn bulk_half<'a>(
        &mut self,
        who: Accessors,
        instruction: u32,
        lanes: &'a Lanes<'a>,
        what: AccessKind,
        role: Role,
    ) -> Numbered<'a> {
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

    /// The half of a copy that is in shared memory.
    pub(super) fn bulk_shared(
        &mut self,
        owner: BlockId,
        who: Accessors,
        access: &Numbered<'_>,
        parts: &[Part],
    ) -> Checked {
        let lane = who.mask.trailing_zeros();
        let mut found = None;
        if access.what.writes() {
            let block = live(&mut self.blocks, owner);
            found = parts.iter().find_map(|part| {
                Some(Trouble {
                    lane,
                    address: part.shared,
                    before: Some(block.reads(part.shared, part.bytes.into())?),
                })
            });
        }
        if found.is_none() {
            found = self.behind_fences(owner, who, parts, true);
        }
        if found.is_none() {
            let met = self.in_shared_with(owner, who, |ground| {
                let all = parts.iter().map(|it| (it.shared, u64::from(it.bytes)));
                ground.by_one(access, lane, all);
            });
            found = met.race.or(met.empty);
        }
        if access.what.writes() {
            let all = parts.iter().map(|it| (it.shared, u64::from(it.bytes)));
            self.define_shared(owner, all);
        }
        match found {
            None => Ok(()),
            Some(trouble) => {
                let place = live(&mut self.blocks, owner).layout.place(trouble.address);
                Err(self.found(who, access, place, &trouble).into())
            }
        }
    }

    /// The half of a copy that is in global memory, in elements of so many bytes.
    fn bulk_global(
        &mut self,
        memory: &Memory,
        who: Accessors,
        instruction: u32,
        parts: &[Part],
        (what, element): (AccessKind, u32),
    ) -> Result<Vec<Stored>, Box<Stop>> {
        let (own, lane) = ([0; 32], who.mask.trailing_zeros());
        let lanes = Lanes::new(&own, who.mask, element);
        let role = match what {
            AccessKind::Read(_) => Role::BulkFromGlobal,
            _ => Role::BulkToGlobal,
        };
        let access = self.bulk_half(who, instruction, &lanes, what, role);
        let thread = who.warp * 32 + lane;
        let instance = live(&mut self.blocks, who.block).clock.number;
        let (mut met, mut stored) = (Cached::default(), Vec::new());
        for part in parts {
            let (Some(address), bytes) = (part.global, part.bytes) else {
                continue;
            };
            if memory.look_up(address, bytes, &mut met).is_err() {
                continue;
            }
            self.global_by_one(memory, &met, who, &access, (address, bytes))?;
            match what {
                AccessKind::Read(_) => {
                    self.sources.begin(Source {
                        instance,
                        thread,
                        from: address,
                        bytes: bytes.into(),
                        site: access.site,
                    });
                }
                AccessKind::Write(_) => {
                    let (shadow, _) = Global::of(&mut self.shadows, &met)?;
                    let Cells { line, first, count } = shadow.cells(address, bytes.into());
                    line.we[first..first + count].fill(PENDING);
                    line.wt[first..first + count].fill(thread | access.site << SITE_SHIFT);
                    stored.push((met.id, address, bytes));
                }
                AccessKind::Atomic(..) => {}
            }
        }
        Ok(stored)
    }
}

/// Cells that were pending for a thread have been written at a time.
fn settle(cells: &mut Cells<'_>, thread: u32, time: u32) {
    let Cells { line, first, count } = cells;
    for cell in *first..*first + *count {
        if line.we[cell] == PENDING && line.wt[cell] & THREAD == thread {
            line.we[cell] = time;
        }
    }
}

impl super::Block {
    /// Returns the copy or the product that still reads bytes of its shared memory.
    fn reads(&self, address: u64, bytes: u64) -> Option<Before> {
        let meets = |it: &&Outgoing| !it.is_read && it.from < address + bytes && address < it.to;
        let copy = self.bulks.outgoing.iter().find(meets);
        copy.map(Outgoing::pending)
            .or_else(|| self.products.reads(address, bytes))
    }
}

impl Outgoing {
    fn pending(&self) -> Before {
        Before {
            epoch: PENDING,
            thread: self.thread,
            site: self.site,
            is_exact: true,
            kind: Wrong::PendingCopy,
        }
    }
}
