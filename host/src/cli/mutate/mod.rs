//! `ridgepoint mutate`: kernels changed in one place at a time, and whether their tests notice.

mod baseline;
mod instances;
mod process;
mod suite;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::interrupt::Interrupt;
use super::option_values::{real, whole};
use super::{Failure, row_format, severity, streams};
use crate::mutation::{
    Accepted, Journal, Mutant, Mutants, Operator, Place, Report, Superfluous, in_turns,
};
use crate::report::counted;
use baseline::Baseline;
use suite::Suite;
use trials::Candidate;

const HELP: &str = "\
Whose tests:
  ridgepoint mutate --
      this folder's project: those that `cargo test --tests` runs
  ridgepoint mutate -- -p demo --test scale
      the same with arguments of cargo
  ridgepoint mutate python matmul.py
      any program, with the emulator in place of NVIDIA's driver; a status other than 0 is a test that has failed

Each change drops a barrier, a fence, a wait or a guard, weakens an order, swaps < and <=, shifts an index or a lane, or \
changes a constant, in the PTX alone. Tests that execute it are run on the emulator with all checks. One that fails has killed the \
mutant; survivors are listed by line. Synchronization that no launch can need is named as superfluous.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Stop after this many seconds; the same command goes on from there
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(1..=10_000_000))]
    stop_after: Option<u64>,

    /// Changes to make, a list: synchronization, order, guard, comparison, index, shuffle, constant, arithmetic [default: all]
    #[arg(long, value_name = "CHANGES", value_delimiter = ',', value_parser = operator)]
    changes: Vec<Operator>,

    /// Kernels and functions to change, a list of names or parts of them [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    functions: Vec<String>,

    /// Also change functions of libraries, orders that ptx-std has chosen, and guards, comparisons, constants and arithmetic of library code
    /// that was inlined
    #[arg(long)]
    libraries: bool,

    /// Make each change of a line in one alone of the functions made from it, such as instances of a generic one: that with the
    /// quickest tests
    #[arg(long)]
    one_instance: bool,

    /// Seeds that changes of synchronization and orders are tried under, besides in order
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,

    #[command(flatten)]
    severity: severity::Arguments,

    /// Exit with status 1 if a smaller share of the mutants was killed than this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0, value_parser = percentage())]
    fail_under: f64,

    /// File with survivors that no test need notice, each with its reason
    #[arg(long, value_name = "FILE")]
    accept: Option<PathBuf>,

    /// File with the answers so far, which are not asked for again
    #[arg(long, value_name = "FILE", default_value = "ridgepoint-mutants.jsonl")]
    journal: PathBuf,

    #[command(flatten)]
    printed: row_format::Arguments,

    /// A program and its arguments; after `--`, arguments of `cargo test`
    #[arg(value_name = "PROGRAM", trailing_var_arg = true)]
    program: Vec<String>,
}

