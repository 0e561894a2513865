//! lcov's tracefiles: <https://man.archlinux.org/man/geninfo.1#TRACEFILE_FORMAT>.

use std::fmt::Write;
use std::path::Path;

use super::{Report, Totals, by_line};
use crate::driver::coverage::File;

/// One record for each file: several of a file, one for each kernel, are not read by all tools.
pub(super) fn text(report: &Report, folder: &Path) -> String {
    let mut text = String::new();
    for (name, file) in &report.files {
        // Writing to a string does not fail.
        let _ = record(&mut text, &report.path(name, folder), file);
    }
    text
}

fn record(text: &mut String, path: &Path, file: &File) -> std::fmt::Result {
    let Totals {
        lines,
        branches,
        functions,
    } = Totals::of(file);
    writeln!(text, "TN:\nSF:{}", path.display())?;
    for (name, function) in &file.functions {
        writeln!(text, "FN:{},{name}", function.line)?;
    }
    for (name, function) in &file.functions {
        writeln!(text, "FNDA:{},{name}", function.threads)?;
    }
    writeln!(text, "FNF:{}\nFNH:{}", functions.all, functions.covered)?;
    for (line, branches) in by_line(file) {
        for (number, branch) in branches.into_iter().enumerate() {
            let has_run = branch.outcomes.iter().any(|&it| it > 0);
            for (outcome, lanes) in branch.outcomes.iter().enumerate() {
                let taken = match has_run {
                    true => lanes.to_string(),
                    // Nobody has come to it.
                    false => "-".to_owned(),
                };
                writeln!(text, "BRDA:{line},{number},{outcome},{taken}")?;
            }
        }
    }
    writeln!(text, "BRF:{}\nBRH:{}", branches.all, branches.covered)?;
    for (line, times) in &file.lines {
        writeln!(text, "DA:{line},{times}")?;
    }
    writeln!(text, "LF:{}\nLH:{}", lines.all, lines.covered)?;
    writeln!(text, "end_of_record")
}
