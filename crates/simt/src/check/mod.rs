//! The checks of memory: races, values that nobody has written, bounds, alignment.
//!
//! Every access of instrumented code comes here. Shared memory is known to the block, everything
//! else to the launch: the buffers that it was given, the program's statics, and what the kernel
//! itself has allocated.

mod causality;
mod shadow;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use cuda_std::emulation::{Access, Effect, Scope, program};
use cuda_std::launch::Memory;

use crate::buffers::{self, Contents};
use crate::error::{AccessBy, AccessKind, Location, Thread};
use crate::memory::{BlockMemory, Part};
use crate::{Checks, LaunchError, Shape, coordinates, source};
use causality::{Clock, Released};
pub(crate) use shadow::Written;
use shadow::{Found, Manner, Record, Shadow};

/// What a launch knows of memory outside of its blocks.
pub(crate) struct Watch {
    checks: Checks,
    shape: Shape,
    /// Whether the launch says what it lends.
    is_closed: bool,
    lent: Vec<Lent>,
    /// Index of the buffer that was reached last.
    latest: usize,
    allocated: BTreeMap<usize, usize>,
    released: Released,
}

/// A buffer of the launch, or the program's statics.
struct Lent {
    range: Range<usize>,
    /// None of the statics.
    memory: Option<Memory>,
    shadow: Option<Shadow>,
    contents: Option<Contents>,
}

/// What a block knows of its shared memory, and of the order of its accesses.
pub(crate) struct BlockWatch {
    clock: Clock,
    shared: Shadow,
    written: Written,
    /// The first read since the last barrier of what nobody has written. If somebody writes it
    /// before the next barrier, the two race, which is what is wrong.
    pub(crate) unwritten: Option<LaunchError>,
}

/// Who accesses.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    pub(crate) thread: u32,
    pub(crate) block: u32,
}

impl Watch {
    /// `memory` is what the launch lends, if it says so.
    pub(crate) fn new(checks: Checks, shape: Shape, memory: Option<&[Memory]>) -> Watch {
        let lent = memory.unwrap_or_default().iter().map(|memory| {
            let range = memory.address..memory.address + memory.len * memory.element_bytes;
            Lent {
                shadow: None,
                contents: buffers::contents(&range).filter(|_| checks.uninitialised),
                memory: Some(*memory),
                range,
            }
        });
        let statics = Lent {
            range: program(),
            memory: None,
            shadow: None,
            contents: None,
        };
        Watch {
            checks,
            shape,
            is_closed: memory.is_some(),
            lent: lent.chain([statics]).collect(),
            latest: 0,
            allocated: BTreeMap::new(),
            released: Released::new(),
        }
    }

    /// The kernel may reach this memory too, and nobody else does.
    pub(crate) fn allocated(&mut self, memory: Range<usize>) {
        // What began there was freed since.
        let freed = self.allocated.extract_if(memory.clone(), |_, _| true);
        freed.for_each(drop);
        self.allocated.insert(memory.start, memory.end);
    }

    /// Index of what the access lies in.
    fn find(&mut self, access: &Range<usize>) -> Option<usize> {
        let holds = |lent: &Lent| lent.range.start <= access.start && access.end <= lent.range.end;
        if !holds(&self.lent[self.latest]) {
            self.latest = self.lent.iter().position(holds)?;
        }
        Some(self.latest)
    }

    /// Looks at an access outside of shared memory.
    #[inline]
    fn global(
        &mut self,
        block: &mut BlockWatch,
        who: Who,
        access: &Access,
        range: Range<usize>,
    ) -> Result<(), LaunchError> {
        let Some(found) = self.find(&range) else {
            return self.elsewhere(who, access, &range);
        };
        let lent = &mut self.lent[found];
        if let Some(contents) = &lent.contents
            && !contents.allow(access.effect, &range)
        {
            return Err(LaunchError::Uninitialised {
                location: lent.location(access.address),
                access: self.by(who, access),
            });
        }
        if self.checks.races {
            let shadow = lent.shadow.get_or_insert_with(|| Shadow::new(&lent.range));
            let ordered = |record: &Record| block.clock.is_past(record, who.thread);
            let now = record(&block.clock, who, access);
            if let Some(before) = touch(shadow, access.effect, range, now, ordered) {
                return Err(LaunchError::Race {
                    location: lent.location(access.address),
                    now: self.by(who, access),
                    before: self.of(&before),
                });
            }
        }
        Ok(())
    }

