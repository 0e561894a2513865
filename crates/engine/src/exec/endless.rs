//! A launch that a limit ends.

use std::fmt;
use std::time::Duration;

use super::failure::{Failed, Failure};
use super::op::Context;
use super::surroundings::Look;
use crate::memory::Place;

/// A launch that has not ended, and for what it waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Endless {
    /// The limit that has ended it.
    pub limit: Limit,
    /// Whether it looks at what other threads may write, as far as one can see.
    pub is_looking: bool,
    /// The memory that it has looked at last, if it does.
    pub awaited: Option<Awaited>,
    /// How far the launch has come.
    pub progress: Progress,
}

/// Limit that ends a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Options::steps`](crate::Options::steps), or fewer where nobody is left who could do what is waited for.
    Steps(u64),
    /// [`Options::time`](crate::Options::time).
    Time(Duration),
    /// All that have begun only wait and come to nothing new, and nobody else can begin.
    Standstill,
}

/// Memory that a thread looks at again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaited {
    /// How: `reads`.
    pub verb: &'static str,
    /// Where.
    pub place: Box<Place>,
}

/// How far a launch has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Blocks that have begun, with those that have ended.
    pub begun: u64,
    /// Blocks that have ended.
    pub ended: u64,
    /// Blocks of the grid.
    pub blocks: u64,
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress {
            begun,
            ended,
            blocks,
        } = self;
        let noun = if *blocks == 1 { "block" } else { "blocks" };
        write!(
            formatter,
            "of {blocks} {noun}, {begun} began and {ended} ended"
        )
    }
}

impl fmt::Display for Endless {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Limit::Steps(limit) => {
                write!(
                    formatter,
                    "goes on for ever, or for more than {limit} steps"
                )
            }
            Limit::Time(limit) => {
                write!(formatter, "has not ended after {} s", limit.as_secs_f64())
            }
            Limit::Standstill => formatter.write_str("waits for ever for what nobody writes"),
        }?;
        if let Some(Awaited { verb, place }) = &self.awaited {
            write!(formatter, ": it {verb} {place} again and again")?;
        }
        write!(formatter, "; {}", self.progress)?;
        match self.limit {
            Limit::Standstill => formatter.write_str(", and all that are left only wait"),
            _ => Ok(()),
        }
    }
}

impl Context<'_> {
    /// That a limit has ended the launch while a group runs, at the instruction with which it looked last at what others
    /// may write, where the running function has it, or at another.
    #[cold]
    pub(super) fn endless(
        &self,
        limit: Limit,
        is_looking: bool,
        (look, instruction): (Option<Look>, u32),
    ) -> Box<Failed> {
        let look = look.filter(|it| it.program == self.at.program);
        let instruction = look.map_or(instruction, |it| it.instruction);
        let awaited = look.and_then(|it| self.place_of_host(it.at));
        let endless = Failure::Endless(Box::new(Endless {
            limit,
            is_looking,
            awaited: awaited.map(|place| Awaited {
                verb: "looks at",
                place: Box::new(place),
            }),
            progress: Progress::default(),
        }));
        Box::new(self.failed(endless.into(), instruction))
    }

    /// Returns whether the launch has failed, or ends here because its time is over. What takes long in one operation asks:
    /// others come after as many steps as [`Decoded::steps_per_look`](super::program::Decoded::steps_per_look).
    pub(super) fn is_over(&mut self, instruction: u32) -> bool {
        if self.at.fault.is_none()
            && let Some(limit) = self.at.launch.late()
        {
            self.at.fault = Some(self.endless(limit, false, (None, instruction)));
        }
        self.at.fault.is_some()
    }

    /// Finds the place of an address of the host: shared memory of the block, or the device's. None for anything else.
    fn place_of_host(&self, address: *const u8) -> Option<Place> {
        let offset = (address as u64).wrapping_sub(self.at.shared as u64);
        if offset < u64::from(self.at.layout.bytes()) {
            return Some(self.at.layout.place(offset));
        }
        let memory = self.at.launch.memory;
        memory.find(address as u64)?;
        Some(memory.place(address as u64))
    }
}
