//! A test as a process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use emulated_driver::report::{Found, Record as DriverRecord};
use emulated_driver::settings;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::suite::{Suite, Test};
use crate::cli::interrupt::Interrupt;
use crate::driver::coverage;
use crate::driver::record::{self, Record};
use crate::mutation::{self, Killer};

/// How a test is run.
pub(super) struct Conditions<'a> {
    /// Seeds of each launch, besides in order.
    pub(super) seeds: u64,
    /// Steps of a warp of a launch.
    pub(super) max_steps: u64,
    /// When it is killed.
    pub(super) patience: Duration,
    /// When it is ended without an answer.
    pub(super) until: Option<Instant>,
    /// The file with a change to make.
    pub(super) change: Option<&'a Path>,
    /// The folder for what it executes.
    pub(super) coverage: Option<&'a Path>,
    /// Where its text goes, if somebody wants it.
    pub(super) output: Option<&'a File>,
}

/// How a test has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    /// The test passes although launches of these kernels have failed, as those do that panic.
    PassedWithFailures(BTreeSet<String>),
    Failed(Killer),
    /// A signal has asked the command to end, or its time is over.
    Interrupted,
}

impl Test {
    /// Runs it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn run(
        &self,
        suite: &Suite,
        conditions: &Conditions<'_>,
        interrupt: &Interrupt,
    ) -> io::Result<Ended> {
        let records = Records::new()?;
        let mut command = self.command();
        let seconds = conditions.patience.as_secs().max(1);
        command
            .env(record::FOLDER, records.of_tests())
            .env("RIDGEPOINT_SEEDS", conditions.seeds.to_string())
            .env(record::STRICT, u8::from(suite.is_strict).to_string())
            .env(record::MAX_STEPS, conditions.max_steps.to_string())
            .env(record::TIME_LIMIT, seconds.to_string());
        if let Some(driver) = &suite.driver {
            driver.lend_to(&mut command);
            command
                .env(settings::RECORD, records.of_driver())
                .env(settings::FINDINGS, records.findings())
                .env(settings::CHECKS, "on")
                .env(settings::STRICT, if suite.is_strict { "on" } else { "off" })
                .env(settings::ON_FINDING, "error")
                .env(settings::SEEDS, conditions.seeds.to_string())
                .env(settings::STEPS, conditions.max_steps.to_string())
                .env(settings::TIME_LIMIT, seconds.to_string());
        }
        if let Some(change) = conditions.change {
            command.env(mutation::FILE, change);
        }
        if let Some(folder) = conditions.coverage {
            command
                .env(coverage::FOLDER, folder)
                .env(coverage::LINES, "ptx");
        }
        match conditions.output {
            Some(file) => command.stdout(file.try_clone()?).stderr(file.try_clone()?),
            None => command.stdout(Stdio::null()).stderr(Stdio::null()),
        };
        let mut child = Interrupt::start(&mut command)?;
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let is_over = conditions.until.is_some_and(|until| Instant::now() > until);
            if is_over || interrupt.flow().is_break() {
                end(&mut child)?;
                return Ok(Ended::Interrupted);
            }
            if begun.elapsed() > conditions.patience {
                end(&mut child)?;
                return Ok(Ended::Failed(Killer::Limit));
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        };
        Ok(match (records.killer(), status.success()) {
            (Some(Killer::Launch), true) => Ended::PassedWithFailures(records.failed()),
            (Some(killer), _) => Ended::Failed(killer),
            (None, false) => Ended::Failed(Killer::Test),
            (None, true) => Ended::Passed,
        })
    }
}

/// Ends a test and what it has started.
fn end(child: &mut Child) -> io::Result<()> {
    // It may have ended just now.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    child.wait().map(|_| ())
}

/// Where the processes of a test leave what the checks have found.
struct Records(TempDir);

impl Records {
    fn new() -> io::Result<Records> {
        let records = Records(tempfile::tempdir()?);
        fs::create_dir(records.of_tests())?;
        fs::create_dir(records.of_driver())?;
        Ok(records)
    }

    fn of_tests(&self) -> PathBuf {
        self.0.path().join("tests")
    }

    fn of_driver(&self) -> PathBuf {
        self.0.path().join("driver")
    }

    fn findings(&self) -> PathBuf {
        self.0.path().join("findings")
    }

    /// The kernels of which a launch has failed.
    fn failed(&self) -> BTreeSet<String> {
        let records = Record::all_in(&self.of_tests()).unwrap_or_default();
        let of_tests = records.into_iter().flat_map(|it| it.kernels);
        let of_tests = of_tests
            .filter(|(_, it)| it.failed > 0)
            .map(|(name, _)| name);
        let of_driver = files(&self.of_driver())
            .filter_map(|it| serde_json::from_slice::<DriverRecord>(&it).ok())
            .flat_map(|it| it.kernels)
            .filter(|(_, it)| it.failed > 0);
        of_tests.chain(of_driver.map(|(name, _)| name)).collect()
    }

    /// The reason for which launches have failed. A file that a killed process has half written says nothing.
    fn killer(&self) -> Option<Killer> {
        let records = Record::all_in(&self.of_tests()).unwrap_or_default();
        let launches = || records.iter().flat_map(|it| it.kernels.values());
        let kind = launches().flat_map(|it| it.kinds.keys().cloned()).next();
        let found = files(&self.findings()).filter_map(|it| serde_json::from_slice(&it).ok());
        let found: Vec<Found> = found.filter(|it: &Found| !it.is_benign()).collect();
        let by_check = || found.iter().find(|it| !it.is_failure());
        let kind = kind.or_else(|| by_check().map(|it| it.kind.clone()));
        let mut of_driver =
            files(&self.of_driver()).filter_map(|it| serde_json::from_slice(&it).ok());
        let fails =
            |it: DriverRecord| it.of_host > 0 || it.kernels.values().any(|it| it.failed > 0);
        let has_failed =
            !found.is_empty() || launches().any(|it| it.failed > 0) || of_driver.any(fails);
        kind.map(Killer::Check)
            .or(has_failed.then_some(Killer::Launch))
    }
}

/// The files of a folder, which need not be there.
fn files(folder: &Path) -> impl Iterator<Item = Vec<u8>> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|it| fs::read(it.path()).ok())
}
