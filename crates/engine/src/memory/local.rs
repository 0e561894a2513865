//! The local memory of the threads of a warp: a stack of frames each.

use super::fault::{Fault, FaultClass};
use super::lanes::{LANES, Lanes};
use super::place::{Kind, Label, Part, Place};

/// The frames of a warp's threads. Offsets are per thread: where the bytes lie is the executor's.
#[derive(Clone, Debug)]
pub struct Local {
    gap: u32,
    frames: [Vec<Frame>; LANES],
    /// Whether there have been any since they were cleared.
    is_used: bool,
    /// What frames are called; few, since a function's are called the same.
    labels: Vec<Label>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Which of the labels.
    label: u32,
    start: u32,
    bytes: u32,
}

impl Local {
    /// No frames yet. Behind each, `gap` bytes will belong to nobody.
    pub fn new(gap: u32) -> Local {
        Local {
            gap,
            frames: Default::default(),
            is_used: false,
            labels: Vec::new(),
        }
    }

    /// No frames again.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_used) {
            self.frames.iter_mut().for_each(Vec::clear);
        }
    }

    /// A frame for an activation of these lanes: its offset, one for all of them.
    pub fn push(&mut self, mask: u32, bytes: u32, alignment: u32, label: &Label) -> u32 {
        let top = active(mask)
            .filter_map(|lane| self.frames[lane].last())
            .map(|frame| frame.start + frame.bytes + self.gap)
            .max();
        let start = top.unwrap_or(self.gap).next_multiple_of(alignment.max(1));
        let label = self.number_of(label);
        self.is_used = true;
        for lane in active(mask) {
            self.frames[lane].push(Frame {
                label,
                start,
                bytes,
            });
        }
        start
    }

    fn number_of(&mut self, label: &Label) -> u32 {
        let known = self.labels.iter().position(|it| it == label);
        let number = known.unwrap_or_else(|| {
            self.labels.push(label.clone());
            self.labels.len() - 1
        });
        number as u32
    }

    /// The innermost frame of each of these lanes ends.
    pub fn pop(&mut self, mask: u32) {
        for lane in active(mask) {
            self.frames[lane].pop();
        }
    }

    /// Bytes per thread that hold all frames, with the gap behind.
    pub fn bytes(&self) -> u32 {
        let tops = self.frames.iter().filter_map(|frames| frames.last());
        tops.map(|frame| frame.start + frame.bytes + self.gap)
            .max()
            .unwrap_or(0)
    }

    /// Checks that each active lane's offset lies in a frame of its own.
    ///
    /// # Errors
    /// What is wrong with the first lane's that does not.
    #[inline]
    pub fn resolve(&self, lanes: &Lanes<'_>) -> Result<(), Fault> {
        let fault = |class, lane, offset| Fault {
            class,
            lane,
            bytes: lanes.bytes,
            place: Box::new(self.place(lane, offset)),
        };
        if let Some((lane, offset)) = lanes.misaligned() {
            return Err(fault(FaultClass::Misaligned, lane, offset));
        }
        let is_outside = |(lane, offset): &(u32, u64)| {
            let frames = &self.frames[*lane as usize];
            !frames.iter().rev().any(|frame| {
                let inside = offset.wrapping_sub(u64::from(frame.start));
                inside < u64::from(frame.bytes)
                    && u64::from(lanes.bytes) <= u64::from(frame.bytes) - inside
            })
        };
        match lanes.each().find(is_outside) {
            Some((lane, offset)) => Err(fault(FaultClass::OutOfBounds, lane, offset)),
            None => Ok(()),
        }
    }

    /// Where an offset of a lane lies, or what it lies next to.
    pub fn place(&self, lane: u32, offset: u64) -> Place {
        let part = |frame: &Frame| Part {
            kind: Kind::Local,
            label: self.labels[frame.label as usize].clone(),
            offset: offset.wrapping_sub(u64::from(frame.start)) as i64,
            bytes: frame.bytes.into(),
        };
        let frames = self.frames[lane as usize % LANES].iter();
        let (below, above): (Vec<_>, Vec<_>) =
            frames.partition(|frame| u64::from(frame.start) <= offset);
        let below = below.last().map(part);
        let is_held = below.as_ref().is_some_and(|part| part.distance() == 0);
        Place {
            address: offset,
            below,
            above: above.first().map(part).filter(|_| !is_held),
            by_way_of: None,
        }
    }
}

fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}
