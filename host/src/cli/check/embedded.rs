//! The kernels that this program carries, checked.

use comfy_table::{Table, presets};

use crate::check;
use crate::cli::console::{Console, Target};
use crate::cli::{Failure, streams};

/// Checks each, and shows a table.
pub(super) fn check(seeds: u64) -> Result<(), Failure> {
    let console = Console::new(Target::Stdout, check::cases().len() as u64);
    let rows = check::check_all(seeds, || console.step());
    console.finish();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["kernel", "runs", "seeds", "findings"]);
    for row in &rows {
        let (runs, findings) = (row.runs.to_string(), row.findings.len().to_string());
        table.add_row([row.kernel, &runs, &seeds.to_string(), &findings]);
    }
    streams::say(&table.to_string());
    for row in &rows {
        for (finding, when) in &row.findings {
            streams::say(&format!("{} ({when}): {finding}", row.kernel));
        }
    }
    let found: usize = rows.iter().map(|row| row.findings.len()).sum();
    match found {
        0 => Ok(()),
        count => Err(Failure::Found(format!("{count} findings"))),
    }
}
