//! `ridgepoint emulate`: any program, with the emulator in place of NVIDIA's driver.

pub(super) mod folder;
mod summary;

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use clap::Args;
use emulated_driver::settings;
pub(super) use folder::Folder;
use summary::Summary;

use super::failure::OF_SIGNALS;
use super::interrupt::Interrupt;
use super::option_values::whole;
use super::{Failure, coverage, limits, severity, streams};

const HELP: &str = "\
Examples:
  ridgepoint emulate python saxpy.py
  ridgepoint emulate --seeds 8 ./saxpy

The program needs no GPU and no driver. Its launches run on the CPU, and every access is checked: bounds, races, \
divergence, reads of uninitialized memory. Findings are printed with the lines of the source, and written as JSON. \
Kernels must be there as PTX: Numba's, Triton's and cudarc's are; nvcc's are with \
-gencode arch=compute_90,code=compute_90.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Also run each launch under N seeds, from the memory as it was; each is a different order of blocks,
    /// warps and lanes
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,

    /// Run each launch under this seed alone, to replay what was found under it
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,

    /// Check only bounds, and run on all cores
    #[arg(long, conflicts_with_all = ["seeds", "seed"])]
    no_check: bool,

    /// Answer a launch in which something was found with success, so that the program goes on
    #[arg(long)]
    keep_going: bool,

    #[command(flatten)]
    severity: severity::Arguments,

    /// Count what kernels do, and print it with their hottest lines as the program ends
    #[arg(long)]
    counts: bool,

    /// Folder for a JSON file per finding
    #[arg(long, value_name = "FOLDER", default_value = "ridgepoint-findings")]
    findings: PathBuf,

    /// End with the program's own exit status, whatever is found: for test runners that read the findings themselves
    #[arg(long)]
    program_status: bool,

    /// Architecture of the emulated GPUs, such as sm_80
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    arch: String,

    /// Number of emulated GPUs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1..=64))]
    gpus: u64,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    limits: limits::Arguments,

    #[command(flatten)]
    coverage: coverage::Arguments,

    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<OsString>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = Folder::new().map_err(Failure::failed)?;
    let findings = env::current_dir()
        .map_err(Failure::failed)?
        .join(&arguments.findings);
    let [name, words @ ..] = arguments.program.as_slice() else {
        return Err(Failure::Usage("no program is named".to_owned()));
    };
    let mut program = Command::new(name);
    program.args(words);
    let covering = arguments.coverage.open()?;
    if let Some(covering) = &covering {
        covering.watch(&mut program);
    }
    folder.lend_to(&mut program);
    arguments.set(&mut program);
    program
        .env(settings::RECORD, folder.record())
        .env(settings::FINDINGS, &findings);
    let interrupt = Interrupt::watch();
    let ended = Interrupt::start(&mut program).and_then(|mut started| interrupt.wait(&mut started));
    let ended = ended
        .map_err(|error| Failure::Failed(format!("cannot run {}: {error}", name.display())))?;
    let summary = Summary::of(&folder.record()).map_err(Failure::failed)?;
    let text = summary.to_string();
    if !text.is_empty() && !arguments.quiet {
        streams::complain(&text);
    }
    interrupt.check()?;
    let say = |text: &str| {
        if !arguments.quiet {
            streams::complain(text);
        }
    };
    let covered = covering.map_or(Ok(()), |it| it.finish(say));
    let verdict = match arguments.program_status {
        true => own_status(ended),
        false => summary.verdict(ended.success(), &arguments.findings),
    };
    verdict.and(covered)
}

/// Ends as a program has ended: with its status, or with a shell's for the signal that ended it.
pub(super) fn own_status(ended: ExitStatus) -> Result<(), Failure> {
    let signal = || ended.signal().map_or(1, |signal| OF_SIGNALS + signal);
    match ended.code().unwrap_or_else(signal) {
        0 => Ok(()),
        status => Err(Failure::Program(status as u8)),
    }
}

impl Arguments {
    /// Tells the emulated driver how launches are run.
    fn set(&self, program: &mut Command) {
        let on = |is_on: bool| if is_on { "on" } else { "off" };
        program
            .env(settings::CHECKS, on(!self.no_check))
            .env(settings::STRICT, on(self.severity.strict))
            .env(settings::COUNTS, on(self.counts))
            .env(settings::SEEDS, self.seeds.to_string())
            .env(settings::ARCH, &self.arch)
            .env(settings::NUMBER_OF_DEVICES, self.gpus.to_string())
            .env(settings::STEPS, self.limits.max_steps.to_string())
            .env(settings::TIME_LIMIT, self.limits.time_limit.to_string())
            .env(
                settings::ON_FINDING,
                if self.keep_going { "report" } else { "error" },
            );
        match self.seed {
            Some(seed) => program.env(settings::SEED, seed.to_string()),
            None => program.env_remove(settings::SEED),
        };
    }
}
