//! `ridgepoint compare` and `ridgepoint merge`

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::console::Console;
use super::lists::percent;
use super::output::target;
use super::{Failure, cannot_write, is_standard};
use crate::compare::{Comparison, Merge, MergeOutput, Table, Verdict};
use crate::report::{Format, comparison_text};

#[derive(Args)]
pub(super) struct Arguments {
    /// Rows of the run before, CSV or JSON; - is standard input
    before: PathBuf,

    /// Rows of the run after, CSV or JSON; - is standard input
    after: PathBuf,

    /// Ignore differences up to this percentage
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    tolerance: f64,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let read = |path| Table::read(path).map_err(Failure::failed);
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let comparison = Comparison::of(&before, &after, arguments.tolerance);
    judge(&comparison.map_err(Failure::failed)?, |text| {
        println!("{text}");
    })
}

/// Says what changed, and fails where a row became slower or is missing: the one failure that is a
/// finding, and no trouble.
pub(super) fn judge(comparison: &Comparison, say: impl FnOnce(&str)) -> Result<(), Failure> {
    say(&comparison_text(comparison));
    let slower = comparison.with(Verdict::Slower).count();
    let missing = comparison.only_before.len();
    if slower == 0 && missing == 0 {
        return Ok(());
    }
    let (rows, verb) = match slower {
        1 => ("row", "is"),
        _ => ("rows", "are"),
    };
    Err(Failure::Failed(format!(
        "{slower} {rows} {verb} slower by more than noise and tolerance; missing: {missing}"
    )))
}

#[derive(Args)]
pub(super) struct MergeArguments {
    /// Files with the same columns, CSV or JSON; - is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,

    /// Where all rows go; - is standard output
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: by each file's ending, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

pub(super) fn run_merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let console = Console::new(target(false, &arguments.output), 0);
    merge(
        &arguments.inputs,
        &arguments.output,
        arguments.format,
        &console,
    )
}

/// Writes the rows of all inputs to each output, and says how many there are and which were torn.
pub(super) fn merge(
    inputs: &[PathBuf],
    outputs: &[PathBuf],
    format: Option<Format>,
    console: &Console,
) -> Result<(), Failure> {
    for output in outputs {
        let is_input = |input: &PathBuf| is_same_file(input, output);
        if inputs.iter().any(is_input) {
            let path = output.display();
            let message = format!("{path} is both read and written: name another --output");
            return Err(Failure::Usage(message));
        }
    }
    let merge = Merge::open(inputs).map_err(Failure::failed)?;
    let open = |path: &PathBuf| -> Result<MergeOutput, Failure> {
        let writer: Box<dyn Write> = if is_standard(path) {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|error| cannot_write(path, &error))?)
        };
        Ok(MergeOutput {
            path: path.clone(),
            format: format.unwrap_or_else(|| Format::of(path)),
            writer,
        })
    };
    let opened = outputs.iter().map(open).collect::<Result<_, _>>()?;
    let merged = merge.write(opened).map_err(Failure::failed)?;
    for torn in &merged.torn {
        console.warn(&format!("{torn}: left out"));
    }
    for path in outputs.iter().filter(|path| !is_standard(path)) {
        console.say(&format!("{} rows: {}", merged.rows, path.display()));
    }
    Ok(())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        _ => false,
    }
}
