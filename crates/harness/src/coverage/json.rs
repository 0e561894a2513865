//! Coverage by kernel, as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Report, Totals};
use crate::driver::coverage::{File, Kernel};

#[derive(Serialize)]
struct Document<'r> {
    ridgepoint: &'static str,
    totals: Sums,
    kernels: BTreeMap<&'r str, OfKernel<'r>>,
}

#[derive(Serialize)]
struct Sums {
    lines: u64,
    lines_covered: u64,
    branches: u64,
    branches_covered: u64,
    functions: u64,
    functions_covered: u64,
}

#[derive(Serialize)]
struct OfKernel<'r> {
    launches: u64,
    files: BTreeMap<&'r str, OfFile<'r>>,
}

#[derive(Serialize)]
struct OfFile<'r> {
    /// How often threads have executed each line.
    lines: &'r BTreeMap<u32, u64>,
    branches: Vec<OfBranch<'r>>,
    functions: Vec<OfFunction<'r>>,
}

#[derive(Serialize)]
struct OfBranch<'r> {
    line: u32,
    ptx_line: u32,
    /// Lanes that took it and that did not, or that went to each target.
    outcomes: &'r [u64],
    /// How often lanes of one warp parted.
    divergent: u64,
}

#[derive(Serialize)]
struct OfFunction<'r> {
    name: &'r str,
    line: u32,
    threads: u64,
}

pub(super) fn text(report: &Report) -> String {
    let kernels = report.coverage.kernels.iter();
    let document = Document {
        ridgepoint: env!("CARGO_PKG_VERSION"),
        totals: Sums::of(report.totals()),
        kernels: kernels
            .map(|(name, kernel)| (name.as_str(), OfKernel::of(kernel)))
            .collect(),
    };
    let text = serde_json::to_string_pretty(&document).expect("numbers and names");
    text + "\n"
}

impl Sums {
    fn of(totals: Totals) -> Sums {
        let Totals {
            lines,
            branches,
            functions,
        } = totals;
        Sums {
            lines: lines.all,
            lines_covered: lines.covered,
            branches: branches.all,
            branches_covered: branches.covered,
            functions: functions.all,
            functions_covered: functions.covered,
        }
    }
}

impl OfKernel<'_> {
    fn of(kernel: &Kernel) -> OfKernel<'_> {
        let files = kernel.files.iter();
        OfKernel {
            launches: kernel.launches,
            files: files
                .map(|(name, file)| (name.as_str(), OfFile::of(file)))
                .collect(),
        }
    }
}

impl OfFile<'_> {
    fn of(file: &File) -> OfFile<'_> {
        let branches = file.branches.iter().map(|(id, branch)| OfBranch {
            line: id.line,
            ptx_line: id.ptx_line,
            outcomes: &branch.outcomes,
            divergent: branch.divergent,
        });
        let functions = file.functions.iter().map(|(name, function)| OfFunction {
            name,
            line: function.line,
            threads: function.threads,
        });
        OfFile {
            lines: &file.lines,
            branches: branches.collect(),
            functions: functions.collect(),
        }
    }
}
