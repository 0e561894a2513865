//! Mutants, tried on all cores.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::baseline::Baseline;
use super::process::{Conditions, Ended};
use super::suite::Suite;
use crate::cli::Failure;
use crate::cli::console::Console;
use crate::cli::interrupt::Interrupt;
use crate::driver::cores;
use crate::mutation::{Answer, Journal, Killer, Mutant, Report, has_been_made};
use crate::report::counted;

/// A change, in each module that has the function.
pub(super) struct Candidate {
    /// At least one.
    pub(super) all: Vec<Mutant>,
}

impl Candidate {
    pub(super) fn first(&self) -> &Mutant {
        &self.all[0]
    }
}

/// How mutants are tried.
pub(super) struct Trials<'a> {
    pub(super) suite: &'a Suite,
    pub(super) baseline: &'a Baseline,
    pub(super) seeds: u64,
    /// When no other is begun, and those that are tried are ended without an answer.
    pub(super) until: Option<Instant>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) console: &'a Console,
}

impl Trials<'_> {
    /// Tries those that no answer is known to, and adds all to the report.
    pub(super) fn run(
        &self,
        candidates: Vec<Candidate>,
        journal: &mut Journal,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let mut open = Vec::new();
        for candidate in candidates {
            match journal.answer(candidate.first()) {
                Some(answer) => report.add(candidate.first().clone(), answer.clone()),
                None => open.push(candidate),
            }
        }
        self.console.expect(open.len() as u64);
        self.console
            .begin(counted(open.len() as u64, "mutant").to_string());
        let next = AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let (answers, come) = mpsc::channel();
        let work = |answers: mpsc::Sender<(usize, io::Result<Answer>)>| {
            while !is_over.load(Ordering::Relaxed) && !self.has_ended() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(candidate) = open.get(index) else {
                    return;
                };
                let answer = self.answer(candidate).transpose();
                let Some(answer) = answer else {
                    return;
                };
                if answers.send((index, answer)).is_err() {
                    return;
                }
            }
        };
        let mut is_known = vec![false; open.len()];
        let ended = thread::scope(|scope| {
            for _ in 0..cores() {
                let answers = answers.clone();
                scope.spawn(|| work(answers));
            }
            drop(answers);
            for (index, answer) in come {
                let added = answer.and_then(|answer| {
                    journal.add(open[index].first(), answer.clone())?;
                    report.add(open[index].first().clone(), answer);
                    Ok(())
                });
                if let Err(error) = added {
                    is_over.store(true, Ordering::Relaxed);
                    return Err(Failure::failed(error));
                }
                is_known[index] = true;
                self.console.step();
            }
            Ok(())
        });
        self.console.finish();
        let untried = open.iter().zip(is_known).filter(|(_, is_known)| !is_known);
        untried.for_each(|(candidate, _)| report.add_untried(candidate.first().clone()));
        ended
    }

    fn has_ended(&self) -> bool {
        self.interrupt.flow().is_break() || self.until.is_some_and(|until| Instant::now() > until)
    }

    /// The answer of all tests that execute it; none where a signal has come or the time has ended meanwhile.
    fn answer(&self, candidate: &Candidate) -> io::Result<Option<Answer>> {
        let mut answer = Answer::NotMade;
        for mutant in &candidate.all {
            match self.answer_to(mutant)? {
                Some(Answer::Survived) => answer = Answer::Survived,
                Some(Answer::NotMade) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(answer))
    }

    fn answer_to(&self, mutant: &Mutant) -> io::Result<Option<Answer>> {
        let folder = tempfile::tempdir()?;
        let change = folder.path().join("change");
        fs::write(&change, mutant.change.to_string())?;
        for run in self.baseline.of_place(&mutant.place) {
            let test = &self.suite.tests[run.test];
            let conditions = Conditions {
                seeds: if mutant.operator.is_of_order() {
                    self.seeds
                } else {
                    0
                },
                max_steps: run.max_steps(),
                patience: run.patience(),
                until: self.until,
                change: Some(&change),
                coverage: None,
                output: None,
            };
            let ended = match test.run(self.suite, &conditions, self.interrupt)? {
                Ended::PassedWithFailures(kernels) if !kernels.is_subset(&run.failing) => {
                    Ended::Failed(Killer::Launch)
                }
                ended => ended,
            };
            match ended {
                Ended::Passed | Ended::PassedWithFailures(_) => {}
                Ended::Interrupted => return Ok(None),
                Ended::Failed(_) if !has_been_made(&change) => return Ok(Some(Answer::Refused)),
                Ended::Failed(by) => {
                    return Ok(Some(Answer::Killed {
                        test: test.name.clone(),
                        by,
                    }));
                }
            }
        }
        Ok(Some(match has_been_made(&change) {
            true => Answer::Survived,
            false => Answer::NotMade,
        }))
    }
}
