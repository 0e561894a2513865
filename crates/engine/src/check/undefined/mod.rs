//! Values that nothing has written, wherever they go.
//!
//! A load of bytes that nobody has written is no mistake by itself: copies take the padding of structs and the spare room of a
//! vector along. So what is undefined of a value travels with it, bit by bit: through registers ([`Registers`]), and through
//! memory that has been written with it ([`Stored`]). What is in registers the launch keeps, and tells when it is stored or used. It is reported where it decides something, with the load that it came
//! from ([`Origins`]).
//!
//! Nothing of this exists for a launch that reads what has been written, nor for one whose undefined values have all been
//! overwritten: then there is no value in `Registers`, and the executor does not look.

mod origins;
mod registers;
mod results;
mod stored;

pub(crate) use origins::OriginId;
pub(crate) use registers::{RegisterId, Registers, Value};
pub(super) use stored::Stored;

use super::access::{AccessKind, Accessors, BlockId, LaunchId};
use super::finding::{Agent, Finding, Side, SiteId, Verb};
use super::{Access, Checked, Checker, Global, live};
use crate::finding_kind::FindingKind;
use crate::memory::{Cached, Contents, Kind, LANES, Local, Memory, Place as MemoryPlace};
use origins::Origins;
use results::Results;

/// The state of all devices' launches.
#[derive(Debug, Default)]
pub(super) struct Undefined {
    origins: Origins,
    results: Results,
    /// Whether the access that is told has read bytes that nobody has written.
    has_met: bool,
    /// Whether any has: before that there is nothing to look for.
    is_known: bool,
    /// Whether global memory was ever written with an undefined value.
    has_stored: bool,
}

/// Where the lanes of a load have read.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// Global memory.
    Global(&'a Memory),
    /// The shared memory of a block.
    Shared(BlockId),
    /// Local memory of the threads.
    Local(&'a Local),
}

/// The use of an undefined value that decides something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The address of an access.
    Address,
    /// Which way a thread goes.
    Condition,
    /// The address of a function that is called.
    Function,
    /// The divisor.
    Divisor,
    /// The operand of an atomic, or the value with which it compares.
    Atomic,
    /// The lane of a shuffle.
    Lane,
    /// An operand of a barrier, of a copy, of a product of matrices, or of a function of the driver.
    Operand,
    /// The value of a buffer.
    Result,
}

impl Undefined {
    /// A load has read bytes that nobody has written.
    #[cold]
    pub(super) fn meet(&mut self) {
        (self.has_met, self.is_known) = (true, true);
    }

    /// Returns the finding where what a load has read, or what a function has begun with, is used, and since when it is held
    /// back. `None` without either.
    fn found(
        &self,
        origin: OriginId,
        mut now: Side,
        by: Use,
    ) -> Option<(Box<Finding>, Option<origins::Held>)> {
        if !origin.is_known() {
            return None;
        }
        let Some((load, held)) = self.origins.get(origin) else {
            // Any other load that is named would be a wrong one.
            let mut found = Box::new(Finding::new(FindingKind::Uninitialised, now));
            found.details = format!(
                "a value that nothing has written, and that was read too long ago to say where, is used {}",
                by.text()
            );
            return Some((found, None));
        };
        let mut found = Box::new(load.clone());
        if found.place.is_none() {
            // No load, but what a function has begun with.
            now.verb = Verb::Use;
            found.details = format!(
                "`{}`, which nothing has written, is used {}",
                found.details,
                by.text()
            );
            found.now = now;
            return Some((found, None));
        }
        let is_at_once = found.now.site == now.site && found.now.agent == now.agent;
        if !is_at_once || by == Use::Result {
            if by != Use::Result {
                (now.verb, now.access) = (Verb::Use, None);
            }
            found.details = by.text().to_owned();
            found.before = Some(std::mem::replace(&mut found.now, now));
        }
        Some((found, held))
    }

    /// A launch has ended.
    pub(super) fn forget(&mut self, launch: LaunchId) {
        self.results.take(launch);
    }
}

