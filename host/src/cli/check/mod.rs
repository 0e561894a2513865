//! `ridgepoint check`.

mod compiler;

use std::env;
use std::path::{self, Path};
use std::process::{Command, ExitStatus};

use clap::Args;
use comfy_table::{Table, presets};
use cuda_std::emulation::INSTRUMENTED;

use super::Failure;
use super::console::{Console, Target};
use super::lists::whole;
use crate::check;
pub(super) use compiler::compile;

/// Run a project's tests, or the embedded kernels, on the emulator, in a build of its own in which
/// each access of a kernel to memory is checked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Run each case under so many seeds too, each another order of blocks, warps and lanes
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,
    /// What cargo does: `test --tests`, or another command, such as `run` or `bench`
    #[arg(long, value_name = "COMMAND", requires = "project")]
    cargo: Option<String>,
    /// Check the project in this folder; what follows is given to cargo's command. Without `--`, the
    /// embedded kernels are checked
    #[arg(last = true, id = "project", value_name = "ARGUMENTS", num_args = 0..)]
    project: Option<Vec<String>>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.project {
        Some(project) => check_project(arguments, project),
        None => check_embedded(arguments.seeds),
    }
}

fn check_project(arguments: &Arguments, project: &[String]) -> Result<(), Failure> {
    let mut cargo = instrumented_cargo(Path::new("target"))?;
    match &arguments.cargo {
        Some(command) => cargo.arg(command),
        None if project.iter().any(|argument| names_targets(argument)) => cargo.arg("test"),
        // Without those in documentation, which rustdoc compiles by itself.
        None => cargo.args(["test", "--tests"]),
    };
    cargo
        .args(project)
        .env("RIDGEPOINT_SEEDS", arguments.seeds.to_string());
    match status(cargo)?.success() {
        true => Ok(()),
        false => Err(Failure::Failed("cargo failed, see above".to_owned())),
    }
}

/// Whether an argument of `cargo test` says which tests are meant.
fn names_targets(argument: &str) -> bool {
    [
        "--test",
        "--lib",
        "--bin",
        "--example",
        "--bench",
        "--all-targets",
    ]
    .iter()
    .any(|flag| argument.starts_with(flag))
}

/// The kernels that this program carries are not instrumented, unless it was built so: where its
/// sources are, it builds and runs itself again.
fn check_embedded(seeds: u64) -> Result<(), Failure> {
    const SOURCES: &str = env!("CARGO_MANIFEST_DIR");
    let manifest = Path::new(SOURCES).join("Cargo.toml");
    if INSTRUMENTED || !manifest.exists() {
        return print_embedded(seeds);
    }
    let mut cargo = instrumented_cargo(&Path::new(SOURCES).join("target"))?;
    cargo
        .args(["run", "--quiet", "--bin", "ridgepoint", "--manifest-path"])
        .arg(manifest)
        .args(["--", "check", "--seeds", &seeds.to_string()]);
    match status(cargo)?.code() {
        Some(0) => Ok(()),
        _ => Err(Failure::Failed("see above".to_owned())),
    }
}

fn print_embedded(seeds: u64) -> Result<(), Failure> {
    let checks = match INSTRUMENTED {
        true => "races, divergence, uninitialised, bounds",
        false => "divergence",
    };
    let console = Console::new(Target::Stdout, check::cases().len() as u64);
    let rows = check::check_all(seeds, || console.step());
    console.finish();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["kernel", "runs", "seeds", "checks", "findings"]);
    for row in &rows {
        let (runs, findings) = (row.runs.to_string(), row.findings.len().to_string());
        table.add_row([row.kernel, &runs, &seeds.to_string(), checks, &findings]);
    }
    println!("{table}");
    for row in &rows {
        for (finding, when) in &row.findings {
            println!("{} ({when}): {finding}", row.kernel);
        }
    }
    if !INSTRUMENTED {
        println!(
            "Memory was not checked: that takes a build from sources, which are not at {}.",
            env!("CARGO_MANIFEST_DIR")
        );
    }
    match rows.iter().map(|row| row.findings.len()).sum() {
        0 => Ok(()),
        found => Err(Failure::Failed(format!("{found} findings"))),
    }
}

/// Cargo, with a compiler that instruments kernels, and `check` in a target folder for what it makes.
fn instrumented_cargo(target: &Path) -> Result<Command, Failure> {
    let own = env::current_exe().map_err(Failure::failed)?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .env("RUSTC_WRAPPER", own)
        .env(compiler::WRAPS_RUSTC, "1");
    if env::var_os("CARGO_TARGET_DIR").is_none() {
        // Tests and benches run in their package's folder, and may write there too.
        let target = path::absolute(target.join("check")).map_err(Failure::failed)?;
        cargo.env("CARGO_TARGET_DIR", target);
    }
    Ok(cargo)
}

fn status(mut cargo: Command) -> Result<ExitStatus, Failure> {
    cargo
        .status()
        .map_err(|error| Failure::Failed(format!("cannot run cargo: {error}")))
}
