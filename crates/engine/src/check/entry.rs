//! Accesses to global and shared memory, and what is found.

use super::access::{Access, AccessKind, Accessors, Strength, Unwritten};
use super::cell::Wrong;
use super::clock::space_of;
use super::epochs::Instance;
use super::finding::{Agent, Finding, Side, Verb};
use super::shadow::Shadow;
use super::sites::{Role, Site};
use super::strong::Reach;
use super::warp::{Ground, Numbered, Trouble, Troubles};
use super::{Block, BlockId, Checked, Checker, Global, live};
use crate::finding_kind::{FindingKind, RaceReason};
use crate::memory::{Cached, Contents, Lanes, Memory, Pattern, Place};

impl Checker {
    /// An access to global memory, that `memory` has resolved with `cached`.
    ///
    /// # Errors
    /// It races with another access, or reads bytes that nobody has written.
    #[inline]
    pub fn global(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Accessors,
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
        who: Accessors,
        access: &Numbered<'_>,
    ) -> Checked {
        let (first, last) = access.lanes.span();
        if cached.covers(first, last) {
            return self.global_in(memory, cached, who, access);
        }
        let mut left = access.lanes.mask;
        while left != 0 {
            let rest = Lanes {
                mask: left,
                pattern: Pattern::Any,
                ..*access.lanes
            };
            let lane = left.trailing_zeros();
            let address = rest.addresses[lane as usize];
            left &= left - 1;
            if memory.look_up(address, rest.bytes, cached).is_err() {
                continue;
            }
            let there = rest
                .each()
                .filter(|(_, at)| cached.covers(*at, at.wrapping_add(u64::from(rest.bytes) - 1)))
                .fold(1 << lane, |there, (lane, _)| there | 1 << lane);
            left &= !there;
            let lanes = Lanes {
                mask: there,
                ..rest
            };
            let some = Numbered {
                lanes: &lanes,
                ..*access
            };
            self.global_in(memory, cached, who, &some)?;
        }
        Ok(())
    }

    fn global_in(
        &mut self,
        memory: &Memory,
        cached: &Cached,
        who: Accessors,
        access: &Numbered<'_>,
    ) -> Checked {
        self.global_in_with(memory, cached, who, access, |ground| ground.access(access))?;
        let lanes = access.lanes;
        if access.what.writes() {
            let all = lanes.each().map(|(_, at)| (at, u64::from(lanes.bytes)));
            self.define(cached, all);
        }
        let all = lanes.each().map(|(lane, at)| (lane, at, lanes.bytes));
        self.overwrite(memory, cached, who, access, all)
    }

    /// One thread's access to some of an allocation.
    pub(super) fn global_by_one(
        &mut self,
        memory: &Memory,
        cached: &Cached,
        who: Accessors,
        access: &Numbered<'_>,
        (address, bytes): (u64, u32),
    ) -> Checked {
        let lane = who.mask.trailing_zeros();
        let all = [(address, u64::from(bytes))];
        self.global_in_with(memory, cached, who, access, |ground| {
            ground.by_one(access, lane, all.into_iter());
        })?;
        if access.what.writes() {
            self.define(cached, [(address, u64::from(bytes))].into_iter());
        }
        let all = std::iter::once((lane, address, bytes));
        self.overwrite(memory, cached, who, access, all)
    }

