//! Accesses of a warp to global and shared memory.

use super::access::{Access, Order, Scope, Strength, What, Who};
use super::cell::{Before, Judge, Touch, Wrong};
use super::clock::{Clock, Effect, How, Instance, Reach, World};
use super::finding::{Agent, Class, Finding, Side, Space};
use super::line::{Fast, Line, PENDING, READ, SET, STRONG, Sweeps, WRITE, one, read_by_all};
use super::sets::Sets;
use super::shadow::{Cells, LINE, Rows, Shadow};
use super::sites::{Role, Site, Sites};
use super::{Block, BlockId, Checked, Checker, Global, live};
use crate::memory::{Cached, Contents, Lanes, Memory, Pattern, Place};

/// The first access of a warp that something is wrong with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    pub(super) lane: u32,
    pub(super) address: u64,
    /// None where nobody has written.
    pub(super) before: Option<Before>,
}

/// What accesses to one memory are judged with.
pub(super) struct Ground<'a> {
    pub(super) world: &'a mut World,
    pub(super) clock: &'a mut Clock,
    pub(super) sites: &'a Sites,
    pub(super) sets: &'a mut Sets,
    pub(super) sweeps: &'a Sweeps,
    pub(super) shadow: &'a mut Shadow,
    pub(super) floor: u32,
    pub(super) unwritten: u32,
    pub(super) initial: u32,
    pub(super) reach: Reach,
    /// Reads without a value, and races: the first of each.
    pub(super) empty: Option<Trouble>,
    pub(super) race: Option<Trouble>,
    /// Where weak writes have taken the place of strong ones.
    pub(super) overwritten: Vec<u64>,
    /// Tells equal offsets of blocks apart.
    pub(super) space: u64,
}

/// One warp's access by the number of its site.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) warp: u32,
    pub(super) what: What,
    pub(super) element_bytes: u32,
    pub(super) lanes: &'a Lanes<'a>,
    pub(super) site: u32,
}

impl Numbered<'_> {
    fn touch(&self, lane: u32) -> Touch {
        Touch {
            thread: self.warp * 32 + lane,
            what: self.what,
            element_bytes: self.element_bytes,
            site: self.site,
        }
    }

    fn kind(&self) -> bool {
        if self.what.writes() { WRITE } else { READ }
    }
}

