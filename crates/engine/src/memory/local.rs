//! The local memory of the threads of a warp: a stack of frames each.

use std::sync::Arc;

use super::fault::Fault;
use super::lanes::{LANES, Lanes};
use super::place::{Kind, Label, Part, Place};
use crate::finding_kind::FindingKind;

/// Bits of an offset in a thread's local memory, as part of a generic address: above them is which thread.
pub(crate) const LOCAL_BITS: u32 = 24;

/// The frames of a warp's threads. Offsets are per thread: where the bytes lie is the executor's.
#[derive(Clone, Debug)]
pub struct Local {
    gap: u32,
    frames: [Vec<Frame>; LANES],
    /// Whether there have been any since they were cleared.
    is_used: bool,
    /// The layouts of frames; few, since all frames of a function share one.
    layouts: Vec<Arc<FrameLayout>>,
}

/// The layout of a function's frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FrameLayout {
    /// Bytes per thread.
    pub bytes: u32,
    /// Its alignment: its offset is a multiple of this.
    pub alignment: u32,
    /// Its variables, by rising offset. The bytes between them belong to nobody.
    pub variables: Vec<LocalVariable>,
}

/// A variable in a function's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// [`Kind::LocalVariable`], or [`Kind::Local`] where a compiler has put all of a function's into one.
    pub kind: Kind,
    /// Its name, or the function's, and the bytes of an element.
    pub label: Label,
    /// Where it begins in the frame.
    pub offset: u32,
    /// Its bytes.
    pub bytes: u32,
}

impl LocalVariable {
    /// Whether it holds so many bytes at an offset in the frame.
    fn holds(&self, offset: u64, bytes: u32) -> bool {
        let inside = offset.wrapping_sub(self.offset.into());
        inside.saturating_add(bytes.into()) <= self.bytes.into()
    }

