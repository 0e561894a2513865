//! `ridgepoint check`: of the embedded kernels, of workloads, or of a project.
//!
//! Each ends with a [`Failure`] or without one, of which [`super::failure::status`] makes the exit status: for the
//! embedded kernels `embedded::check` decides, by its findings; for a project and for workloads, which run in
//! processes of their own, [`Checked::verdict`], by how these ended and what they launched.

mod checked;
mod embedded;
pub(super) mod project;
mod workloads;

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::process::{Command, ExitStatus};

use checked::{Checked, Outcome};
use clap::Args;

use super::console::Target;
use super::interrupt::Interrupt;
use super::option_values::whole;
use super::suite::Workloads;
use super::workload_commands::Program;
use super::{Failure, coverage, limits, row_format, severity, streams};
use crate::driver::record::{self, Record};

const HELP: &str = "\
What is checked:
  ridgepoint check
      the kernels embedded in ridgepoint, at many sizes
  ridgepoint check --
      this folder's project: the kernels that its tests launch
  ridgepoint check --workload copy
      this workload, at the points of its axes
  cargo bench -- check
      all workloads of the bench target

Findings and the command that replays each are printed; a summary says what was checked.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Also run under N seeds; each is a different order of blocks, warps and lanes [default: 16;
    /// workloads: 4]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=10_000))]
    seeds: Option<u64>,

    #[command(flatten)]
    workloads: Workloads,

    #[command(flatten)]
    severity: severity::Arguments,

    #[command(flatten)]
    limits: limits::Arguments,

    #[command(flatten)]
    coverage: coverage::Arguments,

    #[command(flatten)]
    printed: row_format::Arguments,

    /// Run this cargo command, such as `run` or `bench`, instead of `test --tests`
    #[arg(long, value_name = "COMMAND", conflicts_with = "workloads")]
    cargo: Option<String>,
    /// Check the project in this folder, and pass these arguments to cargo
    #[arg(last = true, id = "project", value_name = "ARGUMENTS", num_args = 0.., conflicts_with = "workloads")]
    project: Option<Vec<String>>,
}

/// How kernels are checked.
#[derive(Clone, Copy)]
struct How<'a> {
    seeds: u64,
    severity: &'a severity::Arguments,
    limits: &'a limits::Arguments,
    coverage: &'a coverage::Arguments,
    printed: &'a row_format::Arguments,
}

/// Seeds of a case of the embedded kernels or of a project.
const SEEDS: u64 = 16;
/// Seeds of a workload's points, which are as large as those that are measured.
const SEEDS_OF_POINTS: u64 = 4;

pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    let how = |seeds| How {
        seeds: arguments.seeds.unwrap_or(seeds),
        severity: &arguments.severity,
        limits: &arguments.limits,
        coverage: &arguments.coverage,
        printed: &arguments.printed,
    };
    if let Some(project) = arguments.project(env::args_os()) {
        let command = arguments.cargo.as_deref();
        return project::check(command, project, how(SEEDS));
    }
    match program {
        Program::Ridgepoint if arguments.workloads.is_default() => embedded::check(how(SEEDS)),
        _ => workloads::check(&arguments.workloads, program, how(SEEDS_OF_POINTS)),
    }
}

impl Arguments {
    /// Returns the arguments of cargo's command, where a project is to be checked. The words of the command line say
    /// whether `--` is there: for nothing behind it clap has the value that it has without it.
    fn project(&self, mut words: impl Iterator<Item = OsString>) -> Option<&[String]> {
        match &self.project {
            Some(project) => Some(project),
            None => (self.cargo.is_some() || words.any(|word| word == "--")).then_some(&[]),
        }
    }
}

/// A program whose launches on the emulator are checked.
struct Observed<'a> {
    program: Command,
    /// The command line that a finding is repeated with.
    replay: String,
    how: How<'a>,
}

impl Observed<'_> {
    /// Runs it, and says what was looked at. What it writes itself is not for programs, and of `--quiet` only
    /// where it fails.
    fn run(mut self) -> Result<(), Failure> {
        let covering = self.how.coverage.open()?;
        if let Some(covering) = &covering {
            covering.watch(&mut self.program);
        }
        let records = tempfile::tempdir().map_err(Failure::failed)?;
        self.program
            .env("RIDGEPOINT_SEEDS", self.how.seeds.to_string())
            .env(record::MAX_STEPS, self.how.limits.max_steps.to_string())
            .env(record::TIME_LIMIT, self.how.limits.time_limit.to_string())
            .env(
                record::STRICT,
                u8::from(self.how.severity.strict).to_string(),
            )
            .env(record::FOLDER, records.path())
            .env(record::REPLAY, &self.replay);
        let said = self.redirect().map_err(Failure::failed)?;
        let outcome = match status(self.program)?.success() {
            true => Outcome::Passed,
            false => Outcome::Failed,
        };
        if let (Outcome::Failed, Some(mut said)) = (outcome, said) {
            said.rewind().map_err(Failure::failed)?;
            streams::hand_on(&mut said);
        }
        let records = Record::all_in(records.path()).map_err(Failure::failed)?;
        let checked = Checked::new(records, outcome);
        let console = self.how.printed.console(0);
        self.how.printed.show(&checked.rows(), &console, |_| {
            checked.to_string().trim_end().to_owned()
        })?;
        let covered = covering.map_or(Ok(()), |it| it.finish(|text| console.say(text)));
        checked.verdict().and(covered)
    }

    /// Where the program's own text goes, if that is a file.
    fn redirect(&mut self) -> io::Result<Option<File>> {
        match self.how.printed.target() {
            Target::Stdout => Ok(None),
            Target::Stderr => {
                self.program.stdout(streams::errors_of_child()?);
                Ok(None)
            }
            Target::Nothing => {
                let said = tempfile::tempfile()?;
                self.program
                    .stdout(said.try_clone()?)
                    .stderr(said.try_clone()?);
                Ok(Some(said))
            }
        }
    }
}

fn status(mut program: Command) -> Result<ExitStatus, Failure> {
    let interrupt = Interrupt::watch();
    let status =
        Interrupt::start(&mut program).and_then(|mut started| interrupt.wait(&mut started));
    interrupt.check()?;
    let name = program.get_program().display();
    status.map_err(|error| Failure::Failed(format!("cannot run {name}: {error}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Check {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn two_dashes_or_a_command_of_cargos_mean_the_project() {
        let cases: [(&[&str], Option<&[&str]>); 7] = [
            (&[], None),
            (&["--seeds", "3"], None),
            (&["--"], Some(&[])),
            (&["--seeds", "3", "--"], Some(&[])),
            (&["--cargo", "run", "--"], Some(&[])),
            (&["--cargo", "run"], Some(&[])),
            (
                &["--", "-p", "demo", "--", "x"],
                Some(&["-p", "demo", "--", "x"]),
            ),
        ];
        for (words, expected) in cases {
            let words = ["check"].iter().chain(words).map(OsString::from);
            let parsed = Check::try_parse_from(words.clone());
            let arguments = parsed.unwrap_or_else(|error| panic!("{error}")).arguments;
            let project = arguments.project(words.clone());
            let expected: Option<Vec<String>> =
                expected.map(|words| words.iter().map(|&word| word.to_owned()).collect());
            assert_eq!(
                project,
                expected.as_deref(),
                "{:?}",
                words.collect::<Vec<_>>()
            );
        }
    }
}