impl Ground<'_> {
    pub(super) fn fast(&self, access: &Numbered<'_>) -> Fast {
        let Clock {
            run,
            barrier,
            now,
            ref syncs,
            ..
        } = *self.clock;
        let sync = syncs.get(access.warp as usize).copied().unwrap_or(0);
        Fast {
            floor: self.floor,
            unwritten: self.unwritten,
            run,
            barrier_span: barrier.saturating_sub(run),
            sync_span: sync.saturating_sub(run),
            now_span: now - run,
            now,
            base: access.warp * 32,
            mask: access.lanes.mask,
            site: access.site << super::line::SITE_SHIFT,
        }
    }

    /// A weak access.
    #[inline]
    pub(super) fn weak(&mut self, access: &Numbered<'_>) {
        let fast = self.fast(access);
        match access.lanes.pattern {
            Pattern::Consecutive { start } => self.consecutive(access, &fast, start),
            Pattern::Same { address } if !access.what.writes() => {
                self.same(access, &fast, address);
            }
            _ => self.scattered(access, &fast),
        }
        self.forget_overwritten();
    }

    fn consecutive(&mut self, access: &Numbered<'_>, fast: &Fast, start: u64) {
        let bytes = u64::from(access.lanes.bytes);
        let (first, last) = access.lanes.span();
        let is_clean = if self.shadow.is_coarse(bytes) {
            let rows = self.shadow.coarse(first, last);
            sweep(self.sweeps, access, fast, rows, start)
        } else {
            let (mut chunk, mut is_clean) = (first, true);
            while chunk <= last {
                let rows = self.shadow.rows(chunk, bytes);
                chunk = rows.start + LINE;
                is_clean &= sweep(self.sweeps, access, fast, rows, start);
            }
            is_clean
        };
        if !is_clean {
            // What was found in order is so again.
            self.scattered(access, fast);
        }
    }

    fn same(&mut self, access: &Numbered<'_>, fast: &Fast, address: u64) {
        let bytes = access.lanes.bytes.into();
        let Cells { line, first, count } = self.shadow.cells(address, bytes);
        let is_clean = (first..first + count).all(|cell| read_by_all(line, cell, fast));
        if !is_clean {
            self.scattered(access, fast);
        }
    }

    fn scattered(&mut self, access: &Numbered<'_>, fast: &Fast) {
        let bytes = u64::from(access.lanes.bytes);
        for (lane, address) in access.lanes.each() {
            self.one(access, fast, lane, address, bytes);
        }
    }

    /// One lane's cells.
    #[inline]
    fn one(&mut self, access: &Numbered<'_>, fast: &Fast, lane: u32, address: u64, bytes: u64) {
        let judge = Judge {
            world: self.world,
            clock: self.clock,
            sites: self.sites,
            floor: self.floor,
            unwritten: self.unwritten,
            initial: self.initial,
        };
        let Cells { line, first, count } = self.shadow.cells(address, bytes);
        for cell in first..first + count {
            let is_weak = access.what.strong().is_none();
            if is_weak && one(access.kind(), line, cell, fast, lane) {
                continue;
            }
            let trouble = |before| Trouble {
                lane,
                address,
                before,
            };
            if access.what.reads() && !judge.is_written(line, cell) && line.we[cell] != PENDING {
                self.empty.get_or_insert(trouble(None));
            }
            if is_weak && access.what.writes() && line.rt[cell] & (STRONG | SET) != 0 {
                self.overwritten.push(address);
            }
            if let Some(before) = judge.touch(line, cell, self.sets, &access.touch(lane)) {
                self.race.get_or_insert(trouble(Some(before)));
            }
        }
    }

    fn forget_overwritten(&mut self) {
        for address in std::mem::take(&mut self.overwritten) {
            let sites = match self.reach {
                Reach::Block => &mut self.clock.sites,
                Reach::Device => &mut self.world.sites,
            };
            sites.remove(&(address | self.space));
        }
    }

    /// A strong access: lane by lane, element by element.
    pub(super) fn strong(&mut self, access: &Numbered<'_>, (order, scope): (Order, Scope)) {
        let fast = self.fast(access);
        let element = u64::from(access.element_bytes);
        let how = How {
            order,
            scope,
            bytes: access.element_bytes,
            reach: self.reach,
        };
        for (lane, start) in access.lanes.each() {
            for part in 0..u64::from(access.lanes.bytes) / element {
                self.strong_element(access, &fast, lane, start + part * element, how);
            }
        }
        if order.releases() && access.what.writes() {
            self.clock.tick(self.world);
        }
    }

    fn strong_element(
        &mut self,
        access: &Numbered<'_>,
        fast: &Fast,
        lane: u32,
        address: u64,
        how: How,
    ) {
        let thread = access.warp * 32 + lane;
        let key = address | self.space;
        let known = match self.reach {
            Reach::Block => self.clock.sites.remove(&key),
            Reach::Device => self.world.sites.remove(&key),
        };
        let is_known = known.is_some();
        let mut site = known.unwrap_or_default();
        if access.what.reads() {
            self.clock.acquire(self.world, &site, thread, how);
        }
        self.one(access, fast, lane, address, how.bytes.into());
        if access.what.reads() {
            self.clock.observe(self.world, &site, thread, how);
        }
        if access.what.writes() {
            let effect = match access.what {
                What::Atomic(..) => Effect::Continue,
                _ => Effect::Replace,
            };
            self.clock
                .publish(self.world, &mut site, thread, how, effect);
        }
        if is_known || access.what.writes() {
            match self.reach {
                Reach::Block => self.clock.sites.insert(key, site),
                Reach::Device => self.world.sites.insert(key, site),
            };
        }
    }

    pub(super) fn access(&mut self, access: &Numbered<'_>) {
        match access.what.strong() {
            None => self.weak(access),
            Some(how) => self.strong(access, how),
        }
    }
}

