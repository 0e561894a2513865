//! Schedules: in which order a launch's threads run, and searches through them.

mod explore;
mod leaving_out;
mod shrink;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use explore::{Explored, Failing, explore};
pub use leaving_out::LeavingOut;
pub use shrink::{Shrunk, shrink};

/// The order in which blocks, warps and lanes run, and where they take turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// By their index; a warp runs until it ends or waits. Blocks on different cores run at the same time; a
    /// checked launch has one core.
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

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.at, self.thread)
    }
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

/// The choices of a run that are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    Nothing,
    /// The switches.
    Switches,
    /// The alternatives: where a warp could go on, and where one could not.
    Alternatives {
        preempting: bool,
        others: bool,
    },
}

/// How many points of a run are remembered: a long run has more than can be searched.
pub(crate) const MOST_OPEN: usize = 10_000;

/// How far a run has come, and what is remembered of it.
pub(crate) struct Run {
    pub(crate) keeps: Keeps,
    /// Points that it has passed.
    pub(crate) points: u64,
    /// Choices of the list that it has passed.
    pub(crate) passed: usize,
    /// Switches that it made.
    pub(crate) taken: Vec<Choice>,
    /// Points behind the last choice where others could have gone on, at most [`MOST_OPEN`].
    pub(crate) open: Vec<Open>,
    /// Whether not all that could go on were looked at.
    pub(crate) is_partial: bool,
    /// The first choice that could not be made.
    pub(crate) missed: Option<Choice>,
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
        Choices::kept(switches.into_iter().collect(), Keeps::Switches)
    }

    /// Those of [`Schedule::Seeded`], to be asked for the switches that it [made](Choices::made).
    pub fn of_seed(seed: u64) -> Choices {
        Choices::new(Source::Seed(seed), Keeps::Switches)
    }

    /// The switches that the launches have made: run alone, they do the same. What [`explore`] runs tells none.
    pub fn made(&self) -> Vec<Choice> {
        self.run().taken.clone()
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

    /// Whether the launches of a run that has ended have made all switches of a list.
    ///
    /// # Errors
    /// The first switch that they could not make.
    pub fn check_followed(&self) -> Result<(), NotFollowed> {
        let (run, switches) = (self.run(), self.switches());
        match (run.missed, switches.get(run.passed)) {
            (Some(choice), _) => Err(NotFollowed::Thread { choice }),
            (None, Some(&choice)) => Err(NotFollowed::End {
                choice,
                points: run.points,
            }),
            (None, None) => Ok(()),
        }
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
            missed: None,
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
        for (index, choice) in self.switches().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{choice}")?;
        }
        Ok(())
    }
}

/// A switch that a run could not make.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowed {
    /// The thread waited, or had ended, or could not begin.
    #[error("{choice} of the schedule: thread {} cannot go on at the point {}", choice.thread, choice.at)]
    Thread {
        /// The switch.
        choice: Choice,
    },
    /// The run had fewer points.
    #[error("{choice} of the schedule: the run ended after {points} points")]
    End {
        /// The first switch behind its end.
        choice: Choice,
        /// How many it had.
        points: u64,
    },
}

/// A text that is no list of switches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoChoice {
    /// A part of it is none.
    #[error("{text:?} is not a switch of a schedule such as 17:5, at the point 17 to thread 5")]
    Text {
        /// The part.
        text: String,
    },
    /// Two switches at one point.
    #[error("{first} and {second} are at the same point; a schedule has one switch at each")]
    Repeated {
        /// One of them.
        first: Choice,
        /// Another.
        second: Choice,
    },
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
        let none = |text: &str| NoChoice::Text {
            text: text.to_owned(),
        };
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        let list: Result<Vec<Choice>, NoChoice> =
            parts.map(|it| one(it).ok_or_else(|| none(it))).collect();
        let choices = Choices::of(list?);
        let neighbours = choices.switches().windows(2);
        let repeated = neighbours.filter(|pair| pair[0].at == pair[1].at);
        match repeated.map(|pair| (pair[0], pair[1])).next() {
            Some((first, second)) => Err(NoChoice::Repeated { first, second }),
            None => Ok(choices),
        }
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
        let error = "4:1,0:3,4:2".parse::<Choices>().expect_err("two at 4");
        let said = "4:1 and 4:2 are at the same point; a schedule has one switch at each";
        assert_eq!(error.to_string(), said);
    }
}
