//! Which slots a program's registers have, and of which kind each is.

use super::registers::Kind;

/// The slots of a program's registers, by their offsets. They cover all of the registers' bytes, so that none overlaps
/// another.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotMap {
    /// Rising; neighbours of one kind are one row.
    rows: Vec<Row>,
    /// The first byte behind them, however many there are.
    end: u64,
}

/// Slots of one kind that follow each other.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u32,
    end: u32,
    kind: Kind,
}

impl SlotMap {
    /// The most bytes of registers of an activation. A GPU keeps what does not fit its registers in local memory, of
    /// which the 32 threads of a warp have 16 MiB; constants and values within instructions come on top.
    pub(crate) const MOST_BYTES: u32 = 64 << 20;

    /// Adds slots behind the last: the first of them. Behind [`SlotMap::MOST_BYTES`] there are none: such a map is
    /// refused by [`SlotMap::bytes`].
    pub(crate) fn add(&mut self, kind: Kind, count: u32) -> u32 {
        let start = self.end;
        self.end = start.saturating_add(u64::from(kind.bytes()) * u64::from(count));
        let (Ok(start), true) = (u32::try_from(start), self.bytes().is_ok()) else {
            return 0;
        };
        let end = self.end as u32;
        match self.rows.last_mut().filter(|it| it.kind == kind) {
            Some(last) => last.end = end,
            None if start < end => self.rows.push(Row { start, end, kind }),
            None => {}
        }
        start
    }

    /// The bytes of all slots.
    ///
    /// # Errors
    /// They are more than there may be; gives how many.
    pub(crate) fn bytes(&self) -> Result<u32, u64> {
        u32::try_from(self.end)
            .ok()
            .filter(|&bytes| bytes <= Self::MOST_BYTES)
            .ok_or(self.end)
    }

    /// Whether slots of a kind begin at an offset and at those behind it.
    pub(crate) fn has_row(&self, slot: u32, kind: Kind, count: u32) -> bool {
        let index = self.rows.partition_point(|row| row.end <= slot);
        let bytes = u64::from(kind.bytes()) * u64::from(count);
        self.rows.get(index).is_some_and(|row| {
            row.kind == kind
                && row.start <= slot
                && (slot - row.start).is_multiple_of(kind.bytes())
                && u64::from(slot) + bytes <= u64::from(row.end)
        })
    }

    /// Whether a slot of a kind begins at an offset.
    pub(crate) fn has(&self, slot: u32, kind: Kind) -> bool {
        self.has_row(slot, kind, 1)
    }
}
