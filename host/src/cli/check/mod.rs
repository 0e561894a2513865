//! `ridgepoint check`, and `cargo bench -- check`.
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
use super::{Failure, streams};
use crate::driver::record::{self, Record};
pub(super) use workloads::{Arguments as WorkloadArguments, check as workloads};

const HELP: &str = "\
`ridgepoint check --` checks the project in this folder: it runs `cargo test --tests`, checks every memory
access of the kernels that the tests launch on the emulator, and ends with a summary. It builds only what
`cargo test` builds.

Without `--` it checks the kernels embedded in ridgepoint. That needs neither cargo nor a source tree.";

/// Run a project's tests, or the embedded kernels, on the emulator with every access checked.
#[derive(Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Also run each case under N seeds; each is a different order of blocks, warps and lanes
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,
    /// Run this cargo command, such as `run` or `bench`, instead of `test --tests`
    #[arg(long, value_name = "COMMAND")]
    cargo: Option<String>,
    /// Check the project in this folder, and pass these arguments to cargo
    #[arg(last = true, id = "project", value_name = "ARGUMENTS", num_args = 0..)]
    project: Option<Vec<String>>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.project(env::args_os()) {
        Some(project) => project::check(arguments.cargo.as_deref(), project, arguments.seeds),
        None => embedded::check(arguments.seeds),
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
