//! `ridgepoint compare` and `ridgepoint merge`

use std::path::PathBuf;

use clap::Args;

use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::lists::percent;
use super::{Failure, streams};
use crate::compare::{Comparison, Table, Verdict, merge};
use crate::report::comparison_text;

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// The CSV of the run before
    before: PathBuf,

    /// The CSV of the run after
    after: PathBuf,

    /// A difference up to this is none, however quiet the rows are
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
            .texts("--output", [&self.output])
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let read = |path| Table::read(path).map_err(Failure::failed);
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    judge(
        &Comparison::of(&before, &after, arguments.tolerance),
        streams::say,
    )
}

/// Says what changed, and fails where a row became slower or is missing.
pub(super) fn judge(comparison: &Comparison, say: impl FnOnce(&str)) -> Result<(), Failure> {
    say(&comparison_text(comparison));
    let slower = comparison.with(Verdict::Slower).count();
    let missing = comparison.only_before.len();
    if slower == 0 && missing == 0 {
        return Ok(());
    }
    Err(Failure::Found(format!(
        "{slower} rows are slower by more than noise and tolerance, {missing} are missing"
    )))
}

#[derive(Args)]
pub(super) struct MergeArguments {
    /// CSV files with the same columns
    #[arg(required = true)]
    inputs: Vec<PathBuf>,

    /// Where all rows go
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run_merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let merged = merge(&arguments.inputs).map_err(Failure::failed)?;
    let destination = Destination::open(&arguments.output, Unfinished::IsNothing)?;
    let is_file = !destination.is_standard();
    destination.write_whole(|output| output.write_all(&merged.csv))?;
    if is_file {
        streams::say(&format!(
            "{} rows: {}",
            merged.rows,
            arguments.output.display()
        ));
    }
    Ok(())
}
