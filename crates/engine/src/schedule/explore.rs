//! All schedules with few switches.

use std::collections::VecDeque;

use super::{Choice, Choices, Keeps, Schedule};

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<E> {
    /// How many schedules were run.
    pub runs: u64,
    /// Whether those were all within the bound. Never where one failed.
    pub is_complete: bool,
    /// The first that failed.
    pub failure: Option<Failing<E>>,
}

/// A schedule that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing<E> {
    /// The schedule, from its beginning.
    pub choices: Choices,
    /// The error that `run` gave.
    pub error: E,
}

/// Runs `run` under each schedule with at most so many preemptions, those with fewer first, until one fails, all
/// have run, or `limit` have. `run` sets the memory up anew and launches with the schedule that it is given.
///
/// A preemption takes control from a warp that could go on, at an access to memory: another warp goes on, another
/// group of its lanes, or one of its lanes ahead of the others. Which warp goes on where one ends or waits, and
/// which block begins, is tried in all orders without counting. Lanes that no preemption has parted
/// stay together. A warp that looks again and again at memory lets those go first that have done so less often.
pub fn explore<E>(
    preemptions: usize,
    limit: u64,
    run: impl FnMut(&Schedule) -> Result<(), E>,
) -> Explored<E> {
    search(preemptions, limit, usize::from, run)
}

/// The same for any cost of a switch that preempts, or does not.
pub(super) fn search<E>(
    bound: usize,
    limit: u64,
    cost: impl Fn(bool) -> usize,
    mut run: impl FnMut(&Schedule) -> Result<(), E>,
) -> Explored<E> {
    // For each cost the schedules of that cost that have not run: none is there twice, because a schedule has
    // the choices of another and one behind these.
    let mut waiting: Vec<VecDeque<Vec<Choice>>> = vec![VecDeque::new(); bound + 1];
    waiting[0].push_back(Vec::new());
    let (mut runs, mut is_complete) = (0, true);
    while let Some((spent, list)) = next(&mut waiting) {
        if runs == limit {
            is_complete = false;
            break;
        }
        runs += 1;
        // What would cost more than is left is not asked for.
        let is_within = |preempts| spent + cost(preempts) <= bound;
        let keeps = Keeps::Alternatives {
            preempting: is_within(true),
            others: is_within(false),
        };
        let choices = Choices::kept(list.clone(), keeps);
        if let Err(error) = run(&Schedule::Chosen(choices.clone())) {
            let choices = choices.anew();
            return Explored {
                runs,
                is_complete: false,
                failure: Some(Failing { choices, error }),
            };
        }
        let ran = std::mem::take(&mut choices.run().open);
        is_complete &= !choices.run().is_partial;
        for open in ran {
            let spent = spent + cost(open.preempts);
            let Some(waiting) = waiting.get_mut(spent) else {
                continue;
            };
            for thread in open.threads {
                // More than can be run are not kept.
                if waiting.len() as u64 >= limit {
                    is_complete = false;
                    break;
                }
                let choice = Choice {
                    at: open.at,
                    thread,
                };
                waiting.push_back(list.iter().copied().chain([choice]).collect());
            }
        }
    }
    Explored {
        runs,
        is_complete,
        failure: None,
    }
}

/// A schedule of the least cost, with it.
fn next(waiting: &mut [VecDeque<Vec<Choice>>]) -> Option<(usize, Vec<Choice>)> {
    let mut all = waiting.iter_mut().enumerate();
    all.find_map(|(spent, lists)| Some((spent, lists.pop_front()?)))
}
