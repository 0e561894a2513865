//! The command line: arguments in, library calls, text out.

/// Declares the commands of a command line, a row for each: its help, its arguments, and what it runs.
macro_rules! commands {
    ($visibility:vis enum Command, run($($parameter:ident: $type:ty)?);
     $($(#[$attribute:meta])* $name:ident($arguments:ty), $it:ident => $run:expr;)*) => {
        #[derive(clap::Subcommand)]
        $visibility enum Command {
            $($(#[$attribute])* $name($arguments),)*
        }

        impl Command {
            $visibility fn run(self $(, $parameter: $type)?) -> Result<(), Failure> {
                match self {
                    $(Command::$name($it) => $run,)*
                }
            }
        }
    };
}

mod against;
mod all_gpus;
mod axis_charts;
mod ceilings;
mod chart;
mod charts;
mod check;
mod collectives;
mod colours;
mod compare;
mod console;
mod coverage;
mod debug;
mod destination;
mod device;
mod device_list;
mod dispatch;
mod doctor;
mod embedded_library;
mod emulate;
mod failure;
mod files;
mod harness;
mod interrupt;
mod kernels;
mod launch_options;
mod limits;
mod links;
mod list;
mod manual;
mod measure;
mod memory;
mod mutate;
mod new;
mod norm;
mod occupancy;
mod option_values;
mod output;
mod pipeline;
mod power;
mod predict;
mod profile;
mod profile_program;
mod ranked;
mod roofline;
mod roofs;
mod row_format;
mod run;
mod severity;
mod streams;
mod study_modes;
mod study_options;
mod suite;
mod temporary;
mod tracing;
mod workload_commands;
mod workload_tests;

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};

use failure::{Failure, STATUSES, cannot_write, driver_failure};
pub use harness::{Target, bench};
use workload_commands::Program;

use crate::driver::Embedded;

/// GPU kernels in plain Rust: measure them, and learn what limits them.
#[derive(Parser)]
#[command(name = "ridgepoint", version = version(), long_version = long_version(crate::kernels::embedded_ptx()), after_help = STATUSES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    _colours: colours::Arguments,
}

commands! {
    enum Command, run();
    #[command(flatten)]
    Shared(workload_commands::Command), it => it.run(Program::Ridgepoint);
    /// Compare ways to normalize a vector: with its norm copied to the host, or kept on the device.
    Norm(norm::Arguments), it => {
        let (trace, process) = (&it.common.trace, it.ranked.process()?);
        trace.around_process(process, it.files(), || norm::run(&it))
    };
    /// Measure launch overhead, and the cost of each kind of synchronization in a loop.
    Dispatch(dispatch::Arguments), it => {
        let trace = &it.common.trace;
        trace.around(it.common.files(), || dispatch::run(&it))
    };
    /// Compute a dominant eigenvalue by power iteration, with blocking or asynchronous checkpoints.
    Power(power::Arguments), it => {
        let (trace, process) = (&it.common.trace, it.ranked.process()?);
        trace.around_process(process, it.files(), || power::run(&it))
    };
    /// Measure collectives between devices: NCCL's between GPUs, through the host between emulated devices.
    Collectives(collectives::Arguments), it => {
        let (trace, process) = (&it.common.trace, it.places.process()?);
        trace.around_process(process, it.common.files(), || collectives::run(&it))
    };
    /// Measure how well copies overlap with kernels, for batches that go to the device and back.
    Pipeline(pipeline::Arguments), it => {
        let trace = &it.common.trace;
        trace.around(it.common.files(), || pipeline::run(&it))
    };
    /// Measure the device's ceilings: memory and cache bandwidth, arithmetic, tensor cores, bulk copies, atomics,
    /// barriers, latencies.
    Ceilings(ceilings::Arguments), it => it.trace.around(it.files(), || ceilings::run(&it));
    /// Measure the links between devices, and to the host: copies, kernels, latency, atomic additions.
    Links(links::Arguments), it => it.trace.around(it.files(), || links::run(&it));
    /// Run a kernel of any PTX file on the emulator and check every access.
    Run(Box<run::Arguments>), it => run::run(&it);
    /// Run any program that uses CUDA with the emulator in place of NVIDIA's driver, and check its kernels.
    Emulate(emulate::Arguments), it => emulate::run(&it);
    /// Run any program that uses CUDA with the emulator, and stop inside of its kernels, step, look and go backwards.
    Debug(debug::Arguments), it => debug::run(&it);
    /// Change kernels in one place at a time, and list the changes that their tests do not notice.
    Mutate(mutate::Arguments), it => mutate::run(&it);
    /// Draw the chart of a file of rows: a roofline, or how a study scales with the number of devices.
    Chart(chart::Arguments), it => it.files().check().and_then(|()| chart::run(&it));
    /// Merge files of rows into one.
    Merge(compare::MergeArguments), it => it.files().check().and_then(|()| compare::run_merge(&it));
    /// List devices, or explain why none was found.
    Device(device::Arguments), it => device::run(&it);
    /// List the tools and libraries that are installed, and how to install the missing ones.
    Doctor(doctor::Arguments), it => doctor::run(&it);
    /// Create a package with a kernel, a program that launches it, a test and a benchmark.
    New(new::Arguments), it => new::run(&it);
    /// Print completions for a shell.
    Completions(manual::CompletionArguments), it => {
        manual::completions(&it, command::<Cli>());
        Ok(())
    };
    /// Print the manual page of a command, or write all pages to a folder.
    Man(manual::ManArguments), it => manual::man(&it, command::<Cli>());
}

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    if let Err(none) = memory::check_for_arguments() {
        return failure::status(Err(none));
    }
    match parsed::<Cli>(with_lists(env::args_os())) {
        Ok(cli) => failure::status(begin().and_then(|()| cli.command.run())),
        Err(refused) if asks_for_version(&refused) => {
            let words = ["ridgepoint", "--version"].map(OsString::from);
            parsed::<Cli>(words.to_vec())
                .map_or_else(|version| explain(&version), |_| ExitCode::SUCCESS)
        }
        Err(refused) => explain(&refused),
    }
}

/// Whether `ridgepoint` has a command of this name.
fn is_command(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}

/// Makes sure that the command can run, and that a signal ends it.
fn begin() -> Result<(), Failure> {
    memory::check_for_command()?;
    interrupt::guard()
}

/// A command line of this kind, with the options of the workloads' axes. A number below 0 is a value that is out of range, and no
/// unknown option.
fn command<C: CommandFactory>() -> clap::Command {
    let commands = suite::with_axes(C::command());
    commands.mut_subcommands(|command| command.allow_negative_numbers(true))
}

/// The words as a command line of this kind. Help and errors have the colours that the words ask for, as has all
/// that is written later.
fn parsed<C: CommandFactory + FromArgMatches>(words: Vec<OsString>) -> Result<C, clap::Error> {
    let choice = colours::choose(colours::asked_for(&words));
    let mut command = command::<C>().color(choice);
    let mut matches = command.try_get_matches_from_mut(words)?;
    C::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The words with a list that begins with standard output, as `--plot -,x.svg` has, joined to its option: else the
/// list reads as options of one letter.
fn with_lists(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for word in words {
        let begins = |word: &OsStr, with: &[u8]| word.as_encoded_bytes().starts_with(with);
        match all.last_mut() {
            Some(option) if begins(&word, b"-,") && begins(option, b"-") => {
                option.push("=");
                option.push(word);
            }
            _ => all.push(word),
        }
    }
    all
}

/// Whether `--version` stands behind a command, where it is no option of its own: the commands have one version.
fn asks_for_version(refused: &clap::Error) -> bool {
    let word = refused.get(ContextKind::InvalidArg);
    refused.kind() == ErrorKind::UnknownArgument
        && matches!(word, Some(ContextValue::String(word)) if word == "--version" || word == "-V")
}

/// Shows help or version where they were asked for, and else what is wrong with the arguments.
fn explain(refused: &clap::Error) -> ExitCode {
    streams::show(refused);
    if refused.use_stderr() {
        return ExitCode::from(refused.exit_code() as u8);
    }
    failure::status(Ok(()))
}

/// The command line as it was typed, as far as it is text.
fn command_line() -> Vec<String> {
    let words = env::args_os();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn version() -> &'static str {
    match option_env!("RIDGEPOINT_COMMIT").or(option_env!("RIDGEPOINT_CHECKOUT")) {
        Some(commit) => {
            Box::leak(format!("{} ({commit})", env!("CARGO_PKG_VERSION")).into_boxed_str())
        }
        None => env!("CARGO_PKG_VERSION"),
    }
}

/// With the architectures whose PTX the program carries.
fn long_version(ptx: &[Embedded<'_>]) -> &'static str {
    let arches = ptx.iter();
    let arches: Vec<String> = arches.map(|(arch, ..)| format!("sm_{arch}")).collect();
    let text = format!("{}\nembedded PTX: {}", version(), arches.join(", "));
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_or_end_with_standard_output() {
        let parsed = |line: &str| {
            let words = line.split_whitespace().map(OsString::from);
            command::<Cli>()
                .try_get_matches_from(with_lists(words))
                .map(|_| ())
        };
        for line in [
            "ridgepoint roofline --plot -,x.svg",
            "ridgepoint roofline --plot x.svg,-",
            "ridgepoint roofline -o -,x.csv",
            "ridgepoint roofline -qo -,x.csv --plot -",
            "ridgepoint merge a.csv --output -,x.csv",
            "ridgepoint roofline --output x.csv,-",
        ] {
            parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        assert!(parsed("ridgepoint roofline --plot -,x.gif").is_err());
        assert!(parsed("ridgepoint roofline --plot --quiet").is_err());
    }
}
