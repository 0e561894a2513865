//! Delta debugging of a schedule.

use super::Choice;

/// The switches of a schedule that fails, of which parts are left out, smaller and smaller ones, as long as the rest fails.
///
/// For a search that has the runs in its own hands, as proptest has: [`shrink`](super::shrink) runs by itself, and looks for shorter
/// ones behind this, too.
///
/// ```
/// use engine::{Choice, LeavingOut};
///
/// let choice = |at| Choice { at, thread: 0 };
/// // It fails with the switches at 3 and 6, whatever there is beside them.
/// let fails = |switches: &[Choice]| [3, 6].iter().all(|&at| switches.contains(&choice(at)));
/// let mut leaving_out = LeavingOut::of((0..8).map(choice).collect());
/// while let Some(switches) = leaving_out.candidate() {
///     match fails(&switches) {
///         true => leaving_out.failed(switches),
///         false => leaving_out.passed(),
///     }
/// }
/// assert_eq!(leaving_out.switches(), [choice(3), choice(6)]);
/// ```
#[derive(Clone, Debug)]
pub struct LeavingOut {
    switches: Vec<Choice>,
    /// The part that the candidate lacks: how many switches, and the first.
    part: usize,
    start: usize,
    /// Whether a part of this length has been left out.
    is_shorter: bool,
}

impl LeavingOut {
    /// Begins with the switches of a run that failed.
    pub fn of(switches: Vec<Choice>) -> LeavingOut {
        LeavingOut {
            part: switches.len(),
            switches,
            start: 0,
            is_shorter: false,
        }
    }

    /// The fewest switches that have failed.
    pub fn switches(&self) -> &[Choice] {
        &self.switches
    }

    /// The switches without a part, to be run next; none when no part can be left out.
    pub fn candidate(&mut self) -> Option<Vec<Choice>> {
        if self.part > 0 && self.start >= self.switches.len() {
            // One that could not be left out before may be now.
            self.part = match self.is_shorter {
                true => self.part.min(self.switches.len()),
                false => self.part / 2,
            };
            (self.start, self.is_shorter) = (0, false);
        }
        let mut rest = self.switches.clone();
        let part = self.start..(self.start + self.part).min(rest.len());
        (self.part > 0).then(|| {
            rest.drain(part);
            rest
        })
    }

    /// The candidate failed; these are the switches that its run made.
    pub fn failed(&mut self, switches: Vec<Choice>) {
        (self.switches, self.is_shorter) = (switches, true);
    }

    /// The candidate did not fail: it lacks a part that has to be there.
    pub fn passed(&mut self) {
        self.start += self.part;
    }
}
