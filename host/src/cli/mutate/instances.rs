//! Changes of lines, each in one alone of the functions that were made from its line.

use std::collections::HashMap;
use std::time::Duration;

use super::baseline::Baseline;
use super::trials::Candidate;
use crate::mutation::Journal;

/// Leaves each change of a line in one function: one that has an answer, or else that whose tests take the least time. It stands for
/// as many instructions as all of them do.
pub(super) fn one_of_each(
    candidates: Vec<Candidate>,
    baseline: &Baseline,
    journal: &Journal,
) -> Vec<Candidate> {
    let mut kept: Vec<(Cost, Candidate)> = Vec::new();
    let mut of_lines: HashMap<u64, usize> = HashMap::new();
    for candidate in candidates {
        let cost = Cost::of(&candidate, baseline, journal);
        let known =
            (candidate.first().of_line).map(|line| *of_lines.entry(line).or_insert(kept.len()));
        let Some((least, first)) = known.and_then(|at| kept.get_mut(at)) else {
            kept.push((cost, candidate));
            continue;
        };
        let copies = first.first().copies + candidate.first().copies;
        if cost < *least {
            (*least, *first) = (cost, candidate);
        }
        first.all[0].copies = copies;
    }
    kept.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The cost of an answer, the least first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Cost {
    Known,
    Tests(Duration),
    /// No test executes it.
    Unreached,
}

impl Cost {
    fn of(candidate: &Candidate, baseline: &Baseline, journal: &Journal) -> Cost {
        let tests = candidate
            .all
            .iter()
            .flat_map(|it| baseline.of_place(&it.place));
        let took: Duration = tests.map(|it| it.took).sum();
        match journal.answer(candidate.first()) {
            Some(_) => Cost::Known,
            None if took.is_zero() => Cost::Unreached,
            None => Cost::Tests(took),
        }
    }
}
