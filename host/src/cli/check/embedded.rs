//! The kernels that this program carries, checked.

use std::collections::BTreeSet;

use serde::Serialize;

use super::How;
use crate::check;
use crate::cli::Failure;
use crate::driver::Emulation;
use crate::kernels::embedded_ptx;
use crate::report::{Width, counted};
use crate::table::{self, Look};

/// A kernel, for programs.
#[derive(Serialize)]
struct Row<'a> {
    kernel: &'a str,
    runs: usize,
    seeds: u64,
    findings: usize,
    /// All of them.
    found: String,
    /// The kinds of the emulator's findings among them, by name.
    kinds: String,
}

/// Checks each, and shows a table.
pub(super) fn check(how: How<'_>) -> Result<(), Failure> {
    let How {
        seeds,
        limits,
        coverage,
        printed,
        ..
    } = how;
    let covering = coverage.open()?;
    if let Some(covering) = &covering {
        covering.watch_own()?;
    }
    let console = printed.console(check::cases().len() as u64);
    console.begin(format!(
        "kernels, in order and under {}",
        counted(seeds, "seed")
    ));
    // These kernels have nothing benign.
    let emulation = Emulation {
        is_strict: true,
        ..Emulation::default()
    };
    let checked = check::check_all(embedded_ptx(), seeds, &limits.limit(emulation), || {
        console.step();
    });
    console.finish();
    let told = |of: &check::Row| {
        let findings = of.findings.iter();
        findings
            .map(|(finding, when)| format!("{} ({when}): {finding}", of.kernel))
            .collect()
    };
    let findings: Vec<Vec<String>> = checked.iter().map(told).collect();
    let rows = checked.iter().zip(&findings).map(|(of, findings)| Row {
        kernel: of.kernel,
        runs: of.runs,
        seeds,
        findings: findings.len(),
        found: findings.join("; "),
        kinds: names(of.kinds.iter().map(|kind| kind.name())),
    });
    let rows: Vec<Row<'_>> = rows.collect();
    printed.show(&rows, &console, |width| table(&rows, width))?;
    for finding in findings.iter().flatten() {
        console.say(finding);
    }
    let covered = covering.map_or(Ok(()), |it| it.finish(|text| console.say(text)));
    match findings.iter().map(Vec::len).sum::<usize>() {
        0 => covered,
        count => Err(Failure::Found(counted(count as u64, "finding"))),
    }
}

/// Each of the names once.
fn names(names: impl Iterator<Item = &'static str>) -> String {
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().collect::<Vec<_>>().join("; ")
}

fn table(rows: &[Row<'_>], width: Width) -> String {
    let cells = rows.iter().map(|row| {
        let numbers = [row.runs as u64, row.seeds, row.findings as u64];
        [row.kernel.to_owned()]
            .into_iter()
            .chain(numbers.map(|it| it.to_string()))
    });
    let look = Look {
        width,
        is_right: |column| column > 0,
        spare: &["seeds", "runs"],
    };
    table::text(["kernel", "runs", "seeds", "findings"], cells, look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_60_characters() {
        let cases = check::cases();
        let row = |case: &'_ check::Case| Row {
            kernel: case.kernel,
            runs: 99_999,
            seeds: 10_000,
            findings: 99,
            found: String::new(),
            kinds: String::new(),
        };
        let rows: Vec<Row<'_>> = cases.iter().map(row).collect();
        let text = table(&rows, Width::Columns(60));
        assert!(
            text.contains("findings") && !text.contains("left out"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
    }
}
