//! Sums: of what cores have counted, and of launches.

use std::collections::HashMap;

use super::report::Issues;
use super::tally::{OfAccess, OfBlock, OfFunction, OfRows, Switches, Tally};
use super::{Buffer, Counted, Counts, Footprint, Memory};

impl Tally {
    /// Adds what another core has counted in the same launch, when no block runs.
    pub(crate) fn add(&mut self, other: Tally) {
        if self.functions.is_empty() {
            *self = other;
            return;
        }
        if self.functions.len() < other.functions.len() {
            self.functions.resize_with(other.functions.len(), || None);
        }
        for (own, other) in self.functions.iter_mut().zip(other.functions) {
            match (own, other) {
                (Some(own), Some(other)) => own.add(&other),
                (own @ None, Some(other)) => *own = Some(other),
                (_, None) => {}
            }
        }
        self.reached.add(&other.reached);
        self.read_by_blocks += other.read_by_blocks;
        self.written_by_blocks += other.written_by_blocks;
    }
}

impl Tally {
    /// Adds the basic blocks of another launch, and nothing about memory.
    pub(crate) fn add_blocks(&mut self, other: &Tally) {
        if self.functions.len() < other.functions.len() {
            self.functions.resize_with(other.functions.len(), || None);
        }
        for (own, other) in self.functions.iter_mut().zip(&other.functions) {
            let Some(other) = other else { continue };
            let own =
                own.get_or_insert_with(|| Box::new(OfFunction::of_blocks(other.blocks.len())));
            own.add_blocks(other);
        }
    }

    /// The basic blocks of a function, in the order of its program, and where its switches led to; none where it has
    /// not run.
    pub(crate) fn blocks_of(&self, function: u32) -> Option<(&[OfBlock], &Switches)> {
        let function = self.functions.get(function as usize)?.as_ref()?;
        Some((&function.blocks, &function.switches))
    }

    /// The functions that have run, by their numbers, each with its basic blocks and where its switches led to.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (u32, &[OfBlock], &Switches)> {
        let numbers = 0..self.functions.len() as u32;
        numbers.filter_map(|number| {
            let (blocks, switches) = self.blocks_of(number)?;
            Some((number, blocks, switches))
        })
    }
}

impl OfFunction {
    fn add_blocks(&mut self, other: &OfFunction) {
        for (own, other) in self.blocks.iter_mut().zip(&other.blocks) {
            own.runs += other.runs;
            own.lanes += other.lanes;
            own.taken += other.taken;
            own.splits += other.splits;
        }
        for (&way, &lanes) in &other.switches {
            *self.switches.entry(way).or_default() += lanes;
        }
        for (&instruction, &operations) in &other.products {
            *self.products.entry(instruction).or_default() += operations;
        }
    }

    fn add(&mut self, other: &OfFunction) {
        self.add_blocks(other);
        let rows = self.rows.as_flattened_mut().iter_mut();
        for (own, other) in rows.zip(other.rows.as_flattened()) {
            if other.requests > 0 {
                own.add(other);
            }
        }
        let (own, other) = (
            self.accesses
                .iter_mut()
                .chain(self.copies.as_flattened_mut()),
            other.accesses.iter().chain(other.copies.as_flattened()),
        );
        for (own, other) in own.zip(other) {
            if other.requests > 0 {
                own.add(other);
            }
        }
    }
}

impl OfRows {
    fn add(&mut self, other: &OfRows) {
        (self.instruction, self.width) = (other.instruction, other.width);
        self.requests += other.requests;
        self.off += other.off;
        self.new_sectors += other.new_sectors;
    }
}

impl OfAccess {
    pub(super) fn add(&mut self, other: &OfAccess) {
        (self.instruction, self.width) = (other.instruction, other.width);
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.least_sectors += other.least_sectors;
        self.new_sectors += other.new_sectors;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
        self.consecutive += other.consecutive;
        self.same += other.same;
        self.irregular += other.irregular;
        other
            .strides()
            .for_each(|(stride, times)| self.add_stride(stride, times));
    }
}

impl Counts {
    /// Adds what other launches of the kernel did. Sectors that both reached are counted in both.
    pub fn add(&mut self, other: &Counts) {
        self.launches += other.launches;
        self.blocks += other.blocks;
        self.warps += other.warps;
        self.threads += other.threads;
        self.footprint.add(&other.footprint);
        let key = |it: &Counted| (it.function.clone(), it.instruction);
        let own = self.instructions.iter().enumerate();
        let places: HashMap<_, _> = own.map(|(place, it)| (key(it), place)).collect();
        for it in &other.instructions {
            match places.get(&key(it)) {
                Some(&place) => self.instructions[place].add(it),
                None => self.instructions.push(it.clone()),
            }
        }
        self.sort();
    }

    /// Puts the kernel's instructions before those of functions, which are in the order of their names.
    pub(super) fn sort(&mut self) {
        let own = &self.kernel;
        let key = |it: &Counted| (it.function != *own, it.instruction);
        self.instructions.sort_by(|a, b| {
            let ((a_is_called, a_at), (b_is_called, b_at)) = (key(a), key(b));
            let by_name = || a.function.cmp(&b.function);
            let by_function = a_is_called.cmp(&b_is_called).then_with(by_name);
            by_function.then(a_at.cmp(&b_at))
        });
    }

    /// The instructions of a function, which lie side by side.
    pub(super) fn instructions_of(&mut self, function: &str) -> &mut [Counted] {
        let is_of = |it: &Counted| it.function == function;
        let all = &mut self.instructions[..];
        let first = all.iter().position(is_of).unwrap_or(all.len());
        let count = all[first..].iter().take_while(|it| is_of(it)).count();
        &mut all[first..first + count]
    }
}

impl Footprint {
    pub(super) fn add(&mut self, other: &Footprint) {
        self.read += other.read;
        self.written += other.written;
        self.either += other.either;
        self.read_by_blocks += other.read_by_blocks;
        self.written_by_blocks += other.written_by_blocks;
        for buffer in &other.buffers {
            let is_same = |it: &&mut Buffer| (&it.name, it.bytes) == (&buffer.name, buffer.bytes);
            match self.buffers.iter_mut().find(is_same) {
                Some(own) => own.add(buffer),
                None => self.buffers.push(buffer.clone()),
            }
        }
    }
}

impl Buffer {
    fn add(&mut self, other: &Buffer) {
        self.read += other.read;
        self.written += other.written;
        self.either += other.either;
    }
}

impl Counted {
    fn add(&mut self, other: &Counted) {
        let issues = Issues {
            warps: other.warps,
            lanes: other.lanes,
            threads: other.threads,
            runtime_operations: other.runtime_operations,
            branch: other.branch,
        };
        self.add_issues(&issues, &other.memory);
    }

    pub(super) fn add_issues(&mut self, other: &Issues, memory: &[Memory]) {
        self.warps += other.warps;
        self.lanes += other.lanes;
        self.threads += other.threads;
        self.runtime_operations += other.runtime_operations;
        for memory in memory {
            match self.memory.iter_mut().find(|it| it.space == memory.space) {
                Some(own) => own.add(memory),
                None => self.memory.push(*memory),
            }
        }
        if let (Some(own), Some(other)) = (&mut self.branch, other.branch) {
            own.taken += other.taken;
            own.not_taken += other.not_taken;
            own.splits += other.splits;
        }
    }
}

impl Memory {
    fn add(&mut self, other: &Memory) {
        if other.requests > self.requests {
            self.stride = other.stride;
        }
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.least_sectors += other.least_sectors;
        self.new_sectors += other.new_sectors;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}