    /// What an access misses that is not aligned.
    pub(crate) fn location(&self, memory: &BlockMemory, address: usize) -> Location {
        if memory.range().contains(&address) {
            let (part, offset) = memory.part(address);
            return part.location(offset, memory);
        }
        self.nearest(address)
    }

    /// An access to memory that is not the launch's.
    fn elsewhere(
        &self,
        who: Who,
        access: &Access,
        range: &Range<usize>,
    ) -> Result<(), LaunchError> {
        let before = self.allocated.range(..=range.start).next_back();
        let is_own = before.is_some_and(|(_, &end)| range.end <= end);
        if is_own || !self.is_closed || !self.checks.bounds {
            return Ok(());
        }
        Err(LaunchError::OutOfBounds {
            location: self.nearest(range.start),
            access: self.by(who, access),
        })
    }

    /// The address as an element of the buffer that it is next to.
    fn nearest(&self, address: usize) -> Location {
        let distance = |lent: &&Lent| {
            let Range { start, end } = lent.range;
            start
                .saturating_sub(address)
                .max(address.saturating_sub(end))
        };
        let buffers = self.lent.iter().filter(|lent| lent.memory.is_some());
        match buffers.min_by_key(distance) {
            // Farther away it says nothing.
            Some(lent) if distance(&lent) < lent.range.len().max(1 << 20) => lent.location(address),
            _ => Location::Unknown { address },
        }
    }

    fn by(&self, who: Who, access: &Access) -> Box<AccessBy> {
        access_by(thread(&self.shape, who.block, who.thread), access)
    }

    /// The access of a record that races with another one.
    fn of(&self, (record, effect): &Found) -> Box<AccessBy> {
        let kind = match (record.manner(), effect) {
            (Manner::Plain, Effect::Read) => AccessKind::Read,
            (Manner::Plain, _) => AccessKind::Write,
            _ => AccessKind::Atomic,
        };
        Box::new(AccessBy {
            thread: thread(&self.shape, record.block, record.thread()),
            kind,
            place: source::describe(record.place()),
        })
    }
}

pub(crate) fn access_by(thread: Thread, access: &Access) -> Box<AccessBy> {
    let kind = match (access.atomic, access.effect) {
        (Some(_), _) => AccessKind::Atomic,
        (None, Effect::Read) => AccessKind::Read,
        (None, _) => AccessKind::Write,
    };
    Box::new(AccessBy {
        thread,
        kind,
        place: source::describe(access.place),
    })
}

pub(crate) fn thread(shape: &Shape, block: u32, thread: u32) -> Thread {
    Thread {
        block: coordinates(block.into(), shape.grid),
        thread: coordinates(thread.into(), shape.block),
    }
}

impl Lent {
    fn location(&self, address: usize) -> Location {
        match &self.memory {
            Some(memory) => Location::Parameter {
                name: memory.parameter.to_owned(),
                element: element(address, self.range.start, memory.element_bytes),
                len: memory.len,
            },
            None => Location::Static { address },
        }
    }
}

/// Which element of those from `start` on.
fn element(address: usize, start: usize, bytes: usize) -> i64 {
    (address as i64 - start as i64).div_euclid(bytes.max(1) as i64)
}

impl BlockWatch {
    pub(crate) fn new(memory: &BlockMemory) -> BlockWatch {
        BlockWatch {
            clock: Clock::new(0),
            shared: Shadow::new(&memory.range()),
            written: Written::none(&memory.range()),
            unwritten: None,
        }
    }

