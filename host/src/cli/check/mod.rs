//! `ridgepoint check`, and `cargo bench -- check`.

mod checked;
mod compiler;
mod embedded;
mod project;
mod workloads;

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};

use clap::Args;

use super::Failure;
use super::interrupt::Interrupt;
use super::lists::whole;
pub(super) use compiler::compile;
pub(super) use workloads::{Arguments as WorkloadArguments, check as workloads};

const HELP: &str = "\
`ridgepoint check --` checks the project in this folder: it runs `cargo test --tests` in a build of its
own, in which every memory access of a kernel is checked, and ends with a summary of what was checked.

Without `--` it checks the kernels that ridgepoint carries, which takes cargo and the source tree that
this command was built from.

The build lies in the folder `check` of cargo's target folder; the first one takes minutes.";

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
    /// Check the project in this folder; what follows is given to cargo's command
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

/// Cargo, with a compiler that instruments kernels, and a target folder for what that makes.
fn instrumented_cargo(target: &Path) -> Result<Command, Failure> {
    let own = env::current_exe().map_err(Failure::failed)?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .env("RUSTC_WRAPPER", own)
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env(compiler::WRAPS_RUSTC, "1")
        .env("CARGO_TARGET_DIR", target);
    Ok(cargo)
}

fn status(mut cargo: Command) -> Result<ExitStatus, Failure> {
    let interrupt = Interrupt::watch()?;
    let status = Interrupt::start(&mut cargo).and_then(|mut cargo| interrupt.wait(&mut cargo));
    interrupt.check()?;
    status.map_err(|error| Failure::Failed(format!("cannot run cargo: {error}")))
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
