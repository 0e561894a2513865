//! The memory of a device.

use std::alloc::{Layout, dealloc};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::allocation::{Allocation, AllocationId, Contents, Protection};
use super::fault::Fault;
use super::peers::Peers;
use super::place::{Kind, Label, Place};
use super::table::{Table, layout, take};
use crate::finding_kind::FindingKind;

/// The cost of a heap block beside its bytes, as on a GPU about.
const HEAP_HEADER: u64 = 16;

/// How much memory there is, and how much of it is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all allocations that are not the heap's.
    pub bytes: u64,
    /// Bytes of the heap of kernels, as `cudaLimitMallocHeapSize`.
    pub heap_bytes: u64,
    /// Bytes at both sides of each allocation that belong to nobody.
    pub guard: u64,
    /// Freed bytes that are remembered as freed.
    pub quarantine_bytes: u64,
    /// Freed allocations that are remembered as freed.
    pub quarantine_count: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: u64::MAX,
            heap_bytes: 8 << 20,
            guard: 512,
            quarantine_bytes: 64 << 20,
            quarantine_count: 4096,
        }
    }
}

/// An allocation did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {bytes} bytes: {used} of {limit} are in use")]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Bytes in use.
    pub used: u64,
    /// Bytes that may be in use.
    pub limit: u64,
}

/// How many emulated devices there may be in an address space.
pub const DEVICES: u32 = 64;

/// The memory of an emulated device, and its links to that of others: devices of one [`Space`] have addresses of their
/// own. Outlives launches; may be used from many threads.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Whose it is.
    pub(super) device: u32,
    pub(super) space: Arc<Space>,
}

/// The addresses of some devices, and whose memory lies there.
#[derive(Debug, Default)]
pub struct Space {
    limits: RwLock<Limits>,
    table: RwLock<Table>,
    /// Goes on with each allocation that ends.
    generation: AtomicU64,
    running: AtomicUsize,
    pub(super) peers: Peers,
}

/// A launch runs: memory stays with the process until this is dropped.
#[derive(Debug)]
pub struct Running<'a>(&'a Space);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.collect();
        }
    }
}

/// Of heap blocks: a sector, so that what is counted does not depend on where the host has room.
const HEAP_ALIGNMENT: u64 = 32;

impl Memory {
    /// With these limits.
    pub fn new(limits: Limits) -> Memory {
        let memory = Memory::default();
        memory.set_limits(limits);
        memory
    }