/// One run over lines in a row.
#[inline]
fn sweep(sweeps: &Sweeps, access: &Numbered<'_>, fast: &Fast, rows: Rows<'_>, start: u64) -> bool {
    let shift = (u64::from(access.lanes.bytes) / rows.cell).trailing_zeros();
    let first = start.wrapping_sub(rows.start) as i64 / rows.cell as i64;
    let lines: &mut [Line] = rows.lines;
    sweeps.run(access.kind(), shift, lines, fast, first as i32)
}

impl Checker {
    /// An access to global memory, that `memory` has resolved with `cached`.
    ///
    /// # Errors
    /// What it races with, or bytes that nobody has written.
    #[inline]
    pub fn global(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Who,
        access: &Access<'_>,
    ) -> Checked {
        let numbered = self.numbered(who, access, Role::of(access.what));
        self.pending_sources(memory, who, access)?;
        self.global_in_each(memory, cached, who, &numbered)
    }

    /// In one allocation, or lane by lane.
    pub(super) fn global_in_each(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Who,
        access: &Numbered<'_>,
    ) -> Checked {
        let (first, last) = access.lanes.span();
        if cached.covers(first, last) {
            return self.global_in(memory, cached, who, access);
        }
        for (lane, address) in access.lanes.each() {
            let lanes = Lanes {
                mask: 1 << lane,
                pattern: Pattern::Any,
                ..*access.lanes
            };
            let one = Numbered {
                lanes: &lanes,
                ..*access
            };
            if memory.look_up(address, lanes.bytes, cached).is_ok() {
                self.global_in(memory, cached, who, &one)?;
            }
        }
        Ok(())
    }

    fn global_in(
        &mut self,
        memory: &Memory,
        cached: &Cached,
        who: Who,
        access: &Numbered<'_>,
    ) -> Checked {
        let (shadow, contents) = Global::of(&mut self.shadows, cached);
        let block = live(&mut self.blocks, who.block);
        // The host may copy what has no value yet.
        let is_kernel = block.clock.block.is_some();
        let unwritten = u32::from(is_kernel && contents == Contents::Undefined);
        let mut ground = Ground {
            floor: block.clock.floor,
            unwritten,
            initial: 0,
            reach: Reach::Device,
            world: &mut self.world,
            clock: &mut block.clock,
            sites: &self.sites,
            sets: &mut self.sets,
            sweeps: &self.sweeps,
            shadow,
            empty: None,
            race: None,
            overwritten: Vec::new(),
            space: 0,
        };
        ground.access(access);
        let (race, empty) = (ground.race, ground.empty);
        if self.sets.is_full() {
            block.clock.tick(&mut self.world);
            self.sets.clear(self.world.now());
        }
        match race.or(empty) {
            None => Ok(()),
            Some(trouble) => {
                let place = memory.place(trouble.address);
                Err(self.found(who, Space::Global, access, place, &trouble))
            }
        }
    }

    /// An access to the block's own shared memory, by offsets that the launch's layout has resolved.
    ///
    /// # Errors
    /// What it races with. Reads of what nobody has written are held back.
    #[inline]
    pub fn shared(&mut self, who: Who, access: &Access<'_>) -> Checked {
        self.shared_of(who.block, who, access)
    }

    /// As [`Checker::shared`], of another block in the cluster.
    ///
    /// # Errors
    /// As there.
    pub fn shared_of(&mut self, owner: BlockId, who: Who, access: &Access<'_>) -> Checked {
        let numbered = self.numbered(who, access, Role::of(access.what));
        let (race, empty) = self.in_shared(owner, who, &numbered);
        if let Some(trouble) = race {
            let block = live(&mut self.blocks, owner);
            let place = block.layout.place(trouble.address);
            block.held = None;
            return Err(self.found(who, Space::Shared, &numbered, place, &trouble));
        }
        if let Some(trouble) = empty
            && live(&mut self.blocks, owner).held.is_none()
        {
            let place = live(&mut self.blocks, owner).layout.place(trouble.address);
            let found = self.found(who, Space::Shared, &numbered, place, &trouble);
            live(&mut self.blocks, owner).held = Some(found);
        }
        Ok(())
    }