impl Use {
    fn text(self) -> &'static str {
        match self {
            Use::Address => "as an address",
            Use::Condition => "as a condition",
            Use::Function => "as the address of a function",
            Use::Divisor => "as a divisor",
            Use::Atomic => "in an atomic",
            Use::Lane => "as the lane of a shuffle",
            Use::Operand => "as an operand",
            Use::Result => "as a result",
        }
    }
}

impl Checker {
    /// Returns whether an access that was just told may have read something undefined.
    #[inline]
    pub(crate) fn may_be_undefined(&mut self, place: Place<'_>, who: Accessors) -> bool {
        self.undefined.is_known
            && (std::mem::take(&mut self.undefined.has_met) || self.may_be_stored(place, who))
    }

    /// Returns whether memory may have been written with something undefined.
    #[inline]
    pub(crate) fn may_be_stored(&self, place: Place<'_>, who: Accessors) -> bool {
        if !self.undefined.is_known {
            return false;
        }
        let block = |id: BlockId| self.blocks.get(id.0 as usize)?.as_deref();
        match place {
            Place::Global(_) => self.undefined.has_stored,
            Place::Shared(owner) => block(owner).is_some_and(|it| !it.undefined.is_empty()),
            Place::Local(_) => block(who.block).is_some_and(|it| !it.undefined_local.is_empty()),
        }
    }

    /// The undefined bits of the bytes that each lane of an access reads, `None` where there are none. To be asked before an
    /// atomic is told, which counts as a write, and after a load.
    pub(crate) fn undefined_of(
        &mut self,
        place: Place<'_>,
        who: Accessors,
        access: &Access<'_>,
    ) -> Option<Box<Value>> {
        let mut value: Option<Box<Value>> = None;
        for (lane, address) in access.lanes.each() {
            let one = Accessors {
                mask: 1 << lane,
                ..who
            };
            let bytes = access.lanes.bytes;
            let unwritten = self.unwritten(place, one, address, bytes);
            let (stored, origin) = self.stored_in(place, one, address, bytes);
            let bits = unwritten | stored;
            if bits == 0 {
                continue;
            }
            let origin = match unwritten {
                0 => origin,
                _ => self.origin_of(place, one, access, address),
            };
            let value = value.get_or_insert_with(Box::default);
            value.set(lane as usize, bits, origin);
        }
        value
    }

    /// Remembers what of a lane's stored bytes is undefined; `origin` is of no matter where nothing is.
    pub(crate) fn store_undefined(
        &mut self,
        place: Place<'_>,
        who: Accessors,
        (address, bytes): (u64, u32),
        (bits, origin): (u128, OriginId),
        instruction: u32,
    ) {
        let Some((stored, address)) = self.stored(place, who, address) else {
            return;
        };
        if bits == 0 && stored.is_empty() {
            return;
        }
        stored.set(address, bytes, bits, origin);
        let Place::Global(memory) = place else {
            return;
        };
        self.undefined.has_stored |= bits != 0;
        if self.undefined.results.has_room()
            && results::is_one(bits, bytes)
            && is_buffer(memory, address)
        {
            let what = AccessKind::Write(super::Strength::Weak);
            let side = self.side(who, who.mask.trailing_zeros(), instruction, what);
            if let Some(side) = side
                && let Some((found, _)) = self.undefined.found(origin, side, Use::Result)
            {
                let first = u64::from(bits.trailing_zeros() / 8);
                self.undefined.results.note(address + first, found);
            }
        }
    }

