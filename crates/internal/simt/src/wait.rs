//! The waits of threads.

use std::fmt::Write;
use std::panic::Location;

use cuda_std::emulation::{Exchange, Operation, Tally, WARP_SIZE};

use crate::coordinates;

/// A place in the source.
pub(crate) type At = &'static Location<'static>;

/// The reason why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// All live threads of the block.
    Barrier {
        /// Its predicate there.
        predicate: bool,
        at: At,
    },
    /// The lanes of a mask.
    Exchange { meeting: Meeting, value: u64 },
    /// To know who else of the warp has come to the place.
    ActiveMask { at: At },
    /// Nothing: others go first.
    Turn { steps: u32, at: At },
}

/// The meeting of lanes of a warp, and its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) operation: Operation,
    pub(crate) mask: u32,
    pub(crate) at: At,
}

impl Meeting {
    /// Whether lanes that came to this meet those that came to the other: the place does not matter.
    fn is(&self, other: &Meeting) -> bool {
        (self.operation, self.mask) == (other.operation, other.mask)
    }
}

/// The answer that a thread gets when it goes on.
#[allow(
    clippy::large_enum_variant,
    reason = "it goes to each lane by copy, and a box would take an allocation for each"
)]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Turn,
    Tally(Tally),
    Exchange(Exchange),
    ActiveMask(u32),
}

/// The lanes of a warp that can go on, and with which answer; those of one meeting. `waits` has what
/// each waits for that has not ended, by its lane; none of them runs.
pub(crate) fn released(waits: &[(u32, Wait)]) -> Option<(u32, Answer)> {
    let complete = waits.iter().find_map(|(_, wait)| match wait {
        Wait::Exchange { meeting, .. } => exchange(waits, meeting),
        _ => None,
    });
    complete.or_else(|| {
        let at = waits.iter().find_map(|(_, wait)| match wait {
            Wait::ActiveMask { at } => Some(*at),
            _ => None,
        })?;
        let lanes = waits
            .iter()
            .filter(|(_, wait)| *wait == Wait::ActiveMask { at });
        let lanes = lanes.fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        Some((lanes, Answer::ActiveMask(lanes)))
    })
}

/// Returns the values that the lanes have brought to the meeting, if all have come that have not ended.
fn exchange(waits: &[(u32, Wait)], wanted: &Meeting) -> Option<(u32, Answer)> {
    let (mut live, mut here, mut values) = (0, 0, [0; WARP_SIZE as usize]);
    for (lane, wait) in waits {
        live |= 1 << lane;
        if let Wait::Exchange { meeting, value } = wait
            && meeting.is(wanted)
        {
            here |= 1 << lane;
            values[*lane as usize] = *value;
        }
    }
    let is_complete = wanted.mask & live & !here == 0;
    let lanes = here & wanted.mask;
    is_complete.then_some((here, Answer::Exchange(Exchange { lanes, values })))
}

/// Returns the threads' predicates at a barrier, counted, if all that wait are there.
pub(crate) fn tally(mut waits: impl Iterator<Item = Wait>) -> Option<Tally> {
    waits.try_fold(Tally::default(), |tally, wait| match wait {
        Wait::Barrier { predicate, .. } => Some(Tally {
            threads: tally.threads + 1,
            in_favour: tally.in_favour + u32::from(predicate),
        }),
        _ => None,
    })
}

/// Who waits for what, of threads that nothing can wake, by their index in a block of this shape.
pub(crate) fn describe(waits: &[(u32, Wait)], block: [u32; 3]) -> String {
    let mut groups: Vec<(String, u32, u32)> = Vec::new();
    for (thread, wait) in waits {
        let what = match wait {
            Wait::Barrier { at, .. } => format!("at the barrier at {}", line(at)),
            Wait::Exchange { meeting, .. } => {
                let (operation, mask, at) = (meeting.operation, meeting.mask, line(meeting.at));
                let warp = thread / WARP_SIZE;
                format!("in warp {warp} for a {operation:?} of the mask {mask:#010x} at {at}")
            }
            Wait::ActiveMask { at } | Wait::Turn { at, .. } => format!("at {}", line(at)),
        };
        match groups.iter_mut().find(|(other, ..)| *other == what) {
            Some((_, _, count)) => *count += 1,
            None => groups.push((what, *thread, 1)),
        }
    }
    let mut text = String::new();
    for (what, first, count) in groups {
        let separator = if text.is_empty() { "" } else { "; " };
        let first = coordinates(first.into(), block);
        // Writing to a string does not fail.
        let _ = match count {
            1 => write!(text, "{separator}thread {first:?} waits {what}"),
            count => write!(
                text,
                "{separator}{count} threads, the first {first:?}, wait {what}"
            ),
        };
    }
    text
}

/// File and line.
pub(crate) fn line(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}
