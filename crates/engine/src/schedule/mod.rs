//! Schedules: in which order a launch's threads run, and searches through them.

mod explore;
mod shrink;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use explore::{Explored, Failing, explore};
pub use shrink::{Shrunk, shrink};

/// The order in which blocks, warps and lanes run, and where they take turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// By their index; a warp runs until it ends or waits.
    #[default]
    InOrder,
    /// Another order for each number, the same for the same number: blocks, warps and lanes go ahead and
    /// fall behind, and any access to memory may be where others have their turn. On one core.
    Seeded(u64),
    /// By their index but for these switches. On one core.
    Chosen(Choices),
}

impl Schedule {
    /// The decisions of a run, for all but the order of the indices.
    pub(crate) fn choices(&self) -> Option<Choices> {
        match self {
            Schedule::InOrder => None,
            Schedule::Seeded(seed) => Some(Choices::new(Source::Seed(*seed), Keeps::Nothing)),
            Schedule::Chosen(choices) => Some(choices.clone()),
        }
    }
}

/// A switch of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// At which point of the run. Each access of a warp to memory that others see is one, and so is
    /// where a block begins, and where a warp ends, waits, or lets others go first.
    pub at: u64,
    /// Who goes on then: a thread, counted through the grid, with the lanes of its warp that are where it
    /// is. Where it was about to make the access with others, it goes ahead of them alone.
    pub thread: u64,
}

/// Switches of control: `0:32,17:5` goes to thread 32 at the point 0 and to thread 5 at the point 17. What is
/// not said is as in order: who runs goes on, then whoever is next.
///
/// Points are counted from launch to launch, so one is for one run: clones go on where the last launch
/// ended, and [`Choices::anew`] begins again.
#[derive(Clone)]
pub struct Choices(Arc<Shared>);

struct Shared {
    source: Source,
    run: Mutex<Run>,
}

/// Where decisions come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Seed(u64),
    /// In the order of their points.
    List(Vec<Choice>),
}

/// What is remembered of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    Nothing,
    /// The switches.
    Switches,
    /// These and what else could have been chosen.
    Alternatives,
}

/// How far a run has come, and what is remembered of it.
pub(crate) struct Run {
    pub(crate) keeps: Keeps,
    /// Points that it has passed.
    pub(crate) points: u64,
    /// Choices of the list that it has passed.
    pub(crate) passed: usize,
    /// Switches that it made.
    pub(crate) taken: Vec<Choice>,
    /// Points behind the last choice where others could have gone on.
    pub(crate) open: Vec<Open>,
    /// Whether a choice could not be made, or not all that could go on were looked at.
    pub(crate) is_partial: bool,
}

/// A point where others could have gone on.
pub(crate) struct Open {
    pub(crate) at: u64,
    /// Whether who ran could have gone on.
    pub(crate) preempts: bool,
    pub(crate) threads: Vec<u64>,
}

impl Choices {
    /// Of switches, in any order.
    pub fn of(switches: impl IntoIterator<Item = Choice>) -> Choices {
        Choices::kept(switches.into_iter().collect(), Keeps::Nothing)
    }

    /// The switches in the order of their points; none for a seed's.
    pub fn switches(&self) -> &[Choice] {
        match &self.0.source {
            Source::List(list) => list,
            Source::Seed(_) => &[],
        }
    }

    /// The same for another run, from its beginning.
    #[must_use]
    pub fn anew(&self) -> Choices {
        Choices::new(self.0.source.clone(), Keeps::Nothing)
    }

    pub(crate) fn kept(mut list: Vec<Choice>, keeps: Keeps) -> Choices {
        list.sort_unstable();
        Choices::new(Source::List(list), keeps)
    }

    pub(crate) fn new(source: Source, keeps: Keeps) -> Choices {
        let run = Run {
            keeps,
            points: 0,
            passed: 0,
            taken: Vec::new(),
            open: Vec::new(),
            is_partial: false,
        };
        let run = Mutex::new(run);
        Choices(Arc::new(Shared { source, run }))
    }

    pub(crate) fn source(&self) -> &Source {
        &self.0.source
    }

    /// Of the launches with one schedule, one runs at a time.
    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        self.0.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for Choices {
    fn eq(&self, other: &Choices) -> bool {
        self.0.source == other.0.source
    }
}

impl Eq for Choices {}

impl fmt::Debug for Choices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Source::List(_) => write!(formatter, "Choices({self})"),
            Source::Seed(seed) => write!(formatter, "Choices(of the seed {seed})"),
        }
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Choice { at, thread }) in self.switches().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{at}:{thread}")?;
        }
        Ok(())
    }
}

/// A text that is no list of switches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a switch of a schedule such as 17:5, at the point 17 to thread 5")]
pub struct NoChoice {
    text: String,
}

impl FromStr for Choices {
    type Err = NoChoice;

    fn from_str(text: &str) -> Result<Choices, NoChoice> {
        let one = |text: &str| {
            let (at, thread) = text.split_once(':')?;
            Some(Choice {
                at: at.trim().parse().ok()?,
                thread: thread.trim().parse().ok()?,
            })
        };
        let none = |text: &str| NoChoice {
            text: text.to_owned(),
        };
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        let list: Result<Vec<Choice>, NoChoice> =
            parts.map(|it| one(it).ok_or_else(|| none(it))).collect();
        Ok(Choices::of(list?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["", "0:3", "0:3,17:1"] {
            let choices: Choices = text.parse().expect("choices");
            assert_eq!(choices.to_string(), text);
        }
        let turned: Choices = "17:1, 0:3".parse().expect("choices");
        assert_eq!(turned.to_string(), "0:3,17:1");
        let error = "0:3,x".parse::<Choices>().expect_err("no number");
        let said = "\"x\" is not a switch of a schedule such as 17:5, at the point 17 to thread 5";
        assert_eq!(error.to_string(), said);
    }
}