    /// Reports the use of an undefined value by a thread. That of shared memory that nobody has written is held back until the
    /// block's next barrier, as long as another thread may write it meanwhile.
    pub(crate) fn used(
        &mut self,
        who: Accessors,
        origin: OriginId,
        instruction: u32,
        by: Use,
    ) -> Checked {
        let lane = who.mask.trailing_zeros();
        let what = AccessKind::Read(super::Strength::Weak);
        let Some(now) = self.side(who, lane, instruction, what) else {
            return Ok(());
        };
        let Some((found, held)) = self.undefined.found(origin, now, by) else {
            return Ok(());
        };
        if let Some(held) = held
            && let Some(block) = self.blocks.get_mut(held.block.0 as usize)
            && let Some(block) = block.as_deref_mut()
            && (block.clock.number, block.clock.barrier) == (held.number, held.barrier)
        {
            block.held.get_or_insert(found);
            return Ok(());
        }
        Err(found.into())
    }

    /// Looks for undefined values that a launch has left in buffers. A launch calls it when it has ended.
    ///
    /// # Errors
    /// The first of them.
    pub fn results(&mut self, memory: &Memory, launch: LaunchId) -> Result<(), Box<Finding>> {
        for (address, found) in self.undefined.results.take(launch) {
            let known = self.global_at(memory, address);
            if known.is_some_and(|it| it.undefined.get(address, 1).0 != 0) {
                return Err(found);
            }
        }
        Ok(())
    }

    /// The allocation that an access begins in: that of an atomic of a byte may end before the word that it is made of.
    fn global_at(&mut self, memory: &Memory, address: u64) -> Option<&mut Global> {
        let mut cached = Cached::default();
        memory.look_up(address, 1, &mut cached).ok()?;
        let known = self.shadows.get_mut(cached.id.slot as usize);
        known.filter(|it| it.id == cached.id)
    }

    /// Bytes of an allocation are written.
    #[inline]
    pub(super) fn define(&mut self, cached: &Cached, all: impl Iterator<Item = (u64, u64)>) {
        if !self.undefined.is_known {
            return;
        }
        let known = self.shadows.get_mut(cached.id.slot as usize);
        if let Some(known) = known.filter(|it| !it.undefined.is_empty()) {
            all.for_each(|(address, bytes)| known.undefined.define(address, bytes));
        }
    }

    /// Bytes of a block's shared memory are written.
    #[inline]
    pub(super) fn define_shared(&mut self, owner: BlockId, all: impl Iterator<Item = (u64, u64)>) {
        if !self.undefined.is_known {
            return;
        }
        let block = self.blocks.get_mut(owner.0 as usize);
        let block = block.and_then(Option::as_deref_mut);
        if let Some(block) = block.filter(|it| !it.undefined.is_empty()) {
            all.for_each(|(address, bytes)| block.undefined.define(address, bytes));
        }
    }

    /// The bits of an access that nobody has written.
    fn unwritten(&mut self, place: Place<'_>, who: Accessors, address: u64, bytes: u32) -> u128 {
        let unwritten = match place {
            Place::Global(memory) => match self.global_at(memory, address) {
                Some(Global {
                    shadow: Some(shadow),
                    contents: Contents::Undefined,
                    ..
                }) => shadow.unwritten(address, bytes, 1),
                _ => 0,
            },
            Place::Shared(owner) => {
                let block = live(&mut self.blocks, owner);
                let start = block.clock.start;
                block.shadow.unwritten(address, bytes, start)
            }
            Place::Local(_) => {
                let block = live(&mut self.blocks, who.block);
                block.local[who.warp as usize].unwritten(address, bytes, who.mask)
            }
        };
        bits_of_bytes(unwritten)
    }

    fn stored_in(
        &mut self,
        place: Place<'_>,
        who: Accessors,
        address: u64,
        bytes: u32,
    ) -> (u128, OriginId) {
        let stored = self.stored(place, who, address);
        stored.map_or_else(Default::default, |(stored, at)| stored.get(at, bytes))
    }