    fn global_in_with(
        &mut self,
        memory: &Memory,
        cached: &Cached,
        who: Accessors,
        access: &Numbered<'_>,
        reaches: impl FnOnce(&mut Ground<'_>),
    ) -> Checked {
        let (shadow, contents) = Global::of(&mut self.shadows, cached)?;
        let block = live(&mut self.blocks, who.block);
        // The host may copy what has no value yet.
        let is_kernel = block.clock.block.is_some();
        let unwritten = u32::from(is_kernel && contents == Contents::Undefined);
        let mut ground = Ground {
            floor: block.clock.floor,
            unwritten,
            initial: 0,
            reach: Reach::All,
            world: &mut self.world,
            clock: &mut block.clock,
            sites: &self.sites,
            sets: &mut self.sets,
            sweeps: &self.sweeps,
            shadow,
            found: Troubles::default(),
            overwritten: Vec::new(),
            space: 0,
        };
        reaches(&mut ground);
        let Troubles {
            race,
            empty,
            benign,
        } = ground.found;
        if self.sets.are_many() {
            self.collect_sets();
        }
        if self.sets.is_full() {
            let block = live(&mut self.blocks, who.block);
            block.clock.tick(&mut self.world);
            self.sets.clear(self.world.now());
        }
        if let (None, Some(trouble)) = (race, benign) {
            let place = |_: &Checker| memory.place(trouble.address);
            self.keep(who, access, place, &trouble)?;
        }
        match race.or(empty) {
            None => Ok(()),
            Some(trouble) if trouble.before.is_none() && access.unwritten == Unwritten::Carried => {
                self.undefined.meet();
                Ok(())
            }
            Some(trouble) => {
                let place = memory.place(trouble.address);
                Err(self.found(who, access, place, &trouble).into())
            }
        }
    }

    /// Leaves out the sets of accesses that no cell refers to any more.
    #[cold]
    fn collect_sets(&mut self) {
        let shadows = || self.shadows.iter().filter_map(|it| it.shadow.as_ref());
        if !self.sets.allow(shadows().map(Shadow::lines).sum()) {
            let shadows = self.shadows.iter_mut().filter_map(|it| it.shadow.as_mut());
            self.sets.collect(shadows.flat_map(Shadow::sets));
        }
    }

    /// An access to the block's own shared memory, by offsets that the launch's layout has resolved.
    ///
    /// # Errors
    /// It races with another access. Reads of bytes that nobody has written are held back.
    #[inline]
    pub fn shared(&mut self, who: Accessors, access: &Access<'_>) -> Checked {
        self.shared_of(who.block, who, access)
    }

    /// As [`Checker::shared`], of another block in the cluster.
    ///
    /// # Errors
    /// As there.
    pub fn shared_of(&mut self, owner: BlockId, who: Accessors, access: &Access<'_>) -> Checked {
        let numbered = self.numbered(who, access, Role::of(access.what));
        self.numbered_in_shared(owner, who, &numbered)
    }

    /// A thread arrives at an mbarrier in shared memory of a block, by `mbarrier.arrive`.
    ///
    /// # Errors
    /// As [`Checker::shared`].
    pub fn arrive_at(&mut self, owner: BlockId, who: Accessors, access: &Access<'_>) -> Checked {
        let numbered = self.numbered(who, access, Role::Arrival);
        self.numbered_in_shared(owner, who, &numbered)
    }

    /// A thread ends an mbarrier in shared memory of a block, by `mbarrier.inval`.
    ///
    /// # Errors
    /// As [`Checker::shared`]; that others which have waited or arrived are not known to come before is benign.
    pub fn invalidate(&mut self, owner: BlockId, who: Accessors, access: &Access<'_>) -> Checked {
        let numbered = Numbered {
            is_inval: true,
            ..self.numbered(who, access, Role::of(access.what))
        };
        self.numbered_in_shared(owner, who, &numbered)
    }

    fn numbered_in_shared(
        &mut self,
        owner: BlockId,
        who: Accessors,
        numbered: &Numbered<'_>,
    ) -> Checked {
        let pending = self.pending_reads(owner, numbered);
        let Troubles {
            race,
            empty,
            benign,
        } = self.in_shared(owner, who, numbered);
        if let Some(trouble) = pending.or(race) {
            let block = live(&mut self.blocks, owner);
            let place = block.layout.place(trouble.address);
            block.held = None;
            return Err(self.found(who, numbered, place, &trouble).into());
        }
        if let Some(trouble) = benign {
            self.keep(who, numbered, in_shared_of(owner, &trouble), &trouble)?;
        }
        if empty.is_some() && numbered.unwritten == Unwritten::Carried {
            self.undefined.meet();
        } else if let Some(trouble) = empty
            && live(&mut self.blocks, owner).held.is_none()
        {
            let place = live(&mut self.blocks, owner).layout.place(trouble.address);
            let found = self.found(who, numbered, place, &trouble);
            live(&mut self.blocks, owner).held = Some(found);
        }
        Ok(())
    }

    pub(super) fn in_shared(
        &mut self,
        owner: BlockId,
        who: Accessors,
        access: &Numbered<'_>,
    ) -> Troubles {
        let found = self.in_shared_with(owner, who, |ground| ground.access(access));
        if access.what.writes() {
            let lanes = access.lanes;
            let all = lanes.each().map(|(_, at)| (at, u64::from(lanes.bytes)));
            self.define_shared(owner, all);
        }
        found
    }

    pub(super) fn in_shared_with(
        &mut self,
        owner: BlockId,
        who: Accessors,
        reaches: impl FnOnce(&mut Ground<'_>),
    ) -> Troubles {
        // Out of its place while the accessing block's clock, or its own, is at hand.
        let Some(mut held) = self.blocks[owner.0 as usize].take() else {
            return Troubles::default();
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
            (start + 1, Reach::All)
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
            found: Troubles::default(),
            overwritten: Vec::new(),
            space: space_of(start),
        };
        reaches(&mut ground);
        let found = ground.found;
        self.blocks[owner.0 as usize] = Some(held);
        found
    }

    pub(super) fn numbered<'a>(
        &mut self,
        who: Accessors,
        access: &Access<'a>,
        role: Role,
    ) -> Numbered<'a> {
        let block = live(&mut self.blocks, who.block);
        let (table, program) = (block.table, block.program);
        let element_bytes = access.element_bytes.min(access.lanes.bytes);
        let is_part = element_bytes < access.element_bytes;
        let role = match (role, is_part) {
            (Role::Write, true) if element_bytes == 1 => Role::Byte,
            (Role::Write, true) => Role::Half,
            _ => role,
        };
        let site = || Site {
            program,
            instruction: access.instruction,
            what: access.what,
            is_copy: role.is_copy(),
            is_bulk: role.is_bulk(),
            is_arrival: role == Role::Arrival,
            does: role.does(),
            is_part,
            element_bytes,
        };
        Numbered {
            warp: who.warp,
            what: access.what,
            element_bytes,
            lanes: access.lanes,
            unwritten: access.unwritten,
            stored: access.stored,
            is_inval: false,
            site: self.sites.number(table, role, site, access.instruction),
        }
    }

