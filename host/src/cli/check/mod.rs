//! `ridgepoint check`: of the embedded kernels, of workloads, or of a project.
//!
//! Each ends with a [`Failure`] or without one, of which [`super::failure::status`] makes the exit status: for the
//! embedded kernels `embedded::check` decides, by its findings; for a project and for workloads, which run in
//! processes of their own, [`Checked::verdict`], by how these ended and what they launched.

mod checked;
mod embedded;
mod project;
mod workloads;

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitStatus};

use checked::Checked;
use clap::Args;

use super::interrupt::Interrupt;
use super::lists::whole;
use super::shared::Program;
use super::suite::Workloads;
use super::{Failure, streams};
use crate::driver::record::{self, Record};

const HELP: &str = "\
`ridgepoint check --` checks the project in this folder: it runs `cargo test --tests`, checks every memory
access of the kernels that the tests launch on the emulator, and ends with a summary. It builds only what
`cargo test` builds.

With `--workload` or `--axis` it checks these workloads at these points. Without any of them, `ridgepoint check`
checks the kernels embedded in ridgepoint at many sizes, which needs neither cargo nor a source tree, and
`cargo bench -- check` all workloads of the bench target.";

/// Run kernels on the emulator with every access checked: the embedded ones, workloads, or a project's tests.
#[derive(Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Also run each case under N seeds; each is a different order of blocks, warps and lanes [default: 16;
    /// workloads: 4]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=10_000))]
    seeds: Option<u64>,

    #[command(flatten)]
    workloads: Workloads,
    /// Run this cargo command, such as `run` or `bench`, instead of `test --tests`
    #[arg(long, value_name = "COMMAND", conflicts_with = "workloads")]
    cargo: Option<String>,
    /// Check the project in this folder, and pass these arguments to cargo
    #[arg(last = true, id = "project", value_name = "ARGUMENTS", num_args = 0.., conflicts_with = "workloads")]
    project: Option<Vec<String>>,
}

/// Seeds of a case of the embedded kernels or of a project.
const SEEDS: u64 = 16;
/// Seeds of a workload's points, which are as large as those that are measured.
const SEEDS_OF_POINTS: u64 = 4;

pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    let seeds = arguments.seeds.unwrap_or(SEEDS);
    if let Some(project) = arguments.project(env::args_os()) {
        return project::check(arguments.cargo.as_deref(), project, seeds);
    }
    match program {
        Program::Ridgepoint if arguments.workloads.is_default() => embedded::check(seeds),
        _ => {
            let seeds = arguments.seeds.unwrap_or(SEEDS_OF_POINTS);
            workloads::check(&arguments.workloads, seeds, program)
        }
    }
}

impl Arguments {
    /// What cargo's command is given, where a project is to be checked. The words of the command line say
    /// whether `--` is there: for nothing behind it clap has the value that it has without it.
    fn project(&self, mut words: impl Iterator<Item = OsString>) -> Option<&[String]> {
        match &self.project {
            Some(project) => Some(project),
            None => (self.cargo.is_some() || words.any(|word| word == "--")).then_some(&[]),
        }
    }
}

/// A program whose launches on the emulator are checked.
struct Observed {
    program: Command,
    /// The command line that a finding is repeated with.
    replay: String,
    seeds: u64,
}

impl Observed {
    /// Runs it, and says what was looked at.
    fn run(mut self) -> Result<(), Failure> {
        let records = tempfile::tempdir().map_err(Failure::failed)?;
        self.program
            .env("RIDGEPOINT_SEEDS", self.seeds.to_string())
            .env(record::FOLDER, records.path())
            .env(record::REPLAY, self.replay);
        let has_passed = status(self.program)?.success();
        let records = Record::all_in(records.path()).map_err(Failure::failed)?;
        let checked = Checked::new(records);
        streams::print(checked.to_string().as_bytes());
        checked.verdict(has_passed)
    }
}

fn status(mut program: Command) -> Result<ExitStatus, Failure> {
    let interrupt = Interrupt::watch()?;
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
