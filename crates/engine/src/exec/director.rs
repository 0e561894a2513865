//! Who decides the order of a launch, where it is free.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::MutexGuard;

use super::directed::{Among, Candidate};
use super::program::Program;
use super::seeded_policy::SeededPolicy;
use crate::schedule::{Choice, Choices, Keeps, MOST_OPEN, Open, Run, Source};

/// Decides at each point of a run who goes on.
pub(crate) struct Director<'s>(RefCell<State<'s>>);

struct State<'s> {
    decides: Decides<'s>,
    run: MutexGuard<'s, Run>,
}

enum Decides<'s> {
    Seed(Box<SeededPolicy>),
    List(&'s [Choice]),
}

/// The event at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// A warp that could go on is about to reach memory.
    Access,
    /// The launch begins, or the warp that ran waits or has ended.
    Free,
    /// A warp that could go on lets others go first.
    Yields,
}

impl<'s> Director<'s> {
    pub(crate) fn new(choices: &'s Choices) -> Director<'s> {
        let decides = match choices.source() {
            Source::Seed(seed) => Decides::Seed(Box::new(SeededPolicy::of(*seed))),
            Source::List(list) => Decides::List(list),
        };
        let run = choices.run();
        Director(RefCell::new(State { decides, run }))
    }

    /// The order in which blocks begin.
    pub(crate) fn order(&self) -> u64 {
        match &self.0.borrow().decides {
            Decides::Seed(policy) => policy.order,
            Decides::List(_) => 0,
        }
    }

    /// The first of a range of operations at which it must be decided who goes on. Of the first it `is_decided`, or not.
    pub(crate) fn asks_at(
        &self,
        program: &Program,
        ops: Range<u32>,
        is_decided: bool,
    ) -> Option<u32> {
        let mut state = self.0.borrow_mut();
        ops.clone()
            .skip(usize::from(is_decided))
            .filter(|&op| program.ops[op as usize].accesses_memory)
            .find(|_| state.asks())
    }

    /// The number of the point that was asked for, or of a new one.
    pub(crate) fn number(&self, point: Point) -> u64 {
        let run = &mut self.0.borrow_mut().run;
        run.points += u64::from(point != Point::Access);
        run.points - 1
    }

    /// Who shall go on at a point.
    pub(crate) fn says(&self, at: u64, point: Point) -> Says {
        let state = &mut *self.0.borrow_mut();
        let is_told = state.tells(point);
        let Decides::List(list) = &state.decides else {
            return Says::Any;
        };
        match list.get(state.run.passed) {
            Some(choice) if choice.at == at => {
                state.run.passed += 1;
                Says::Thread(choice.thread)
            }
            None if is_told => Says::Tell,
            _ => Says::Default,
        }
    }

    /// A seed's choice.
    pub(crate) fn choose(&self, among: &Among<'_>) -> Option<Candidate> {
        match &mut self.0.borrow_mut().decides {
            Decides::Seed(policy) => policy.choose(among),
            Decides::List(_) => None,
        }
    }

    /// Remembers a switch.
    pub(crate) fn made(&self, at: u64, thread: u64) {
        let run = &mut self.0.borrow_mut().run;
        if run.keeps == Keeps::Switches {
            run.taken.push(Choice { at, thread });
        }
    }

    /// Remembers who could have gone on instead.
    pub(crate) fn open(&self, open: Open) {
        self.0.borrow_mut().run.open.push(open);
    }

    /// Remembers a switch that could not be made.
    pub(crate) fn missed(&self, choice: Choice) {
        let run = &mut self.0.borrow_mut().run;
        run.missed = run.missed.or(Some(choice));
        run.is_partial = true;
    }

    /// Remembers that not all could be done that was to be.
    pub(crate) fn is_partial(&self) {
        self.0.borrow_mut().run.is_partial = true;
    }
}

/// Who shall go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// A seed chooses.
    Any,
    /// This thread.
    Thread(u64),
    /// Whoever is next.
    Default,
    /// Whoever is next; the others are to be told.
    Tell,
}

impl State<'_> {
    /// Whether others that could go on at a point are to be told, and there is room for them.
    fn tells(&mut self, point: Point) -> bool {
        let tells = match self.run.keeps {
            Keeps::Alternatives { preempting, .. } if point == Point::Access => preempting,
            Keeps::Alternatives { others, .. } => others,
            _ => false,
        };
        let is_full = self.run.open.len() >= MOST_OPEN;
        self.run.is_partial |= tells && is_full;
        tells && !is_full
    }

    /// Whether it must be decided who goes on at the access that comes next.
    fn asks(&mut self) -> bool {
        let at = self.run.points;
        self.run.points += 1;
        match &mut self.decides {
            Decides::Seed(policy) => policy.asks(),
            Decides::List(list) => match list.get(self.run.passed) {
                Some(next) => next.at == at,
                None => self.tells(Point::Access),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_run_the_first_alternatives_are_remembered() {
        let keeps = Keeps::Alternatives {
            preempting: false,
            others: true,
        };
        let choices = Choices::kept(Vec::new(), keeps);
        let director = Director::new(&choices);
        assert!(!director.0.borrow_mut().tells(Point::Access));
        for at in 0..2 * MOST_OPEN as u64 {
            if director.says(at, Point::Free) == Says::Tell {
                director.open(Open {
                    at,
                    preempts: false,
                    threads: vec![1],
                });
            }
            assert_eq!(director.0.borrow().run.is_partial, at >= MOST_OPEN as u64);
        }
        assert_eq!(director.0.borrow().run.open.len(), MOST_OPEN);
    }
}
