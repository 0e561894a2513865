//! `ridgepoint compare` and `ridgepoint merge`

use std::path::PathBuf;

use clap::Args;

use super::console::Console;
use super::destination::Destination;
use super::files::Files;
use super::lists::percent;
use super::output::{open_whole, target};
use super::{Failure, streams};
use crate::compare::{Comparison, Merge, MergeOutput, Table, Verdict};
use crate::report::{Format, comparison_text};

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Rows of the run before, CSV or JSON; - is standard input
    before: PathBuf,

    /// Rows of the run after, CSV or JSON; - is standard input
    after: PathBuf,

    /// Ignore differences up to this percentage
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    tolerance: f64,
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("BEFORE", [&self.before])
            .inputs("AFTER", [&self.after])
    }
}

impl MergeArguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("INPUTS", &self.inputs)
            .texts("--output", &self.output)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let read = |path| Table::read(path).map_err(Failure::failed);
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let comparison = Comparison::of(&before, &after, arguments.tolerance);
    judge(&comparison.map_err(Failure::failed)?, streams::say)
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
    Err(Failure::Found(format!(
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
    let outputs = open_whole(&arguments.output, arguments.format)?;
    merge(&arguments.inputs, outputs, &console)
}

/// Writes the rows of all inputs to each output, and says how many there are and which were torn.
pub(super) fn merge(
    inputs: &[PathBuf],
    mut outputs: Vec<(Format, Destination)>,
    console: &Console,
) -> Result<(), Failure> {
    let merge = Merge::open(inputs).map_err(Failure::failed)?;
    let writers = outputs.iter_mut().map(|(format, output)| MergeOutput {
        path: output.path().to_path_buf(),
        format: *format,
        writer: Box::new(output),
    });
    let merged = merge.write(writers.collect()).map_err(Failure::failed)?;
    for torn in &merged.torn {
        console.warn(&format!("{torn}: left out"));
    }
    for (_, output) in outputs {
        let (path, is_file) = (output.path().to_path_buf(), !output.is_standard());
        output.finish()?;
        if is_file {
            console.say(&format!("{} rows: {}", merged.rows, path.display()));
        }
    }
    Ok(())
}
