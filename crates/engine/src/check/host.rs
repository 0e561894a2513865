//! Accesses of the host, and memory that it vouches for.

use super::access::{AccessKind, Accessors, Strength, Unwritten};
use super::clock::Clock;
use super::sites::{HOST_READS, HOST_WRITES, OF_HOST};
use super::streams::Operation;
use super::warp::Numbered;
use super::{Checked, Checker, Global};
use crate::finding_kind::Severity;
use crate::memory::{Cached, Contents, Direction, LANES, Lanes, Memory, Pattern, Shared};

impl Checker {
    /// The host, or a copy or a fill in a stream, reads or writes global memory.
    ///
    /// # Errors
    /// It races with another access. That the host reads bytes without a value is its own affair.
    pub fn host(
        &mut self,
        memory: &Memory,
        operation: Operation,
        (start, bytes): (u64, u64),
        direction: Direction,
    ) -> Checked {
        let shape = super::Shape {
            program: OF_HOST,
            threads: 32,
            device: memory.device(),
            is_joined: memory.has_peers(),
            blocks_per_cluster: 1,
            ends_with: Severity::Benign,
        };
        let launch = self.launch(operation, shape);
        let clock = Clock::new(&mut self.world, launch, None, shape);
        let block = self.seat(clock, shape, &Shared::new(&[], 0, 0));
        let who = Accessors {
            block,
            warp: 0,
            mask: u32::MAX,
        };
        let what = match direction {
            Direction::Read => AccessKind::Read(Strength::Weak),
            Direction::Write => AccessKind::Write(Strength::Weak),
        };
        let result = self.host_each(memory, who, (start, bytes), what);
        let ended = self.end_block(who.block);
        self.end_launch(launch);
        result.and(ended)
    }

    /// An unchecked launch has run: what the memory holds now counts as written.
    pub fn trust(&mut self, memory: &Memory) {
        for allocation in memory.allocations() {
            let slot = allocation.id.slot as usize;
            if slot >= self.shadows.len() {
                self.shadows.resize_with(slot + 1, Global::default);
            }
            let known = &mut self.shadows[slot];
            if known.id != allocation.id {
                *known = Global::default();
            }
            known.id = allocation.id;
            known.contents = Contents::Defined;
        }
    }

    fn host_each(
        &mut self,
        memory: &Memory,
        who: Accessors,
        (start, bytes): (u64, u64),
        what: AccessKind,
    ) -> Checked {
        let mut cached = Cached::default();
        let (mut at, end) = (start, start.saturating_add(bytes));
        let mut addresses = [0; LANES];
        while at < end {
            let size = [16, 4, 1]
                .into_iter()
                .find(|size| at % size == 0 && end - at >= *size);
            let size = size.unwrap_or(1);
            let count = ((end - at) / size).min(if size == 16 { 32 } else { 1 });
            for (lane, address) in (0..count).zip(&mut addresses) {
                *address = at + lane * size;
            }
            let lanes = Lanes {
                addresses: &addresses,
                mask: u32::MAX >> (32 - count),
                bytes: size as u32,
                pattern: Pattern::Consecutive { start: at },
            };
            let access = Numbered {
                warp: 0,
                what,
                element_bytes: size as u32,
                lanes: &lanes,
                site: match what {
                    AccessKind::Read(_) => HOST_READS,
                    _ => HOST_WRITES,
                },
                unwritten: Unwritten::Found,
                stored: None,
                is_inval: false,
            };
            self.global_in_each(memory, &mut cached, who, &access)?;
            at += count * size;
        }
        Ok(())
    }
}
