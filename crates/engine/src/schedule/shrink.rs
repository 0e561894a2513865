//! The shortest schedule that fails.

use super::explore::search;
use super::{Choice, Choices, Keeps, LeavingOut, Schedule, Source};

/// A failing schedule with few switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk<E> {
    /// The schedule, from its beginning.
    pub choices: Choices,
    /// The error that `run` gave under it.
    pub error: E,
    /// Switches of the schedule that was given.
    pub before: usize,
    /// How often `run` was called.
    pub runs: u64,
    /// Whether all schedules with fewer switches were run, and none fails.
    pub is_shortest: bool,
}

/// Runs the schedule, and where it fails looks for the shortest that still does: switches are left out as long
/// as the rest fails, then all schedules with fewer are tried, in at most `limit` runs in all. The same each time.
/// `run` sets the memory up anew and launches with the schedule that it is given. None: it did not fail.
pub fn shrink<E>(
    schedule: &Schedule,
    limit: u64,
    run: impl FnMut(&Schedule) -> Result<(), E>,
) -> Option<Shrunk<E>> {
    let mut search = Search {
        run,
        runs: 0,
        limit,
    };
    let source = match schedule {
        Schedule::InOrder => Source::List(Vec::new()),
        Schedule::Seeded(seed) => Source::Seed(*seed),
        Schedule::Chosen(choices) => choices.source().clone(),
    };
    let (mut list, mut error) = search.failure(Choices::new(source, Keeps::Switches))?;
    let before = list.len();
    search.leave_out(&mut list, &mut error);
    let is_shortest = search.fewer(&mut list, &mut error);
    Some(Shrunk {
        choices: Choices::of(list),
        error,
        before,
        runs: search.runs,
        is_shortest,
    })
}

struct Search<R> {
    run: R,
    runs: u64,
    limit: u64,
}

impl<E, R: FnMut(&Schedule) -> Result<(), E>> Search<R> {
    /// The switches that a failing run made, and its error.
    fn failure(&mut self, choices: Choices) -> Option<(Vec<Choice>, E)> {
        self.runs += 1;
        let error = (self.run)(&Schedule::Chosen(choices.clone())).err()?;
        Some((choices.made(), error))
    }

    /// Leaves out parts of the list while the rest fails.
    fn leave_out(&mut self, list: &mut Vec<Choice>, error: &mut E) {
        let mut leaving_out = LeavingOut::of(std::mem::take(list));
        while self.runs < self.limit
            && let Some(rest) = leaving_out.candidate()
        {
            match self.failure(Choices::of(rest)) {
                Some((shorter, failed)) => {
                    leaving_out.failed(shorter);
                    *error = failed;
                }
                None => leaving_out.passed(),
            }
        }
        *list = leaving_out.switches().to_vec();
    }

    /// Tries all lists that are shorter. Gives whether it came to an end.
    fn fewer(&mut self, list: &mut Vec<Choice>, error: &mut E) -> bool {
        let Some(bound) = list.len().checked_sub(1) else {
            return true;
        };
        let left = self.limit.saturating_sub(self.runs);
        let explored = search(bound, left, |_| 1, &mut self.run);
        self.runs += explored.runs;
        match explored.failure {
            // Those with fewer switches ran before it.
            Some(failing) => {
                *list = failing.choices.switches().to_vec();
                *error = failing.error;
                true
            }
            None => explored.is_complete,
        }
    }
}
