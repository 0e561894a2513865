//! All allocations of a device, by address.

use std::alloc::{Layout, alloc, alloc_zeroed};
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::allocation::{Allocation, AllocationId, Contents};
use super::device::Limits;
use super::place::Kind;
use crate::finding_kind::FindingKind;

/// Addresses below this are null pointers with an offset.
const NULL_PAGE: u64 = 1 << 16;
/// From here on a pointer is none of the host's: the windows of other state spaces lie there.
const WINDOWS: u64 = 1 << 48;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) live: BTreeMap<u64, Allocation>,
    /// Freed and remembered, by address; `order` says which was freed first.
    pub(super) freed: BTreeMap<u64, Allocation>,
    pub(super) order: VecDeque<u64>,
    pub(super) freed_bytes: u64,
    /// No longer remembered, and not yet given back, since a launch runs; the heap takes them again.
    pub(super) dead: HashMap<Layout, Vec<usize>>,
    pub(super) free_slots: Vec<AllocationId>,
    slots: u32,
    allocated: u64,
    pub(super) used: u64,
    pub(super) heap_used: u64,
}

/// The host's block for so many bytes with guards at both ends, and how far in they begin.
pub(super) fn layout(bytes: u64, alignment: u64, guard: u64) -> Option<(Layout, u64)> {
    let guard = guard.checked_next_multiple_of(alignment)?;
    let size = bytes.checked_add(guard.checked_mul(2)?)?.max(1);
    let layout = Layout::from_size_align(size.try_into().ok()?, alignment.try_into().ok()?).ok()?;
    Some((layout, guard))
}

pub(super) fn take(layout: Layout, contents: Contents) -> Option<usize> {
    // SAFETY: `layout` makes the size at least 1.
    let block = unsafe {
        match contents {
            Contents::Undefined => alloc(layout),
            Contents::Defined => alloc_zeroed(layout),
        }
    };
    Some(block.expose_provenance()).filter(|start| *start != 0)
}

impl Table {
    pub(super) fn slot(&mut self) -> AllocationId {
        let fresh = AllocationId {
            slot: self.slots,
            serial: 0,
        };
        let last = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            fresh
        });
        AllocationId {
            serial: last.serial + 1,
            ..last
        }
    }

    /// The next number of an allocation.
    pub(super) fn serial(&mut self) -> u64 {
        self.allocated += 1;
        self.allocated
    }

    pub(super) fn used_by(&mut self, kind: &Kind) -> &mut u64 {
        if matches!(kind, Kind::Heap { .. }) {
            &mut self.heap_used
        } else {
            &mut self.used
        }
    }

    pub(super) fn at(&self, address: u64) -> Option<&Allocation> {
        let (_, found) = self.live.range(..=address).next_back()?;
        found.holds(address, 1).then_some(found)
    }

    pub(super) fn at_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        let (_, found) = self.live.range_mut(..=address).next_back()?;
        (found.holds(address, 1) || found.start == address).then_some(found)
    }

    pub(super) fn freed_at(&self, address: u64) -> Option<&Allocation> {
        let (_, found) = self.freed.range(..=address).next_back()?;
        found.holds(address, 1).then_some(found)
    }

    pub(super) fn missing(&self, address: u64) -> FindingKind {
        match address {
            0..NULL_PAGE => FindingKind::NullPointer,
            WINDOWS.. => FindingKind::OtherSpace,
            _ if self.freed_at(address).is_some() => FindingKind::UseAfterFree,
            _ => FindingKind::OutOfBounds,
        }
    }

    /// Forgets what was freed beyond what is remembered, the oldest first.
    pub(super) fn shrink(&mut self, limits: &Limits) {
        while self.freed_bytes > limits.quarantine_bytes
            || self.order.len() > limits.quarantine_count
        {
            let Some(address) = self.order.pop_front() else {
                return;
            };
            self.forget(address);
        }
    }

    /// Forgets what was freed within a range that somebody has again.
    pub(super) fn forget_within(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        let stale: Vec<u64> = self.freed.range(start..end).map(|(at, _)| *at).collect();
        for address in stale {
            self.order.retain(|other| *other != address);
            self.forget(address);
        }
    }

    fn forget(&mut self, address: u64) {
        if let Some(gone) = self.freed.remove(&address) {
            self.freed_bytes -= gone.bytes;
            self.free_slots.push(gone.id);
            if let Some((start, layout)) = gone.block {
                self.dead.entry(layout).or_default().push(start);
            }
        }
    }
}
