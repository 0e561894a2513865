//! The command line: arguments in, library calls, text out.

mod ceilings;
mod chart;
mod charts;
mod check;
mod compare;
mod console;
mod device;
mod dispatch;
mod kernels;
mod lists;
mod new;
mod norm;
mod occupancy;
mod output;
mod pipeline;
mod power;
mod roofline;
mod several;
mod study;
mod tracing;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::driver::DriverError;

/// GPU kernels in plain Rust: measure them, and learn what limits them.
#[derive(Parser)]
#[command(name = "ridgepoint", version = version(), arg_required_else_help = true)]
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
    /// Draw rows that were measured before under their device's roofs, and point some out.
    Chart(chart::Arguments),
    /// Compare the rows of two runs; ends with 1 where one became slower by more than the noise.
    Compare(compare::Arguments),
    /// Put the rows of several files into one.
    Merge(compare::MergeArguments),
    /// Show what devices there are, or why there is none.
    Device,
    /// Write a package with a kernel, a program that launches it, and a test.
    New(new::Arguments),
}

/// Why a command did not do what was asked. Each has its exit code.
enum Failure {
    /// An argument cannot be met, on this machine or at all: 2.
    Usage(String),
    /// Something went wrong: 1.
    Failed(String),
    /// The user interrupted: 130. What was measured is written.
    Interrupted,
}

impl Failure {
    fn failed(error: impl fmt::Display) -> Failure {
        Failure::Failed(error.to_string())
    }
}

/// Standard output as the name of a file.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn cannot_write(path: &Path, error: &dyn fmt::Display) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

fn driver_failure(error: DriverError) -> Failure {
    match error {
        DriverError::NoSuchGpu { .. }
        | DriverError::Block { .. }
        | DriverError::Grid { .. }
        | DriverError::OutOfMemory { .. } => Failure::Usage(error.to_string()),
        DriverError::NoDriver(_) | DriverError::NoGpu => {
            Failure::Failed(format!("{error}; the emulator needs none: --device cpu"))
        }
        _ => Failure::failed(error),
    }
}

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    if let Some(code) = check::compile() {
        return code;
    }
    let result = run(Cli::parse().command);
    let (code, message) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Failed(message)) => (1, message),
        Err(Failure::Usage(message)) => (2, message),
        Err(Failure::Interrupted) => (130, "interrupted".to_owned()),
    };
    eprintln!("error: {message}");
    ExitCode::from(code)
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Roofline(it) => it.trace.around(|| roofline::run(&it)),
        Command::Norm(it) => it.common.trace.around(|| norm::run(&it)),
        Command::Dispatch(it) => it.common.trace.around(|| dispatch::run(&it)),
        Command::Power(it) => it.common.trace.around(|| power::run(&it)),
        Command::Pipeline(it) => it.common.trace.around(|| pipeline::run(&it)),
        Command::Ceilings(it) => it.trace.around(|| ceilings::run(&it)),
        Command::Occupancy(it) => it.trace.around(|| occupancy::run(&it)),
        Command::Kernels(arguments) => kernels::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Chart(arguments) => chart::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Merge(arguments) => compare::run_merge(&arguments),
        Command::Device => device::run(),
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
