//! Whether accesses may be made: alignment, bounds, protection.

use super::allocation::{AllocationId, Contents, Protection};
use super::device::Memory;
use super::fault::Fault;
use super::lanes::Lanes;
use crate::finding_kind::FindingKind;

/// Direction of an access, as far as protection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes, or reads and writes.
    Write,
}

/// The allocation that an instruction reached last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cached {
    start: u64,
    bytes: u64,
    generation: u64,
    /// Which allocation.
    pub(crate) id: AllocationId,
    pub(crate) contents: Contents,
    protection: Protection,
}

impl Cached {
    /// Whether all of `first..=last` lies in it. Says nothing of whether it still lives.
    #[inline]
    pub fn covers(&self, first: u64, last: u64) -> bool {
        let offset = first.wrapping_sub(self.start);
        offset < self.bytes && last - first < self.bytes - offset
    }

    fn allows(&self, direction: Direction) -> Result<(), FindingKind> {
        match (direction, self.protection) {
            (Direction::Write, Protection::ReadOnly) => Err(FindingKind::ConstantWrite),
            _ => Ok(()),
        }
    }

    /// Where it begins.
    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Memory {
    /// Checks that each active lane may make its access: alignment, bounds, protection.
    ///
    /// # Errors
    /// A lane may not make its access: the first such lane's fault.
    #[inline(always)]
    pub fn resolve(
        &self,
        lanes: &Lanes<'_>,
        direction: Direction,
        cached: &mut Cached,
    ) -> Result<(), Fault> {
        let (first, last) = lanes.span();
        if self.is_met(cached, direction)
            && cached.covers(first, last)
            && lanes.misaligned().is_none()
        {
            return Ok(());
        }
        self.resolve_each(lanes, direction, cached)
    }

    /// Whether a row of memory lies in the allocation met last, which still lives and allows the access.
    #[inline(always)]
    pub(crate) fn still_holds(
        &self,
        met: &Cached,
        first: u64,
        last: u64,
        direction: Direction,
    ) -> bool {
        self.is_met(met, direction) && met.covers(first, last)
    }

    /// Whether the allocation met last still lives and allows the access.
    #[inline]
    pub(crate) fn is_met(&self, cached: &Cached, direction: Direction) -> bool {
        cached.generation == self.generation()
            && (direction == Direction::Read || cached.protection == Protection::ReadWrite)
    }

    #[cold]
    fn resolve_each(
        &self,
        lanes: &Lanes<'_>,
        direction: Direction,
        cached: &mut Cached,
    ) -> Result<(), Fault> {
        if let Some((lane, address)) = lanes.misaligned() {
            return Err(self.misaligned(lane, address, lanes.bytes));
        }
        for (lane, address) in lanes.each() {
            self.look_up(address, lanes.bytes, cached)
                .and_then(|()| cached.allows(direction))
                .map_err(|kind| self.fault(kind, lane, address, lanes.bytes))?;
        }
        Ok(())
    }

    /// Makes `cached` the allocation that holds one lane's access.
    ///
    /// # Errors
    /// Why none does.
    pub(crate) fn look_up(
        &self,
        address: u64,
        bytes: u32,
        cached: &mut Cached,
    ) -> Result<(), FindingKind> {
        let last = address.saturating_add(u64::from(bytes) - 1);
        if self.is_met(cached, Direction::Read) && cached.covers(address, last) {
            return Ok(());
        }
        let table = self.read();
        let Some(found) = table.at(address) else {
            return Err(table.missing(address));
        };
        if !found.holds(address, u64::from(bytes)) {
            return Err(FindingKind::OutOfBounds);
        }
        if !self.reaches(found.device) {
            return Err(FindingKind::NoPeerAccess {
                owner: found.device.unwrap_or(self.device()),
                device: self.device(),
            });
        }
        *cached = Cached {
            start: found.start,
            bytes: found.bytes,
            generation: self.generation(),
            id: found.id,
            contents: found.contents,
            protection: found.protection,
        };
        Ok(())
    }

    /// Finds the first lane's access that does not lie in the allocation at `root`. The lanes are resolved, `cached` is
    /// what they met last.
    pub(crate) fn stray(&self, root: u64, lanes: &Lanes<'_>, cached: &Cached) -> Option<Fault> {
        let (first, last) = lanes.span();
        if cached.covers(first, last) && cached.covers(root, root) {
            return None;
        }
        let mut of = Cached::default();
        // A view of no elements points to nothing.
        self.look_up(root, 1, &mut of).ok()?;
        let end = |address: u64| address.saturating_add(u64::from(lanes.bytes) - 1);
        let (lane, address) = lanes
            .each()
            .find(|(_, address)| !of.covers(*address, end(*address)))?;
        let mut fault = self.fault(FindingKind::OutOfBounds, lane, address, lanes.bytes);
        fault.place.by_way_of = self.place(root).below;
        Some(fault)
    }
}
