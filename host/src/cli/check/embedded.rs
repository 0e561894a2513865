//! The kernels that this program carries, checked.

use std::path::Path;

use comfy_table::{Table, presets};
use cuda_std::emulation::INSTRUMENTED;

use super::project::folder_of_checks;
use super::{instrumented_cargo, status};
use crate::check;
use crate::cli::console::{Console, Target};
use crate::cli::{Failure, streams};

/// The kernels here are not instrumented, unless this program was built so: where its sources are, it
/// builds and runs itself again.
pub(super) fn check(seeds: u64) -> Result<(), Failure> {
    const SOURCES: &str = env!("CARGO_MANIFEST_DIR");
    let manifest = Path::new(SOURCES).join("Cargo.toml");
    if INSTRUMENTED || !manifest.exists() {
        return print(seeds);
    }
    let target = folder_of_checks(Some(&manifest))?;
    streams::complain(&format!(
        "Checking the embedded kernels, which takes minutes: cargo builds {SOURCES} with checks in {}.",
        target.display()
    ));
    let mut cargo = instrumented_cargo(&target)?;
    cargo
        .env_remove(simt::record::FOLDER)
        .args(["run", "--bin", "ridgepoint", "--manifest-path"])
        .arg(manifest)
        .args(["--", "check", "--seeds", &seeds.to_string()]);
    match status(cargo)?.code() {
        Some(0) => Ok(()),
        // What the other process says, it ends with.
        Some(1) => Err(Failure::Found("see above".to_owned())),
        _ => Err(Failure::Failed("see above".to_owned())),
    }
}

fn print(seeds: u64) -> Result<(), Failure> {
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
    streams::say(&table.to_string());
    for row in &rows {
        for (finding, when) in &row.findings {
            streams::say(&format!("{} ({when}): {finding}", row.kernel));
        }
    }
    let found: usize = rows.iter().map(|row| row.findings.len()).sum();
    if found > 0 {
        return Err(Failure::Found(format!("{found} findings")));
    }
    match INSTRUMENTED {
        true => Ok(()),
        false => Err(Failure::Failed(format!(
            "memory was not checked: that takes a build from the sources, which are not at {}",
            env!("CARGO_MANIFEST_DIR")
        ))),
    }
}