    /// Returns the undefined values that the memory at an address was written with, and the address by which they are kept.
    fn stored(
        &mut self,
        place: Place<'_>,
        who: Accessors,
        address: u64,
    ) -> Option<(&mut Stored, u64)> {
        match place {
            Place::Global(memory) => {
                let known = self.global_at(memory, address)?;
                Some((&mut known.undefined, address))
            }
            Place::Shared(owner) => {
                let block = self.blocks.get_mut(owner.0 as usize)?.as_deref_mut()?;
                Some((&mut block.undefined, address))
            }
            Place::Local(_) => {
                let block = self.blocks.get_mut(who.block.0 as usize)?.as_deref_mut()?;
                let thread = u64::from(who.warp * LANES as u32 + who.mask.trailing_zeros());
                Some((&mut block.undefined_local, thread << 32 | address))
            }
        }
    }

    /// The origin of what a lane reads that nobody has written.
    fn origin_of(
        &mut self,
        place: Place<'_>,
        who: Accessors,
        access: &Access<'_>,
        address: u64,
    ) -> OriginId {
        let lane = who.mask.trailing_zeros();
        let of = (access.instruction, access.what, address);
        self.origin_at(who, of, |checker| match place {
            Place::Global(memory) => (memory.place(address), None),
            Place::Local(local) => (local.place(lane, address), None),
            Place::Shared(owner) => {
                let block = live(&mut checker.blocks, owner);
                let held = origins::Held {
                    block: owner,
                    number: block.clock.number,
                    barrier: block.clock.barrier,
                };
                (block.layout.place(address), Some(held))
            }
        })
    }

    /// The number of a lane's load from a place in tensor memory, which nobody has written.
    pub(super) fn origin_in_tensor(
        &mut self,
        who: Accessors,
        instruction: u32,
        (address, place): (u64, MemoryPlace),
    ) -> OriginId {
        let what = AccessKind::Read(super::Strength::Weak);
        self.origin_at(who, (instruction, what, address), |_| (place, None))
    }

    /// The number of what a function begins with of a register, or of a value that it returns.
    pub(crate) fn unset(
        &mut self,
        block: BlockId,
        (function, slot): (u32, u32),
        name: &str,
    ) -> OriginId {
        self.undefined.is_known = true;
        let program = live(&mut self.blocks, block).program;
        let key = origins::Key {
            launch: None,
            program,
            instruction: function,
            agent: Agent::Kernel,
            address: slot.into(),
        };
        if let Some(known) = self.undefined.origins.find(&key) {
            return known;
        }
        let site = SiteId {
            program,
            instruction: function,
        };
        let now = Side::new(Agent::Kernel, Verb::Use, site);
        let mut found = Box::new(Finding::new(FindingKind::Uninitialised, now));
        found.details = name.to_owned();
        self.undefined.origins.add(key, found, None)
    }

    /// The number of a lane's load from an address, whose place, and since when it is held back, `describe` tells.
    fn origin_at(
        &mut self,
        who: Accessors,
        (instruction, what, address): (u32, AccessKind, u64),
        describe: impl FnOnce(&mut Checker) -> (MemoryPlace, Option<origins::Held>),
    ) -> OriginId {
        self.undefined.is_known = true;
        let lane = who.mask.trailing_zeros();
        let Some(now) = self.side(who, lane, instruction, what) else {
            return OriginId::default();
        };
        let key = origins::Key {
            launch: now.launch,
            program: now.site.program,
            instruction,
            agent: now.agent,
            address,
        };
        if let Some(known) = self.undefined.origins.find(&key) {
            return known;
        }
        let (place, held) = describe(self);
        let finding = Box::new(Finding {
            place: Some(place),
            ..Finding::new(FindingKind::Uninitialised, now)
        });
        self.undefined.origins.add(key, finding, held)
    }
}

/// Whether the host can read what lies at an address.
fn is_buffer(memory: &Memory, address: u64) -> bool {
    let found = memory.find(address);
    found.is_some_and(|it| matches!(it.kind, Kind::Buffer | Kind::Host))
}

/// The bits of bytes that a mask names.
fn bits_of_bytes(bytes: u16) -> u128 {
    (0..16)
        .filter(|byte| bytes >> byte & 1 == 1)
        .fold(0, |bits, byte| bits | 0xff << (8 * byte))
}