    #[cold]
    pub(super) fn found(
        &mut self,
        who: Accessors,
        access: &Numbered<'_>,
        place: impl Into<Option<Place>>,
        trouble: &Trouble,
    ) -> Box<Finding> {
        let clock = &live(&mut self.blocks, who.block).clock;
        let beside = clock.beside;
        let own = Instance {
            launch: clock.launch,
            device: clock.device,
            block: clock.block,
        };
        let side = |site: u32, instance: Instance, thread, is_exact| {
            let site = self.sites.get(site);
            let agent = instance
                .block
                .map_or(Agent::Host, |block| Agent::Thread { block, thread });
            Side {
                launch: Some(instance.launch),
                device: instance.block.map(|_| instance.device),
                is_exact,
                access: (!site.is_copy).then_some(site.what),
                ..Side::new(agent, site.verb(), site.at())
            }
        };
        let before = trouble.before.map(|before| {
            let instance = match before.kind {
                // Of a block's own, which has no epoch yet.
                Wrong::PendingCopy
                | Wrong::PendingProduct
                | Wrong::EarlyRegister
                | Wrong::UnfencedRegister => own,
                _ => self.world.instance(before.epoch).unwrap_or(own),
            };
            side(before.site, instance, before.thread, before.is_exact)
        });
        let kind = trouble.before.map(|before| before.kind.into());
        let mut kind = kind.unwrap_or(FindingKind::Uninitialised);
        let other = before.as_ref().and_then(|it: &Side| it.launch);
        if let FindingKind::Race { reason } = &mut kind
            && beside.is_some_and(|it| other == Some(it))
        {
            *reason = RaceReason::Dependent;
        }
        let mut now = side(access.site, own, who.warp * 32 + trouble.lane, true);
        if kind == FindingKind::UnfencedMbarrier {
            now.verb = Verb::Count;
        }
        Box::new(Finding {
            place: place.into(),
            before,
            ..Finding::new(kind, now)
        })
    }
}

/// The place of what is wrong in shared memory of a block.
pub(super) fn in_shared_of(
    owner: BlockId,
    trouble: &Trouble,
) -> impl FnOnce(&Checker) -> Place + use<> {
    let address = trouble.address;
    move |checker| {
        let block = checker.blocks[owner.0 as usize].as_deref();
        let block = block.expect("the block has not ended");
        block.layout.place(address)
    }
}

impl Role {
    pub(super) fn of(what: AccessKind) -> Role {
        match what {
            AccessKind::Read(Strength::Weak | Strength::Strong(..)) => Role::Read,
            AccessKind::Write(_) | AccessKind::Atomic(..) => Role::Write,
        }
    }
}
