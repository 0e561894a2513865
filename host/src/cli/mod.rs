//! The command line: arguments in, library calls, text out.

mod ceilings;
mod chart;
mod charts;
mod check;
mod compare;
mod console;
mod described;
mod destination;
mod device;
mod dispatch;
mod doctor;
mod failure;
mod files;
mod harness;
mod interrupt;
mod kernels;
mod list;
mod lists;
mod measure;
mod modes;
mod new;
mod norm;
mod occupancy;
mod output;
mod pipeline;
mod power;
//PROF mod profile;
mod roofline;
mod run;
mod several;
mod streams;
mod study;
mod suite;
mod tracing;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::{Failure, STATUSES, cannot_write, driver_failure};
pub use harness::{Target, bench};

/// GPU kernels in plain Rust: measure them, and learn what limits them.
#[derive(Parser)]
#[command(name = "ridgepoint", version = version(), after_help = STATUSES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sweep the arithmetic intensity of a kernel: GFLOP/s and GB/s under the roofs.
    Roofline(Box<roofline::Arguments>),
    /// Normalize a vector in a loop: with the norm brought to the host, and with it left on the device.
    Norm(norm::Arguments),
    /// Measure what a launch costs the host, and what each barrier costs a loop.
    Dispatch(dispatch::Arguments),
    /// Iterate a matrix's greatest eigenvalue, with checkpoints: waiting for each, and not.
    Power(power::Arguments),
    /// Send batches to the device, through a kernel and back: one after the other, and overlapped.
    Pipeline(pipeline::Arguments),
    /// Measure what the device does at most: memory, caches, arithmetic, latencies.
    Ceilings(ceilings::Arguments),
    /// Occupancy: computed for any architecture, or measured against speed and work in flight.
    Occupancy(Box<occupancy::Arguments>),
    /// List the embedded kernels with their registers and occupancy, or show the code of one.
    Kernels(kernels::Arguments),
    /// Test kernels on the emulator with every access checked: races, divergence, bounds.
    Check(check::Arguments),
    /// Execute a kernel of any PTX file, whoever compiled it, with every access checked.
    Run(Box<run::Arguments>),
    //PROF     /// Count what a kernel does: totals, the hottest lines, what to change, and the least time of a GPU.
    //PROF     Profile(Box<profile::Arguments>),
    /// Draw rows that were measured before under their device's roofs, and point some out.
    Chart(chart::Arguments),
    /// Compare the rows of two runs; ends with 1 where one became slower by more than the noise.
    Compare(compare::Arguments),
    /// Put the rows of several files into one.
    Merge(compare::MergeArguments),
    /// Show what devices there are, or why there is none.
    Device,
    /// Show which tools and libraries are installed, and how to get those that are missing.
    Doctor,
    /// Write a package with a kernel, a program that launches it, and a test.
    New(new::Arguments),
}

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => failure::status(run(cli.command)),
        Err(refused) => explain(&refused),
    }
}

/// Shows help or version where they were asked for, and else what is wrong with the arguments.
fn explain(refused: &clap::Error) -> ExitCode {
    let written = refused.print();
    if refused.use_stderr() {
        return ExitCode::from(refused.exit_code() as u8);
    }
    // `status` asks whether it was written.
    let _ = streams::keep(written.and_then(|()| io::stdout().flush()));
    failure::status(Ok(()))
}

/// The command line as it was typed, as far as it is text.
fn command_line() -> Vec<String> {
    let words = env::args_os();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Roofline(it) => it.trace.around(it.files(), || roofline::run(&it)),
        Command::Norm(it) => it.common.trace.around(it.common.files(), || norm::run(&it)),
        Command::Dispatch(it) => it
            .common
            .trace
            .around(it.common.files(), || dispatch::run(&it)),
        Command::Power(it) => it.common.trace.around(it.files(), || power::run(&it)),
        Command::Pipeline(it) => it
            .common
            .trace
            .around(it.common.files(), || pipeline::run(&it)),
        Command::Ceilings(it) => it.trace.around(it.files(), || ceilings::run(&it)),
        Command::Occupancy(it) => it.trace.around(it.files(), || occupancy::run(&it)),
        Command::Kernels(arguments) => kernels::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(it) => run::run(&it),
        //PROF         Command::Profile(it) => profile::run(&it),
        Command::Chart(it) => it.files().check().and_then(|()| chart::run(&it)),
        Command::Compare(it) => it.files().check().and_then(|()| compare::run(&it)),
        Command::Merge(it) => it.files().check().and_then(|()| compare::run_merge(&it)),
        Command::Device => device::run(),
        Command::Doctor => doctor::run(),
        Command::New(arguments) => new::run(&arguments),
    }
}

fn version() -> &'static str {
    match option_env!("RIDGEPOINT_COMMIT") {
        Some(commit) => {
            Box::leak(format!("{} ({commit})", env!("CARGO_PKG_VERSION")).into_boxed_str())
        }
        None => env!("CARGO_PKG_VERSION"),
    }
}