    /// An address that lies so many bytes behind the frame's start.
    fn part(&self, offset: u64) -> Part {
        Part {
            kind: self.kind.clone(),
            device: None,
            label: self.label.clone(),
            offset: offset.wrapping_sub(self.offset.into()) as i64,
            bytes: self.bytes.into(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Which of the layouts.
    layout: u32,
    start: u32,
    bytes: u32,
    /// Whether `alloca` has added it to the one below.
    is_added: bool,
}

impl Local {
    /// No frames yet. Behind each, `gap` bytes will belong to nobody.
    pub fn new(gap: u32) -> Local {
        Local {
            gap,
            frames: Default::default(),
            is_used: false,
            layouts: Vec::new(),
        }
    }

    /// No frames again.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_used) {
            self.frames.iter_mut().for_each(Vec::clear);
        }
    }

    /// A frame for an activation of these lanes: its offset, one for all of them.
    pub fn push(&mut self, mask: u32, layout: &Arc<FrameLayout>) -> u32 {
        let top = active(mask)
            .filter_map(|lane| self.frames[lane].last())
            .map(|frame| frame.start + frame.bytes + self.gap)
            .max();
        let start = top.unwrap_or(self.gap);
        let frame = Frame {
            layout: self.number_of(layout),
            start: start.next_multiple_of(layout.alignment.max(1)),
            bytes: layout.bytes,
            is_added: false,
        };
        self.is_used = true;
        active(mask).for_each(|lane| self.frames[lane].push(frame));
        frame.start
    }

    /// More bytes for the innermost frame of these lanes, behind it: their offset.
    pub(crate) fn extend(&mut self, mask: u32, bytes: u32, alignment: u32) -> u32 {
        let variable = LocalVariable {
            kind: Kind::LocalVariable,
            label: Label::new("alloca", 1),
            offset: 0,
            bytes,
        };
        let layout = FrameLayout {
            bytes,
            alignment,
            variables: vec![variable],
        };
        let known = self.layouts.iter().find(|it| ***it == layout).cloned();
        let start = self.push(mask, &known.unwrap_or_else(|| Arc::new(layout)));
        for lane in active(mask) {
            let last = self.frames[lane].last_mut();
            last.expect("it was pushed").is_added = true;
        }
        start
    }

    /// How many frames a lane has, those that were added counted.
    pub(crate) fn depth(&self, lane: usize) -> usize {
        self.frames[lane].len()
    }

    /// Takes back what was added to a lane's innermost frame since it had so many.
    pub(crate) fn restore(&mut self, lane: usize, depth: usize) {
        let frames = &mut self.frames[lane];
        while frames.len() > depth && frames.last().is_some_and(|it| it.is_added) {
            frames.pop();
        }
    }

    fn number_of(&mut self, layout: &Arc<FrameLayout>) -> u32 {
        let known = self.layouts.iter().position(|it| Arc::ptr_eq(it, layout));
        let number = known.unwrap_or_else(|| {
            self.layouts.push(Arc::clone(layout));
            self.layouts.len() - 1
        });
        number as u32
    }

    /// The innermost frame of each of these lanes ends, and what was added to it.
    pub fn pop(&mut self, mask: u32) {
        for lane in active(mask) {
            while self.frames[lane].pop().is_some_and(|it| it.is_added) {}
        }
    }

    /// Bytes per thread that hold all frames, with the gap behind.
    pub fn bytes(&self) -> u32 {
        let tops = self.frames.iter().filter_map(|frames| frames.last());
        tops.map(|frame| frame.start + frame.bytes + self.gap)
            .max()
            .unwrap_or(0)
    }

    /// Checks that each active lane's offset lies in a variable of its own.
    ///
    /// # Errors
    /// An access of a lane lies outside of its thread's variables, or is misaligned: the first such lane's.
    #[inline]
    pub fn resolve(&self, lanes: &Lanes<'_>) -> Result<(), Fault> {
        let fault = |kind, lane, offset| Fault {
            kind,
            lane,
            bytes: lanes.bytes,
            place: Box::new(self.place(lane, offset)),
        };
        if let Some((lane, offset)) = lanes.misaligned() {
            let alignment = lanes.bytes;
            return Err(fault(FindingKind::Misaligned { alignment }, lane, offset));
        }
        let is_outside = |(lane, offset): &(u32, u64)| {
            let frames = &self.frames[*lane as usize];
            !frames.iter().rev().any(|frame| {
                let inside = offset.wrapping_sub(frame.start.into());
                let mut variables = self.variables(frame).iter();
                inside < frame.bytes.into() && variables.any(|it| it.holds(inside, lanes.bytes))
            })
        };
        let Some((lane, offset)) = lanes.each().find(is_outside) else {
            return Ok(());
        };
        match self.in_other_thread(lane, offset) {
            Some(offset) => Err(fault(FindingKind::OtherThread, lane, offset)),
            None => Err(fault(FindingKind::OutOfBounds, lane, offset)),
        }
    }

    /// Where an offset lies in another thread's local memory, whose number is that of the lane's own and twice
    /// as many as threads are between them: see `windows::of_threads`. What is there of an address that has
    /// left its array is no place in an array.
    fn in_other_thread(&self, lane: u32, offset: u64) -> Option<u64> {
        let (apart, inside) = (offset >> LOCAL_BITS, offset & ((1 << LOCAL_BITS) - 1));
        let place = self.place(lane, inside);
        let is_held = place.below.is_some_and(|part| part.distance() == 0);
        (apart != 0 && apart % 2 == 0 && is_held).then_some(inside)
    }

    /// Finds the first lane's access that does not lie in the variable at `root`.
    pub(crate) fn stray(&self, root: u64, lanes: &Lanes<'_>) -> Option<Fault> {
        let is_outside = |(lane, offset): &(u32, u64)| {
            let mut frames = self.frames[*lane as usize].iter();
            let of = frames.find_map(|frame| {
                let inside = root.wrapping_sub(frame.start.into());
                let mut variables = self.variables(frame).iter();
                let of = variables.find(|it| u64::from(it.offset) == inside)?;
                Some((of, offset.wrapping_sub(frame.start.into())))
            });
            of.is_some_and(|(of, inside)| !of.holds(inside, lanes.bytes))
        };
        let (lane, offset) = lanes.each().find(is_outside)?;
        let mut place = self.place(lane, offset);
        place.by_way_of = self.place(lane, root).below;
        Some(Fault {
            kind: FindingKind::OutOfBounds,
            lane,
            bytes: lanes.bytes,
            place: Box::new(place),
        })
    }

    fn variables(&self, frame: &Frame) -> &[LocalVariable] {
        &self.layouts[frame.layout as usize].variables
    }

    /// Where an offset of a lane lies, or what it lies next to.
    pub fn place(&self, lane: u32, offset: u64) -> Place {
        let frames = self.frames[lane as usize % LANES].iter();
        let parts = frames.flat_map(|frame| {
            let variables = self.variables(frame).iter();
            variables.map(|it| it.part(offset.wrapping_sub(frame.start.into())))
        });
        let (below, above): (Vec<Part>, Vec<Part>) = parts.partition(|part| part.offset >= 0);
        let below = below.into_iter().last();
        let is_held = below.as_ref().is_some_and(|part| part.distance() == 0);
        Place {
            address: offset,
            below,
            above: above.into_iter().next().filter(|_| !is_held),
            by_way_of: None,
        }
    }
}

fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}