    /// Makes it that of another block. What it remembers of shared memory stays, under the index of
    /// the block that was there.
    pub(crate) fn reset(&mut self, block: u32, used: Range<usize>) {
        self.clock = Clock::new(block);
        self.written.clear(used);
        self.unwritten = None;
    }

    pub(crate) fn barrier(&mut self) {
        self.clock.barrier();
    }

    pub(crate) fn sync_warp(&mut self, warp: u32, lanes: u32) {
        self.clock.sync_warp(warp, lanes);
    }

    pub(crate) fn fence(&mut self, thread: u32, scope: Scope, ordering: Ordering) {
        self.clock.fence(thread, scope, ordering);
    }

    /// Looks at an access to anything but the thread's own stack.
    #[inline]
    pub(crate) fn access(
        &mut self,
        launch: &mut Watch,
        memory: &BlockMemory,
        who: Who,
        access: &Access,
    ) -> Result<(), LaunchError> {
        let range = access.address..access.address.saturating_add(access.bytes);
        if let Some(atomic) = access.atomic {
            let released = &mut launch.released;
            let (address, effect) = (access.address, access.effect);
            self.clock
                .atomic(who.thread, address, effect, atomic, released);
        }
        if memory.range().contains(&access.address) {
            self.shared(launch, memory, who, access, range)
        } else {
            launch.global(self, who, access, range)
        }
    }

    fn shared(
        &mut self,
        launch: &Watch,
        memory: &BlockMemory,
        who: Who,
        access: &Access,
        range: Range<usize>,
    ) -> Result<(), LaunchError> {
        let (part, offset) = memory.part(access.address);
        if launch.checks.bounds && offset + access.bytes > part.bytes(memory) {
            return Err(LaunchError::OutOfBounds {
                location: part.location(offset, memory),
                access: launch.by(who, access),
            });
        }
        if launch.checks.uninitialised {
            if access.effect == Effect::Write {
                self.written.write(range.clone());
            } else if self.unwritten.is_none() && !self.written.has(range.clone()) {
                self.unwritten = Some(LaunchError::Uninitialised {
                    location: part.location(offset, memory),
                    access: launch.by(who, access),
                });
            }
        }
        if !launch.checks.races {
            return Ok(());
        }
        let ordered =
            |record: &Record| record.block != who.block || self.clock.is_past(record, who.thread);
        let now = record(&self.clock, who, access);
        if let Some(before) = touch(&mut self.shared, access.effect, range, now, ordered) {
            return Err(LaunchError::Race {
                location: part.location(offset, memory),
                now: launch.by(who, access),
                before: launch.of(&before),
            });
        }
        Ok(())
    }
}

impl Part {
    fn location(&self, offset: usize, memory: &BlockMemory) -> Location {
        match self {
            Part::Dynamic => Location::DynamicShared {
                byte: offset as i64,
                bytes: self.bytes(memory),
            },
            Part::Array(array) => Location::Shared {
                element_type: array.element,
                element: element(offset, 0, array.element_bytes),
                len: array.len,
            },
        }
    }
}

fn record(clock: &Clock, who: Who, access: &Access) -> Record {
    let manner = match access.atomic {
        None => Manner::Plain,
        Some((Scope::Block, _)) => Manner::AtomicInBlock,
        Some((Scope::Device, _)) => Manner::Atomic,
    };
    Record::new(who.thread, who.block, clock.now(), manner, access.place)
}

/// Remembers the access. Gives one that it races with, if there is one.
fn touch(
    shadow: &mut Shadow,
    effect: Effect,
    range: Range<usize>,
    now: Record,
    ordered: impl Fn(&Record) -> bool,
) -> Option<Found> {
    shadow.cells(range, |cell, bytes| {
        let now = now.with_bytes(bytes);
        match effect {
            Effect::Read => cell.read(now, &ordered),
            _ => cell.write(now, &ordered),
        }
    })
}
