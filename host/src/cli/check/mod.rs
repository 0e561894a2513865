//! `ridgepoint check`.

mod compiler;

use std::env;
use std::process::Command;

use clap::Args;

use super::Failure;
pub(super) use compiler::compile;

/// Run a project's tests on the emulator, in a build of its own in which each access of a kernel to
/// memory is checked.
#[derive(Args)]
pub(super) struct Arguments {
    /// Run each case of gpu-test under so many seeds too, each another order of blocks, warps and
    /// lanes
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u64,
    /// What cargo does: `test --tests`, or another command, such as `run`
    #[arg(long, value_name = "COMMAND")]
    cargo: Option<String>,
    /// What cargo's command is given
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut cargo = instrumented_cargo()?;
    match &arguments.cargo {
        Some(command) => cargo.arg(command),
        // Without those in documentation, which rustdoc compiles by itself.
        None => cargo.args(["test", "--tests"]),
    };
    let status = cargo
        .args(&arguments.arguments)
        .env("RIDGEPOINT_SEEDS", arguments.seeds.to_string())
        .status()
        .map_err(|error| Failure::Failed(format!("cannot run cargo: {error}")))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Failed("cargo failed, see above".to_owned()))
}

/// Cargo, with a compiler that instruments kernels and a target folder for what it makes.
fn instrumented_cargo() -> Result<Command, Failure> {
    let own = env::current_exe().map_err(Failure::failed)?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .env("RUSTC_WRAPPER", own)
        .env(compiler::WRAPS_RUSTC, "1");
    if env::var_os("CARGO_TARGET_DIR").is_none() {
        cargo.env("CARGO_TARGET_DIR", "target/check");
    }
    Ok(cargo)
}