    /// How many allocations of the space have ended.
    #[inline(always)]
    pub(super) fn generation(&self) -> u64 {
        self.space.generation.load(Ordering::Acquire)
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        *self
            .space
            .limits
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets limits for what is allocated from now on.
    pub fn set_limits(&self, limits: Limits) {
        *self
            .space
            .limits
            .write()
            .unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// A launch begins. Ends when the guard is dropped.
    pub fn running(&self) -> Running<'_> {
        self.space.running.fetch_add(1, Ordering::AcqRel);
        Running(&self.space)
    }

    /// Whether a single launch runs that can reach memory of this space.
    pub(crate) fn has_one_launch(&self) -> bool {
        self.space.running.load(Ordering::Acquire) == 1
    }

    /// Memory for the host: its address. Zeroed where `contents` are defined. No bytes get an
    /// address of their own that nothing can be read from.
    ///
    /// # Errors
    /// If the limit or the host's memory is too small.
    pub fn allocate(
        &self,
        bytes: u64,
        alignment: u64,
        contents: Contents,
        label: Label,
    ) -> Result<u64, OutOfMemory> {
        self.insert(bytes, alignment, contents, Kind::Buffer, label)
    }

    /// A kernel's `malloc`, at an instruction of a launch: see [`Kind::Heap`].
    ///
    /// # Errors
    /// The heap is full, or the host's memory.
    pub fn heap_allocate(
        &self,
        bytes: u64,
        instruction: u32,
        launch: u64,
    ) -> Result<u64, OutOfMemory> {
        let kind = Kind::Heap {
            instruction,
            launch,
        };
        let label = Label::new("", 1);
        let start = self.insert(bytes, HEAP_ALIGNMENT, Contents::Undefined, kind, label)?;
        let to = std::ptr::with_exposed_provenance_mut::<u8>(start as usize);
        // What an earlier block has left is none of the addresses by which blocks are reached.
        // SAFETY: allocated above with so many bytes, and nobody knows of it yet.
        unsafe { to.write_bytes(0xFF, bytes as usize) };
        Ok(start)
    }

    /// Adds memory that somebody else owns, and keeps until it is forgotten.
    ///
    /// # Safety
    /// From `start` on there are `bytes` bytes that stay allocated until [`Memory::disown`] is called and no launch
    /// runs any more. Kernels and the host may read them and, unless they are protected, write them at any time
    /// meanwhile: nothing that Rust takes for unchanging or for its own alone lies there.
    pub unsafe fn adopt(
        &self,
        start: u64,
        bytes: u64,
        kind: Kind,
        label: Label,
        protection: Protection,
    ) -> AllocationId {
        let device = match kind {
            Kind::Host | Kind::PanicRecord => None,
            _ => Some(self.device),
        };
        let mut table = self.write();
        let id = table.slot();
        table.forget_within(start, bytes);
        let contents = Contents::Defined;
        let allocation = Allocation {
            id,
            device,
            start,
            bytes,
            kind,
            label,
            protection,
            contents,
            serial: table.serial(),
            block: None,
        };
        table.live.insert(start, allocation);
        id
    }

    /// Forgets adopted memory: its owner takes it back. Gives whether it was known.
    pub fn disown(&self, start: u64) -> Option<AllocationId> {
        let mut table = self.write();
        table
            .live
            .get(&start)
            .filter(|found| found.block.is_none())?;
        let gone = table.live.remove(&start)?;
        table.free_slots.push(gone.id);
        self.space.generation.fetch_add(1, Ordering::AcqRel);
        Some(gone.id)
    }

    /// Takes memory that was adopted and is known no more: it stays as long as launches run.
    pub fn retire(&self, storage: Vec<Box<[u128]>>) {
        let mut table = self.write();
        for room in storage.into_iter().filter(|room| !room.is_empty()) {
            let layout = Layout::for_value(&*room);
            let start = Box::into_raw(room).cast::<u8>().expose_provenance();
            table.dead.entry(layout).or_default().push(start);
        }
        drop(table);
        self.space.collect();
    }

    /// The host's `free`.
    ///
    /// # Errors
    /// If the address is no start of an allocation, or of one that was freed.
    pub fn free(&self, address: u64) -> Result<(), Fault> {
        self.end(address, |kind| !matches!(kind, Kind::Heap { .. }))
    }

    /// A kernel's `free`. Null is nothing.
    ///
    /// # Errors
    /// If the address is no start of a heap block, or of one that was freed.
    pub fn heap_free(&self, address: u64) -> Result<(), Fault> {
        if address == 0 {
            return Ok(());
        }
        self.end(address, |kind| matches!(kind, Kind::Heap { .. }))
    }

    /// Gives the allocation at the address another name.
    pub fn name(&self, address: u64, label: Label) {
        let mut table = self.write();
        if let Some(found) = table.at_mut(address) {
            found.label = label;
        }
    }

    /// From now on the allocation at the address counts as written.
    pub fn define(&self, address: u64) {
        let mut table = self.write();
        if let Some(found) = table.at_mut(address) {
            found.contents = Contents::Defined;
        }
    }

    /// From now on the allocation at the address counts as memory that nobody has written.
    pub fn undefine(&self, address: u64) {
        let mut table = self.write();
        if let Some(found) = table.at_mut(address) {
            found.contents = Contents::Undefined;
        }
    }

    /// All that is allocated.
    pub fn allocations(&self) -> Vec<Allocation> {
        self.read().live.values().cloned().collect()
    }

    /// Looks at all that is allocated, by address, while nobody may allocate or free.
    pub(crate) fn while_nothing_is_freed<R>(
        &self,
        look: impl FnOnce(&BTreeMap<u64, Allocation>) -> R,
    ) -> R {
        look(&self.read().live)
    }

    /// The allocation that holds the address.
    pub fn find(&self, address: u64) -> Option<Allocation> {
        self.read().at(address).cloned()
    }

    /// Where an address lies, or what it lies next to.
    pub fn place(&self, address: u64) -> Place {
        let table = self.read();
        let below = table.live.range(..=address).next_back();
        let above = table.live.range(address.saturating_add(1)..).next();
        let freed = table.freed_at(address);
        let part = |(_, found): (&u64, &Allocation)| found.part(address);
        let below = freed
            .map(|found| found.part(address))
            .or_else(|| below.map(part));
        let is_held = below.as_ref().is_some_and(|part| part.distance() == 0);
        Place {
            address,
            below,
            above: above.map(part).filter(|_| !is_held),
            by_way_of: None,
        }
    }

    /// The fault of an access whose address is no multiple of its bytes.
    pub(crate) fn misaligned(&self, lane: u32, address: u64, bytes: u32) -> Fault {
        let kind = FindingKind::Misaligned { alignment: bytes };
        self.fault(kind, lane, address, bytes)
    }

    pub(crate) fn fault(&self, kind: FindingKind, lane: u32, address: u64, bytes: u32) -> Fault {
        Fault {
            kind,
            lane,
            bytes,
            place: Box::new(self.place(address)),
        }
    }

    fn insert(
        &self,
        bytes: u64,
        alignment: u64,
        contents: Contents,
        kind: Kind,
        label: Label,
    ) -> Result<u64, OutOfMemory> {
        let limits = self.limits();
        let mut table = self.write();
        let is_heap = matches!(kind, Kind::Heap { .. });
        let (used, limit, cost) = if is_heap {
            (
                table.heap_used,
                limits.heap_bytes,
                bytes.saturating_add(HEAP_HEADER),
            )
        } else {
            (table.used, limits.bytes, bytes)
        };
        let full = OutOfMemory { bytes, used, limit };
        if cost > limit.saturating_sub(used) {
            return Err(full);
        }
        let (layout, guard) = layout(bytes, alignment.max(16), limits.guard).ok_or(full)?;
        let again = table
            .dead
            .get_mut(&layout)
            .filter(|_| is_heap)
            .and_then(Vec::pop);
        let block = again.or_else(|| take(layout, contents)).ok_or(full)?;
        let start = block as u64 + guard;
        let id = table.slot();
        table.forget_within(start, bytes);
        *table.used_by(&kind) += cost;
        let allocation = Allocation {
            id,
            device: Some(self.device),
            start,
            bytes,
            kind,
            label,
            protection: Protection::ReadWrite,
            contents,
            serial: table.serial(),
            block: Some((block, layout)),
        };
        table.live.insert(start, allocation);
        Ok(start)
    }

    fn end(&self, address: u64, is_meant: impl Fn(&Kind) -> bool) -> Result<(), Fault> {
        let mut table = self.write();
        let is_start = table
            .live
            .get(&address)
            .is_some_and(|found| found.block.is_some() && is_meant(&found.kind));
        let Some(gone) = is_start.then(|| table.live.remove(&address)).flatten() else {
            let was_freed = table.freed.contains_key(&address);
            drop(table);
            let kind = if was_freed {
                FindingKind::DoubleFree
            } else {
                FindingKind::NotAllocated
            };
            return Err(self.fault(kind, 0, address, 0));
        };
        let is_heap = matches!(gone.kind, Kind::Heap { .. });
        let cost = gone.bytes + if is_heap { HEAP_HEADER } else { 0 };
        *table.used_by(&gone.kind) -= cost;
        table.freed_bytes += gone.bytes;
        table.order.push_back(address);
        table.freed.insert(address, gone);
        self.space.generation.fetch_add(1, Ordering::AcqRel);
        table.shrink(&self.limits());
        drop(table);
        self.space.collect();
        Ok(())
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.space.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.space.write()
    }
}

impl Space {
    /// Gives memory back that nobody remembers, unless a launch may hold a pointer to it.
    fn collect(&self) {
        let mut table = self.write();
        if self.running.load(Ordering::Acquire) > 0 {
            return;
        }
        for (layout, blocks) in std::mem::take(&mut table.dead) {
            for start in blocks {
                // SAFETY: `take`, or the box that `retire` was given, got it with this layout; it left the
                // tables, and no launch runs.
                unsafe { dealloc(start as *mut u8, layout) };
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        {
            let mut table = self.write();
            let live = std::mem::take(&mut table.live).into_values();
            let freed = std::mem::take(&mut table.freed).into_values();
            for (start, layout) in live.chain(freed).filter_map(|gone| gone.block) {
                table.dead.entry(layout).or_default().push(start);
            }
        }
        // With the memory its users are gone.
        self.collect();
    }
}
