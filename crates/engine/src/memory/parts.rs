//! Parts of a block's dynamic shared memory, which its threads declare.

use super::fault::Fault;
use super::lanes::Lanes;
use super::place::{Kind, Label, Part};
use super::shared::Shared;
use crate::finding_kind::FindingKind;

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DynamicPart {
    /// The instruction that declares it, numbered in its module.
    pub(crate) by: u32,
    /// Which of the kernel's parts it is.
    pub(crate) number: u32,
    /// Its offset in shared memory.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) element_bytes: u32,
}

/// The parts of a block.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<DynamicPart>);

impl DynamicPart {
    fn holds(&self, offset: u64, bytes: u64) -> bool {
        let inside = offset.wrapping_sub(self.start);
        inside.saturating_add(bytes) <= self.bytes
    }

    fn at(&self, offset: u64) -> Part {
        Part {
            kind: Kind::DynamicPart(self.number),
            device: None,
            label: Label::new("", self.element_bytes),
            offset: offset.wrapping_sub(self.start) as i64,
            bytes: self.bytes,
        }
    }
}

impl Parts {
    /// Another part, or what is now at the place of one of the same instruction.
    pub(crate) fn declare(&mut self, part: DynamicPart) {
        let is_same = |it: &&mut DynamicPart| (it.by, it.start) == (part.by, part.start);
        match self.0.iter_mut().find(is_same) {
            Some(known) => *known = part,
            None => self.0.push(part),
        }
    }

    /// Finds the first lane's access that does not lie in a part of the instruction `by`, from which its pointer is.
    pub(crate) fn stray(&self, by: u32, layout: &Shared, lanes: &Lanes<'_>) -> Option<Fault> {
        let own = || self.0.iter().filter(|it| it.by == by);
        let holds = |offset| own().any(|it| it.holds(offset, lanes.bytes.into()));
        let (lane, offset) = lanes.each().find(|&(_, offset)| !holds(offset))?;
        // Of several, as a loop declares them, the one that it left upwards.
        let below = own()
            .filter(|it| it.start <= offset)
            .max_by_key(|it| it.start);
        let from = below.or_else(|| own().next())?;
        let other = self.0.iter().find(|it| it.by != by && it.holds(offset, 1));
        let mut place = layout.place(offset);
        let is_dynamic = |part: &Part| part.kind == Kind::DynamicShared;
        if let Some(other) = other {
            place.below = Some(other.at(offset));
            place.by_way_of = Some(from.at(offset));
        } else if place.below.as_ref().is_some_and(is_dynamic) {
            place.below = Some(from.at(offset));
        } else {
            place.by_way_of = Some(from.at(offset));
        }
        Some(Fault {
            kind: FindingKind::OutOfBounds,
            lane,
            bytes: lanes.bytes,
            place: Box::new(place),
        })
    }
}
