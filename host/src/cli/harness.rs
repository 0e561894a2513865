//! `cargo bench` as a command line: a user's workloads under the commands that Ridgepoint's own have.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use super::colours;
use super::explain;
use super::failure::{self, Failure, STATUSES};
use super::suite::{COMMON, Suite};
use super::workload_commands::{Command, Program};
use super::workload_tests;
use crate::driver::Embedded;
use crate::table::is_outcome;
use crate::workload::{Axis, Workload};

/// Where a bench target is, as cargo knows it when it is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// `CARGO_PKG_NAME`
    pub package: &'static str,
    /// `CARGO_CRATE_NAME`
    pub name: &'static str,
    /// `CARGO_MANIFEST_DIR`
    pub folder: &'static str,
}

/// Measure kernels written in Rust, and learn what limits them.
#[derive(Parser)]
#[command(
    name = "cargo bench --",
    bin_name = "cargo bench --",
    version = super::version(),
    long_version = super::long_version(Suite::get().ptx),
    after_help = STATUSES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    _colours: colours::Arguments,
}

/// Its commands and options.
#[cfg(test)]
pub(super) fn command() -> clap::Command {
    super::command::<Cli>()
}

/// Runs the commands over these workloads, for `ridgepoint::main!`.
pub fn bench(
    target: Target,
    ptx: &'static [Embedded<'static>],
    workloads: Vec<&'static dyn Workload>,
) -> ExitCode {
    enter_measured_package();
    if let Err(reason) = refuse_same_names(&workloads).and_then(|()| check_axes(&workloads)) {
        return failure::status(Err(Failure::Usage(reason)));
    }
    Suite::set(Suite::of(ptx, workloads));
    let Some(words) = words(env::args_os()) else {
        return match super::begin() {
            Ok(()) => workload_tests::run(),
            failed => failure::status(failed),
        };
    };
    match super::parsed::<Cli>(words) {
        Ok(cli) => {
            let command = || cli.command.run(Program::Bench(target));
            failure::status(super::begin().and_then(|()| command()))
        }
        Err(refused) => explain(&refused),
    }
}

/// Goes to the folder of the package that is measured, where `benches` in it is a package of its own: cargo starts a bench
/// in the folder of the bench's package, and files that are named on the command line lie where their author is.
fn enter_measured_package() {
    let Some(package) = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return;
    };
    let is_there = env::current_dir().is_ok_and(|here| here == package);
    let measured = package.parent().filter(|_| package.ends_with("benches"));
    if let Some(measured) = measured
        && is_there
        && measured.join("Cargo.toml").is_file()
    {
        // Where this fails the files lie in `benches`.
        let _ = env::set_current_dir(measured);
    }
}

/// A name is how a workload is chosen, and what its rows are told apart by.
fn refuse_same_names(workloads: &[&dyn Workload]) -> Result<(), String> {
    let mut names: Vec<&str> = workloads.iter().map(|workload| workload.name()).collect();
    names.sort_unstable();
    if let Some(odd) = names
        .iter()
        .find(|name| name.is_empty() || name.contains(','))
    {
        return Err(format!(
            "a workload is called {odd:?}: no list of names could contain it; choose a name without commas"
        ));
    }
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!(
            "two workloads are called {}: rename one of them",
            pair[0]
        )),
        None if names.contains(&"all") => {
            Err("a workload is called all, which stands for every workload: rename it".to_owned())
        }
        None => Ok(()),
    }
}

/// Each axis takes its own values, and has its name once.
fn check_axes(workloads: &[&dyn Workload]) -> Result<(), String> {
    for workload in workloads {
        let axes = workload.axes();
        for (index, axis) in axes.iter().enumerate() {
            let checked = axis.check().and_then(|()| {
                let is_same = |other: &Axis| other.name() == axis.name();
                let name = axis.name();
                let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
                if name.is_empty() || !name.chars().all(is_plain) {
                    return Err(format!(
                        "axis {name:?}: letters, digits, - and _ are allowed"
                    ));
                }
                if name == "kernel" || is_outcome(name) {
                    return Err(format!(
                        "axis {name:?}: a column of the results has this name; choose another"
                    ));
                }
                match COMMON.contains(&name) || axes[..index].iter().any(is_same) {
                    true => Err(format!("two axes are called {name}: rename one of them")),
                    false => Ok(()),
                }
            });
            checked.map_err(|error| format!("workload {}: {error}", workload.name()))?;
        }
    }
    Ok(())
}

/// The words of the command line, with `measure` where there is no command: `cargo bench` gives what stands behind its `--`, and
/// `--bench`. None for `cargo test --benches`, which says neither.
fn words(all: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let mut words: Vec<OsString> = all.collect();
    let count = words.len();
    words.retain(|word| word != "--bench");
    let is_bench = words.len() < count;
    let commands = Cli::command();
    let is_known = |word: &OsString| {
        let word = word.to_string_lossy();
        let mut names = commands.get_subcommands().map(clap::Command::get_name);
        let own = ["help", "-h", "--help", "-V", "--version"];
        own.contains(&&*word) || names.any(|name| name == word)
    };
    let first = 1 + colours::length(&words[1.min(count)..]);
    let has_command = words.get(first).is_some_and(is_known);
    if !has_command {
        words.insert(1.min(words.len()), "measure".into());
    }
    (is_bench || has_command).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_words_are_taken_and_a_command_is_there_in_any_case() {
        for (given, expected) in [
            ("x --bench", Some("x measure")),
            ("x scale --bench", Some("x measure scale")),
            ("x", None),
            ("x --nocapture scale", None),
            ("x roofline --k 1 --bench", Some("x roofline --k 1")),
            ("x check", Some("x check")),
            ("x --help --bench", Some("x --help")),
            ("x --version --bench", Some("x --version")),
            ("x --color never list --bench", Some("x --color never list")),
            (
                "x --color=never scale --bench",
                Some("x measure --color=never scale"),
            ),
        ] {
            let words = words(given.split(' ').map(OsString::from));
            let words = words.map(|words| words.join(" ".as_ref()));
            assert_eq!(words, expected.map(OsString::from), "{given}");
        }
    }
}
