//! The kernels that this program carries, checked.

use crate::check;
use crate::cli::console::{Console, Target};
use crate::cli::{Failure, streams};
use crate::kernels::embedded_ptx;
use crate::report::counted;
use crate::table;

/// Checks each, and shows a table.
pub(super) fn check(seeds: u64) -> Result<(), Failure> {
    let console = Console::new(Target::Stdout, check::cases().len() as u64);
    let rows = check::check_all(embedded_ptx(), seeds, || console.step());
    console.finish();
    let header = ["kernel", "runs", "seeds", "findings"];
    let cells = rows.iter().map(|row| {
        let (runs, findings) = (row.runs.to_string(), row.findings.len().to_string());
        [row.kernel.to_owned(), runs, seeds.to_string(), findings]
    });
    streams::say(&table::text(header, cells, |_| false));
    for row in &rows {
        for (finding, when) in &row.findings {
            streams::say(&format!("{} ({when}): {finding}", row.kernel));
        }
    }
    let found: usize = rows.iter().map(|row| row.findings.len()).sum();
    match found {
        0 => Ok(()),
        count => Err(Failure::Found(counted(count as u64, "finding"))),
    }
}
