//! Each bug beside its correct twin, and programs at random against an oracle.

#![allow(clippy::unwrap_used)]

mod benign;
mod copies;
mod devices;
mod host;
mod messages;
mod oracle;
mod races;
mod rows;
mod speed;
mod values;

use super::*;
use crate::finding_kind::{FindingKind, RaceReason, Severity};
use crate::memory::{Fault, LANES, Label, Lanes, Limits, Local, Memory, Variable};

/// Plain accesses.
pub(super) const READ: AccessKind = AccessKind::Read(Strength::Weak);
pub(super) const WRITE: AccessKind = AccessKind::Write(Strength::Weak);

/// A strong read and a strong write.
pub(super) fn load(order: Order, scope: Scope) -> AccessKind {
    AccessKind::Read(Strength::Strong(order, scope))
}

pub(super) fn store(order: Order, scope: Scope) -> AccessKind {
    AccessKind::Write(Strength::Strong(order, scope))
}

/// A device, a launch on it, and buffers `x` and `flag`.
pub(super) struct Device {
    pub(super) memory: Memory,
    pub(super) checker: Checker,
    pub(super) streams: Streams,
    pub(super) stream: Stream,
    pub(super) launch: LaunchId,
    pub(super) x: u64,
    pub(super) flag: u64,
    pub(super) layout: Shared,
    pub(super) next: u32,
}

pub(super) fn shape(threads: u32) -> Shape {
    Shape {
        program: 1,
        threads,
        device: 0,
        is_joined: false,
        blocks_per_cluster: 1,
        ends_with: Severity::Benign,
    }
}

impl Device {
    pub(super) fn new(threads: u32) -> Device {
        let memory = Memory::new(Limits::default());
        let allocate = |bytes, contents, name| {
            memory
                .allocate(bytes, 256, contents, Label::new(name, 4))
                .unwrap()
        };
        let x = allocate(1 << 12, Contents::Defined, "x");
        let flag = allocate(64, Contents::Defined, "flag");
        let mut streams = Streams::default();
        let stream = streams.stream();
        let mut checker = Checker::new();
        let launch = checker.launch(streams.enqueue(stream), shape(threads));
        let tile = Variable {
            label: Label::new("tile", 4),
            bytes: 1024,
            alignment: 16,
        };
        Device {
            layout: Shared::new(&[tile], 256, 256),
            memory,
            checker,
            streams,
            stream,
            launch,
            x,
            flag,
            next: 0,
        }
    }

    pub(super) fn block(&mut self, index: u64) -> BlockId {
        self.checker.begin_block(self.launch, index, &self.layout)
    }

    /// The first block of a launch on another device, which runs at the same time.
    pub(super) fn block_elsewhere(&mut self, device: u32, threads: u32) -> BlockId {
        let stream = self.streams.stream();
        self.begin_in(stream, device, threads).1
    }

    /// A launch in a stream of a device that is joined to others, and its first block.
    pub(super) fn begin_in(
        &mut self,
        stream: Stream,
        device: u32,
        threads: u32,
    ) -> (LaunchId, BlockId) {
        let shape = Shape {
            device,
            is_joined: true,
            ..shape(threads)
        };
        let launch = self.checker.launch(self.streams.enqueue(stream), shape);
        (launch, self.checker.begin_block(launch, 0, &self.layout))
    }

    /// One thread's access to global memory.
    pub(super) fn at(
        &mut self,
        block: BlockId,
        thread: u32,
        what: AccessKind,
        address: u64,
        bytes: u32,
    ) -> Checked {
        let mut addresses = [0; LANES];
        addresses[thread as usize % 32] = address;
        self.warp(
            block,
            thread / 32,
            1 << (thread % 32),
            what,
            &addresses,
            bytes,
        )
    }

    pub(super) fn warp(
        &mut self,
        block: BlockId,
        warp: u32,
        mask: u32,
        what: AccessKind,
        addresses: &[u64; LANES],
        bytes: u32,
    ) -> Checked {
        let lanes = Lanes::new(addresses, mask, bytes);
        let access = self.access(what, &lanes);
        let who = Accessors { block, warp, mask };
        let mut cached = Cached::default();
        let direction = if what.writes() {
            crate::memory::Direction::Write
        } else {
            crate::memory::Direction::Read
        };
        match self.memory.resolve(&lanes, direction, &mut cached) {
            Ok(()) => self.checker.global(&self.memory, &mut cached, who, &access),
            Err(fault) => Err(Box::new(self.fault(who, &access, fault)).into()),
        }
    }

    /// One thread's access to shared memory.
    pub(super) fn shared(
        &mut self,
        block: BlockId,
        thread: u32,
        what: AccessKind,
        offset: u64,
        bytes: u32,
    ) -> Checked {
        let mut addresses = [0; LANES];
        addresses[thread as usize % 32] = offset;
        let mask = 1 << (thread % 32);
        let lanes = Lanes::new(&addresses, mask, bytes);
        let access = self.access(what, &lanes);
        let who = Accessors {
            block,
            warp: thread / 32,
            mask,
        };
        match self.layout.resolve(&lanes) {
            Ok(()) => self.checker.shared(who, &access),
            Err(fault) => Err(Box::new(self.fault(who, &access, fault)).into()),
        }
    }

    /// A fault of an access as a finding.
    fn fault(&self, who: Accessors, access: &Access<'_>, fault: Fault) -> Finding {
        let side = self
            .checker
            .side(who, fault.lane, access.instruction, access.what);
        Finding {
            place: Some(*fault.place),
            ..Finding::new(fault.kind, side.unwrap())
        }
    }

    fn access<'a>(&mut self, what: AccessKind, lanes: &'a Lanes<'a>) -> Access<'a> {
        self.next += 1;
        Access {
            instruction: self.next,
            what,
            element_bytes: lanes.bytes,
            lanes,
            unwritten: crate::check::Unwritten::Found,
            stored: None,
        }
    }

    pub(super) fn fence(&mut self, block: BlockId, thread: u32, order: Order, scope: Scope) {
        self.checker.fence(one(block, thread), order, scope);
    }
}

pub(super) fn one(block: BlockId, thread: u32) -> Accessors {
    Accessors {
        block,
        warp: thread / 32,
        mask: 1 << (thread % 32),
    }
}

pub(super) fn is_race(checked: Checked) -> bool {
    found(checked).is_some_and(|found| {
        assert!(matches!(found.kind, FindingKind::Race { .. }), "{found}");
        true
    })
}

pub(super) fn class(checked: Checked) -> Option<FindingKind> {
    found(checked).map(|found| found.kind)
}

pub(super) fn found(checked: Checked) -> Option<Box<Finding>> {
    checked.err().map(|stop| match *stop {
        Stop::Found(finding) => finding,
        Stop::NoMemory { bytes } => panic!("no {bytes} bytes"),
    })
}

pub(super) fn frame(threads: u32) -> (Device, BlockId, Local) {
    let mut device = Device::new(threads);
    let block = device.block(0);
    (device, block, Local::new(64))
}
