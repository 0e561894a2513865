//! The tests without a change: which pass, how long they take, and what of which kernels they execute.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Conditions, Ended};
use super::suite::{Suite, Test};
use crate::cli::Failure;
use crate::cli::console::Console;
use crate::cli::interrupt::Interrupt;
use crate::driver::cores;
use crate::driver::coverage::{Coverage, PTX};
use crate::mutation::Place;
use crate::report::counted;

/// The longest that a test may take without a change.
const PATIENCE: Duration = Duration::from_secs(3600);
/// More steps than any warp of a test goes through.
const MAX_STEPS: u64 = 1 << 40;
/// The end of what a test that fails has said.
const MAX_TEXT: usize = 2000;

/// The tests that execute kernels, the quickest first.
pub(super) struct Baseline {
    runs: Vec<Run>,
    modules: BTreeMap<u64, String>,
    /// The functions of each module that are a launched kernel's.
    launched: HashSet<(u64, String)>,
}

/// A test that has passed.
pub(super) struct Run {
    /// Its place in the suite.
    pub(super) test: usize,
    pub(super) took: Duration,
    /// Lines of modules that it executes.
    lines: HashSet<(u64, u32)>,
    /// How often threads have executed the line that they executed most often.
    pub(super) most: u64,
    /// The kernels of which launches fail without a change, too, which the test expects.
    pub(super) failing: BTreeSet<String>,
}

impl Baseline {
    /// Runs each test once.
    ///
    /// # Errors
    /// A test fails, or not all have passed in the time.
    pub(super) fn run(
        suite: &Suite,
        (seeds, until): (u64, Option<Instant>),
        interrupt: &Interrupt,
        console: &Console,
    ) -> Result<Baseline, Failure> {
        let count = suite.tests.len();
        console.expect(count as u64);
        console.begin(format!(
            "without a change: {}",
            counted(count as u64, "test")
        ));
        let (next, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let baseline = Mutex::new(Baseline {
            runs: Vec::new(),
            modules: BTreeMap::new(),
            launched: HashSet::new(),
        });
        let work = || -> Result<(), Failure> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = suite.tests.get(index) else {
                    return Ok(());
                };
                let ran = run(suite, test, (seeds, until), interrupt);
                if !matches!(ran, Ok(Some(_))) {
                    next.store(count, Ordering::Relaxed);
                }
                let Some(passed_test) = ran? else {
                    let passed = passed.load(Ordering::Relaxed);
                    return Err(Failure::Failed(format!(
                        "the time of --stop-after was over before {} had passed without a change ({passed} of {count} had): \
                         no mutant was tried; give it more time",
                        test.name
                    )));
                };
                passed.fetch_add(1, Ordering::Relaxed);
                baseline
                    .lock()
                    .expect("no thread has panicked")
                    .add(index, passed_test);
                console.step();
            }
        };
        let mut failed: Vec<Failure> = thread::scope(|scope| {
            let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(work)).collect();
            let ended = threads.into_iter();
            ended
                .filter_map(|it| it.join().expect("it does not panic").err())
                .collect()
        });
        // That a test fails says more than that the time was over.
        failed.sort_by_key(|it| !matches!(it, Failure::Found(_)));
        if let Some(first) = failed.into_iter().next() {
            return Err(first);
        }
        let mut baseline = baseline.into_inner().expect("no thread has panicked");
        baseline.runs.sort_by_key(|it| it.took);
        match baseline.runs.is_empty() {
            true => Err(Failure::Failed(
                "nothing to change: no test has launched a kernel as PTX on the emulator"
                    .to_owned(),
            )),
            false => Ok(baseline),
        }
    }

    fn add(&mut self, test: usize, passed: Passed) {
        let executed = passed.executed;
        if executed.lines.is_empty() {
            return;
        }
        self.runs.push(Run {
            test,
            took: passed.took,
            lines: executed.lines,
            most: executed.most,
            failing: passed.failing,
        });
        self.modules.extend(executed.modules);
        self.launched.extend(executed.launched);
    }

    /// The texts of the modules that tests have loaded.
    pub(super) fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.values().map(String::as_str)
    }

    /// How many tests execute kernels.
    pub(super) fn reaching(&self) -> usize {
        self.runs.len()
    }

    /// Whether a launched kernel has the function of a place.
    pub(super) fn is_launched(&self, place: &Place) -> bool {
        self.launched
            .contains(&(place.module, place.function.clone()))
    }

    /// Whether a test executes a place.
    pub(super) fn reaches(&self, place: &Place) -> bool {
        self.of_place(place).next().is_some()
    }

    /// The tests that execute a place, the quickest first.
    pub(super) fn of_place(&self, place: &Place) -> impl Iterator<Item = &Run> {
        let line = (place.module, place.ptx_line);
        self.runs.iter().filter(move |it| it.lines.contains(&line))
    }
}

