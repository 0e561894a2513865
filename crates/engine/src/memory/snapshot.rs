//! All memory that kernels can write, as it was.

use super::{Allocation, Kind, Memory, Place, Protection};

/// The contents of all memory that kernels can write, for who runs a launch again.
#[derive(Debug)]
pub struct Snapshot(Vec<(u64, Vec<u8>)>);

/// The allocations that a snapshot copies.
fn writable(memory: &Memory) -> Vec<Allocation> {
    let mut all = memory.allocations();
    all.retain(|it| it.protection == Protection::ReadWrite && it.kind != Kind::PanicRecord);
    all
}

impl Snapshot {
    /// How many bytes [`Snapshot::take`] copies.
    pub fn bytes_of(memory: &Memory) -> u64 {
        writable(memory).iter().map(|it| it.bytes).sum()
    }

    /// Copies all that is allocated in the address space of a memory. No launch writes there meanwhile.
    pub fn take(memory: &Memory) -> Snapshot {
        let copy = |it: &Allocation| {
            let start = std::ptr::with_exposed_provenance::<u8>(it.start as usize);
            // SAFETY: an allocation of the memory, whose owner frees none while this runs.
            let bytes = unsafe { std::slice::from_raw_parts(start, it.bytes as usize) };
            (it.start, bytes.to_vec())
        };
        Snapshot(writable(memory).iter().map(copy).collect())
    }

    /// Gives the allocations that are still there their bytes back, and frees the heap blocks that kernels have allocated
    /// since. Blocks that kernels have freed stay freed.
    pub fn restore(&self, memory: &Memory) {
        for (start, bytes) in self.live(memory) {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(*start as usize);
            // SAFETY: `live` has found the allocation, of as many bytes.
            unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        let is_new = |it: &Allocation| !self.0.iter().any(|(start, _)| *start == it.start);
        let is_block = |it: &&Allocation| matches!(it.kind, Kind::Heap { .. }) && is_new(it);
        for block in memory.allocations().iter().filter(is_block) {
            // It has just been found.
            let _ = memory.heap_free(block.start);
        }
    }

    /// Whether both have the same allocations: none was freed or made between them.
    pub fn has_those_of(&self, other: &Snapshot) -> bool {
        let starts = |all: &Snapshot| all.0.iter().map(|it| it.0).collect::<Vec<_>>();
        starts(self) == starts(other)
    }

    /// The first place whose bytes are others now.
    pub fn difference(&self, memory: &Memory) -> Option<Place> {
        self.live(memory).find_map(|(start, bytes)| {
            let now = std::ptr::with_exposed_provenance::<u8>(*start as usize);
            // SAFETY: as above.
            let now = unsafe { std::slice::from_raw_parts(now, bytes.len()) };
            let first = now.iter().zip(bytes).position(|(now, then)| now != then)?;
            Some(memory.place(start + first as u64))
        })
    }

    /// Those of its allocations that are still there.
    fn live<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = &'a (u64, Vec<u8>)> {
        let is_live = |it: &&(u64, Vec<u8>)| {
            let found = memory.find(it.0);
            found.is_some_and(|found| found.start == it.0 && found.bytes == it.1.len() as u64)
        };
        self.0.iter().filter(is_live)
    }
}
