//! `ridgepoint compare` and `ridgepoint merge`

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use super::lists::percent;
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

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let read = |path| Table::read(path).map_err(Failure::failed);
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    judge(
        &Comparison::of(&before, &after, arguments.tolerance),
        |text| println!("{text}"),
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
    Err(Failure::Failed(format!(
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
    let rows = merge(&arguments.inputs, &arguments.output).map_err(Failure::failed)?;
    println!("{rows} rows: {}", arguments.output.display());
    Ok(())
}
