//! `ridgepoint debug`: any program, with the emulator in place of NVIDIA's driver and its kernels under a debugger.

mod command;
mod dap;
mod program;
mod show;
mod terminal;

use std::ffi::OsString;

use clap::Args;

use super::Failure;
use super::option_values::whole;
use program::Launch;

const HELP: &str = "\
Examples:
  ridgepoint debug ./saxpy
  ridgepoint debug --seed 3 python test.py
  ridgepoint debug --dap

`help` lists the commands. Without a terminal they are read from standard input, a line each.

Kernels must be there as PTX, as for `ridgepoint emulate`. Compile them with line numbers: nvcc's -lineinfo, or -G for variables of the \
source too; kernels of ridgepoint, Numba and Triton have lines. Each launch is checked, and a finding stops it.";

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Speak the Debug Adapter Protocol on standard input and output, for editors
    #[arg(long)]
    dap: bool,

    /// Run each launch under this seed, to look into what was found under it
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Architecture of the emulated GPUs, such as sm_80
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    arch: String,

    /// Number of emulated GPUs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(1..=64))]
    gpus: u64,

    /// The program and its arguments; an editor may name it instead
    #[arg(
        value_name = "PROGRAM",
        required_unless_present = "dap",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<OsString>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let launch = Launch {
        words: arguments.program.clone(),
        folder: None,
        environment: Vec::new(),
        seed: arguments.seed,
        arch: arguments.arch.clone(),
        gpus: arguments.gpus,
    };
    match arguments.dap {
        true => dap::run(launch),
        false => terminal::run(launch),
    }
}