/// A test that passes without a change.
struct Passed {
    took: Duration,
    executed: Executed,
    /// Kernels of which a launch has failed.
    failing: BTreeSet<String>,
}

/// Runs a test. None where the time has ended meanwhile.
fn run(
    suite: &Suite,
    test: &Test,
    (seeds, until): (u64, Option<Instant>),
    interrupt: &Interrupt,
) -> Result<Option<Passed>, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    let mut output = tempfile::tempfile().map_err(Failure::failed)?;
    let conditions = Conditions {
        seeds,
        max_steps: MAX_STEPS,
        patience: PATIENCE,
        until,
        change: None,
        coverage: Some(folder.path()),
        output: Some(&output),
    };
    let begun = Instant::now();
    let name = &test.name;
    let ended = test
        .run(suite, &conditions, interrupt)
        .map_err(|error| Failure::Failed(format!("cannot run {name}: {error}")))?;
    let took = begun.elapsed();
    let failing = match ended {
        Ended::Passed => BTreeSet::new(),
        Ended::PassedWithFailures(kernels) => kernels,
        Ended::Interrupted => {
            interrupt.check()?;
            return Ok(None);
        }
        Ended::Failed(by) => {
            let mut said = String::new();
            let read = output
                .rewind()
                .and_then(|()| output.read_to_string(&mut said));
            read.map_err(Failure::failed)?;
            let end = said.ceil_char_boundary(said.len().saturating_sub(MAX_TEXT));
            return Err(Failure::Found(format!(
                "without a change {name} fails, by {by}:\n{}",
                said[end..].trim()
            )));
        }
    };
    let executed = Executed::read(folder.path()).map_err(Failure::failed)?;
    Ok(Some(Passed {
        took,
        executed,
        failing,
    }))
}

/// The code that the processes of a test have executed.
#[derive(Default)]
struct Executed {
    modules: BTreeMap<u64, String>,
    lines: HashSet<(u64, u32)>,
    launched: HashSet<(u64, String)>,
    most: u64,
}

impl Executed {
    fn read(folder: &Path) -> io::Result<Executed> {
        let mut executed = Executed::default();
        let coverage = Coverage::all_in(folder)?;
        let launched = coverage.kernels.values().filter(|it| it.launches > 0);
        let mut names = BTreeSet::new();
        for (name, file) in launched.flat_map(|it| &it.files) {
            let Some(module) = module_of(name) else {
                continue;
            };
            names.insert((module, name));
            let functions = file.functions.keys();
            executed
                .launched
                .extend(functions.map(|it| (module, it.clone())));
            let reached = file.lines.iter().filter(|(_, times)| **times > 0);
            for (line, times) in reached {
                executed.lines.insert((module, *line));
                executed.most = executed.most.max(*times);
            }
            for (id, branch) in &file.branches {
                if branch.outcomes.iter().any(|it| *it > 0) {
                    executed.lines.insert((module, id.ptx_line));
                }
            }
        }
        for (module, name) in names {
            let text = fs::read_to_string(folder.join(name))?;
            executed.modules.insert(module, text);
        }
        Ok(executed)
    }
}

/// The digest of a module by the name of the file with its text.
fn module_of(name: &str) -> Option<u64> {
    u64::from_str_radix(name.strip_suffix(PTX)?, 16).ok()
}

impl Run {
    /// Steps of a warp that a change may let it take: far more than all threads together have taken.
    pub(super) fn max_steps(&self) -> u64 {
        10 * self.most + 10_000
    }

    /// How long it may take with a change.
    pub(super) fn patience(&self) -> Duration {
        20 * self.took + Duration::from_secs(30)
    }
}