    pub(super) fn in_shared(
        &mut self,
        owner: BlockId,
        who: Who,
        access: &Numbered<'_>,
    ) -> (Option<Trouble>, Option<Trouble>) {
        // Out of its place while the accessing block's clock, or its own, is at hand.
        let Some(mut held) = self.blocks[owner.0 as usize].take() else {
            return (None, None);
        };
        let Block {
            clock,
            shadow,
            sets,
            ..
        } = &mut *held;
        let start = clock.start;
        let clock = match &mut self.blocks[who.block.0 as usize] {
            Some(other) => &mut other.clock,
            None => clock,
        };
        // What comes before the block's barrier comes before whatever else happens there, unless
        // other blocks can reach it.
        let (floor, reach) = if clock.is_clustered {
            (start + 1, Reach::Device)
        } else {
            (clock.barrier, Reach::Block)
        };
        let mut ground = Ground {
            floor,
            unwritten: start,
            initial: start,
            reach,
            world: &mut self.world,
            clock,
            sites: &self.sites,
            sets,
            sweeps: &self.sweeps,
            shadow,
            empty: None,
            race: None,
            overwritten: Vec::new(),
            space: u64::from(start) << 24 | 1 << 63,
        };
        ground.access(access);
        let found = (ground.race, ground.empty);
        self.blocks[owner.0 as usize] = Some(held);
        found
    }

    pub(super) fn numbered<'a>(
        &mut self,
        who: Who,
        access: &Access<'a>,
        role: Role,
    ) -> Numbered<'a> {
        let block = live(&mut self.blocks, who.block);
        let (table, program) = (block.table, block.program);
        let site = || Site {
            program,
            instruction: access.instruction,
            what: access.what,
            is_copy: matches!(role, Role::CopyFrom | Role::CopyTo),
            element_bytes: access.element_bytes,
        };
        Numbered {
            warp: who.warp,
            what: access.what,
            element_bytes: access.element_bytes,
            lanes: access.lanes,
            site: self.sites.number(table, role, site, access.instruction),
        }
    }

    #[cold]
    pub(super) fn found(
        &mut self,
        who: Who,
        space: Space,
        access: &Numbered<'_>,
        place: Place,
        trouble: &Trouble,
    ) -> Box<Finding> {
        let class = match trouble.before.map(|before| before.wrong) {
            None => Class::Uninitialised,
            Some(Wrong::Race(why)) => Class::Race(why),
            Some(Wrong::Pending) => Class::PendingCopy,
        };
        let clock = &live(&mut self.blocks, who.block).clock;
        let own = Instance {
            launch: clock.launch,
            block: clock.block,
        };
        let side = |site: u32, instance: Instance, thread, is_exact| {
            let site = self.sites.get(site);
            let agent = instance
                .block
                .map_or(Agent::Host, |block| Agent::Thread { block, thread });
            Side {
                launch: instance.launch,
                program: site.program,
                agent,
                what: (!site.is_copy).then_some(site.what),
                instruction: site.instruction,
                is_exact,
            }
        };
        let before = trouble.before.map(|before| {
            let instance = match before.wrong {
                Wrong::Pending => own,
                Wrong::Race(_) => self.world.instance(before.epoch).unwrap_or(own),
            };
            side(before.site, instance, before.thread, before.is_exact)
        });
        Box::new(Finding {
            class,
            space,
            place,
            now: side(access.site, own, who.warp * 32 + trouble.lane, true),
            before,
        })
    }
}

impl Role {
    pub(super) fn of(what: What) -> Role {
        match what {
            What::Read(Strength::Weak | Strength::Strong(..)) => Role::Read,
            What::Write(_) | What::Atomic(..) => Role::Write,
        }
    }
}
