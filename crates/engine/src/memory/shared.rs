//! Where the variables of a block's shared memory lie.

use std::sync::Arc;

use super::fault::Fault;
use super::lanes::Lanes;
use super::place::{Kind, Label, Part, Place};
use crate::finding_kind::FindingKind;

/// A shared variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name and the bytes of an element.
    pub label: Label,
    /// Its bytes.
    pub bytes: u32,
    /// Its alignment: its offset is a multiple of this.
    pub alignment: u32,
}

/// The layout of a launch's shared memory: static variables, then the dynamic part. The same for
/// each block. Clones share it.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Layout>);

#[derive(Debug)]
struct Layout {
    /// Rising offsets; the dynamic memory last.
    pieces: Vec<Piece>,
    statics: usize,
    dynamic: u32,
    bytes: u32,
    /// With no gaps the whole is one piece, and a check is one comparison.
    is_solid: bool,
}

#[derive(Debug)]
struct Piece {
    kind: Kind,
    label: Label,
    start: u32,
    bytes: u32,
}

impl Shared {
    /// Lays out static variables, and behind them `dynamic` bytes, with `gap` bytes that belong to
    /// nobody behind each: 0 as on a GPU; 256 or more so that overruns are found.
    pub fn new(statics: &[Variable], dynamic: u32, gap: u32) -> Shared {
        Shared::aligned(statics, dynamic, gap, 1)
    }

    /// As [`Shared::new`], with what the offset of the dynamic part is a multiple of, besides 128.
    pub fn aligned(statics: &[Variable], dynamic: u32, gap: u32, alignment: u32) -> Shared {
        let mut pieces = Vec::new();
        let mut end = 0u32;
        for variable in statics {
            let start = end.next_multiple_of(variable.alignment.max(1));
            pieces.push(Piece {
                kind: Kind::Shared,
                label: variable.label.clone(),
                start,
                bytes: variable.bytes,
            });
            end = start + variable.bytes + gap;
        }
        let start = end.next_multiple_of(alignment.max(128));
        pieces.push(Piece {
            kind: Kind::DynamicShared,
            label: Label::new("", 1),
            start,
            bytes: dynamic,
        });
        let bytes = if dynamic == 0 {
            end
        } else {
            start + dynamic + gap
        };
        Shared(Arc::new(Layout {
            pieces,
            statics: statics.len(),
            dynamic: start,
            bytes,
            is_solid: gap == 0,
        }))
    }

    /// Bytes to provide for each block, gaps included.
    pub fn bytes(&self) -> u32 {
        self.0.bytes
    }

    /// The offset of the static variable of this index.
    pub fn offset_of(&self, variable: usize) -> Option<u32> {
        let piece = self.0.pieces.get(variable)?;
        (variable < self.0.statics).then_some(piece.start)
    }

    /// The offset of the dynamic part.
    pub fn dynamic(&self) -> u32 {
        self.0.dynamic
    }

    /// Checks that each active lane's offset lies in a variable.
    ///
    /// # Errors
    /// An access of a lane lies outside of the variables, or is misaligned: the first such lane's.
    #[inline]
    pub fn resolve(&self, lanes: &Lanes<'_>) -> Result<(), Fault> {
        let (first, last) = lanes.span();
        if self.holds(first, last) && lanes.misaligned().is_none() {
            return Ok(());
        }
        self.resolve_each(lanes)
    }

    /// Whether all of `first..=last` lies in one variable.
    #[inline]
    pub(crate) fn holds(&self, first: u64, last: u64) -> bool {
        if self.0.is_solid {
            return last < u64::from(self.0.bytes) && first <= last;
        }
        self.0.pieces.iter().any(|piece| {
            let offset = first.wrapping_sub(u64::from(piece.start));
            offset < u64::from(piece.bytes) && last - first < u64::from(piece.bytes) - offset
        })
    }

    #[cold]
    fn resolve_each(&self, lanes: &Lanes<'_>) -> Result<(), Fault> {
        let fault = |kind, lane, address| Fault {
            kind,
            lane,
            bytes: lanes.bytes,
            place: Box::new(self.place(address)),
        };
        if let Some((lane, address)) = lanes.misaligned() {
            let alignment = lanes.bytes;
            return Err(fault(FindingKind::Misaligned { alignment }, lane, address));
        }
        // The number of another block is above the offset, and below the window, which is gone by now. What
        // is there of an address that has left its array is not above one that lies in an array.
        let of_other = |address: u64| {
            let offset = address & u64::from(u32::MAX);
            let is_other = (2..1 << 24).contains(&(address >> 32));
            (is_other && self.holds(offset, offset)).then_some(offset)
        };
        let mut others = lanes.each();
        if let Some((lane, offset)) = others.find_map(|(lane, it)| Some((lane, of_other(it)?))) {
            return Err(fault(FindingKind::OtherBlock, lane, offset));
        }
        let last = |address: u64| address.saturating_add(u64::from(lanes.bytes) - 1);
        match lanes
            .each()
            .find(|(_, address)| !self.holds(*address, last(*address)))
        {
            Some((lane, address)) => Err(fault(FindingKind::OutOfBounds, lane, address)),
            None => Ok(()),
        }
    }

    /// Finds the first lane's access that does not lie in the variable at `root`.
    pub(crate) fn stray(&self, root: u64, lanes: &Lanes<'_>) -> Option<Fault> {
        let of = self
            .0
            .pieces
            .iter()
            .find(|it| u64::from(it.start) == root)?;
        let is_outside = |(_, offset): &(u32, u64)| {
            let inside = offset.wrapping_sub(root);
            inside.saturating_add(lanes.bytes.into()) > of.bytes.into()
        };
        let (lane, offset) = lanes.each().find(is_outside)?;
        let mut place = self.place(offset);
        place.by_way_of = self.place(root).below;
        Some(Fault {
            kind: FindingKind::OutOfBounds,
            lane,
            bytes: lanes.bytes,
            place: Box::new(place),
        })
    }

    /// Where an offset lies, or what it lies next to.
    pub fn place(&self, offset: u64) -> Place {
        let part = |piece: &Piece| Part {
            kind: piece.kind.clone(),
            device: None,
            label: piece.label.clone(),
            offset: offset.wrapping_sub(u64::from(piece.start)) as i64,
            bytes: piece.bytes.into(),
        };
        // Without variables it is the dynamic memory that is meant, also where the launch has none.
        let is_alone = self.0.statics == 0;
        let all = self.0.pieces.iter();
        let pieces = all.filter(|piece| piece.bytes > 0 || is_alone);
        // Where an index below 0 leads is below all of them.
        let (below, above): (Vec<_>, Vec<_>) =
            pieces.partition(|piece| i64::from(piece.start) <= offset as i64);
        let below = below.last().map(|piece| part(piece));
        let is_held = below.as_ref().is_some_and(|part| part.distance() == 0);
        Place {
            address: offset,
            below,
            above: above.first().map(|piece| part(piece)).filter(|_| !is_held),
            by_way_of: None,
        }
    }
}