fn operator(text: &str) -> Result<Operator, String> {
    let mut all = Operator::ALL.iter();
    let known = all.find(|it| it.name() == text).copied();
    known.ok_or_else(|| {
        let names: Vec<&str> = Operator::ALL.iter().map(|it| it.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn percentage() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    let expected = "a percentage from 0 to 100, such as 80";
    real(expected, |it| (0.0..=100.0).contains(&it))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    let interrupt = Interrupt::watch();
    let console = arguments.printed.console(0);
    let accepted = arguments.accept.as_deref().map(Accepted::read);
    let mut accepted = accepted.transpose().map_err(Failure::failed)?;
    let suite = Suite {
        is_strict: arguments.severity.strict,
        ..Suite::of(&arguments.program)?
    };
    let journal = Journal::open(&arguments.journal, suite.digest(arguments.seeds));
    let mut journal = journal.map_err(Failure::failed)?;

    let until = arguments
        .stop_after
        .map(|it| begun + Duration::from_secs(it));
    let baseline = Baseline::run(&suite, (arguments.seeds, until), &interrupt, &console)?;
    let tests = counted(baseline.reaching() as u64, "test");
    let listed = arguments.list(&baseline, &journal)?;
    let mutants = counted(listed.candidates.len() as u64, "mutant");
    console.say(&format!("Trying {mutants} on {tests}."));

    let mut report = Report::new(listed.superfluous, listed.equivalent);
    listed
        .unreached
        .into_iter()
        .for_each(|it| report.add_unreached(it));
    let trials = trials::Trials {
        suite: &suite,
        baseline: &baseline,
        seeds: arguments.seeds,
        until,
        interrupt: &interrupt,
        console: &console,
    };
    trials.run(listed.candidates, &mut journal, &mut report)?;

    if let Some(accepted) = &mut accepted {
        report.accept(accepted);
    }
    let rows = report.rows();
    arguments
        .printed
        .show(&rows, &console, |width| report.text(width))?;
    interrupt.check()?;
    let below = arguments.below(&report)?;
    let tells_stale = arguments.asks_for_all() && report.untried() == 0;
    let stale = accepted.as_ref().filter(|_| tells_stale).and_then(stale);
    let found: Vec<String> = [below, stale].into_iter().flatten().collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found(found.join("\n"))),
    }
}

/// Returns the accepted mutants of which none has survived, if there are any: they were killed, or are there no longer.
fn stale(accepted: &Accepted) -> Option<String> {
    let stale: String = accepted.stale().map(|it| format!("\n  {it}")).collect();
    (!stale.is_empty()).then(|| {
        format!("no mutant of these lines of --accept survives any more: remove them{stale}")
    })
}

/// The mutants of all modules that tests have loaded.
#[derive(Default)]
struct Listed {
    candidates: Vec<Candidate>,
    unreached: Vec<Mutant>,
    superfluous: Vec<Superfluous>,
    equivalent: usize,
}

impl Arguments {
    fn list(&self, baseline: &Baseline, journal: &Journal) -> Result<Listed, Failure> {
        let mut listed = Listed::default();
        // One function may be in several modules, each with tests of its own.
        let mut alike: BTreeMap<u64, Vec<Mutant>> = BTreeMap::new();
        let mut firsts = Vec::new();
        let mut named = BTreeSet::new();
        for text in baseline.modules() {
            let mutants = Mutants::of(text).map_err(Failure::failed)?;
            listed.equivalent += mutants.equivalent;
            for it in mutants.superfluous {
                let is_wanted = self.changes(Operator::Synchronization, &it.place);
                if is_wanted && baseline.is_launched(&it.place) && named.insert(it.key) {
                    listed.superfluous.push(it);
                }
            }
            for it in mutants.all {
                if self.changes(it.operator, &it.place) && baseline.is_launched(&it.place) {
                    let known = alike.entry(it.key).or_default();
                    if known.is_empty() {
                        firsts.push(it.clone());
                    }
                    known.push(it);
                }
            }
        }
        let all = in_turns(firsts).into_iter().filter_map(|first| {
            let all = alike.remove(&first.key)?;
            Some(Candidate { all })
        });
        let mut all: Vec<Candidate> = all.collect();
        if self.one_instance {
            all = instances::one_of_each(all, baseline, journal);
        }
        for candidate in all {
            match candidate.all.iter().any(|it| baseline.reaches(&it.place)) {
                true => listed.candidates.push(candidate),
                false => listed.unreached.push(candidate.first().clone()),
            }
        }
        if listed.candidates.is_empty() && listed.unreached.is_empty() {
            return Err(Failure::Failed(
                "nothing to change: no kernel that tests launch has a change of these; libraries are changed with --libraries".to_owned(),
            ));
        }
        Ok(listed)
    }

    /// Whether no change is left out that can be made without `--libraries`.
    fn asks_for_all(&self) -> bool {
        self.changes.is_empty() && self.functions.is_empty() && !self.one_instance
    }

    /// Whether such a change of a place is asked for.
    fn changes(&self, operator: Operator, place: &Place) -> bool {
        let is_named = |name: &String| place.function.contains(name);
        (self.changes.is_empty() || self.changes.contains(&operator))
            && (self.functions.is_empty() || self.functions.iter().any(is_named))
            && (self.libraries
                || !place.is_in_library && (place.inlined.is_none() || operator.is_of_memory()))
    }

    /// Returns how far the score is below what was asked for, if it is.
    ///
    /// # Errors
    /// No mutant was tried.
    fn below(&self, report: &Report) -> Result<Option<String>, Failure> {
        let (score, left) = (report.score(), report.untried());
        if score.all == 0 {
            return Err(Failure::Failed(match left {
                0 => "no mutant was tried: tests execute none of what can be changed, or load other PTX each time"
                    .to_owned(),
                left => format!("no mutant was tried in the time; {left} are left"),
            }));
        }
        if left > 0 {
            let left = counted(left as u64, "mutant");
            let journal = self.journal.display();
            streams::complain(&format!(
                "{left} not tried: the same command goes on with {journal}"
            ));
        }
        let survivors = counted(report.survivors() as u64, "mutant");
        Ok((score.percent() < self.fail_under).then(|| {
            format!(
                "{survivors} survived: {} % were killed, and --fail-under asks for {} %",
                score.text(),
                self.fail_under
            )
        }))
    }
}
