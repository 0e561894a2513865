//! `ridgepoint compare` and `ridgepoint merge`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::console::Console;
use super::destination::Destination;
use super::files::Files;
use super::lists::percent;
use super::output::{formats, open_whole, target};
use super::{Failure, streams};
use crate::compare::{Comparison, Merge, MergeOutput, Table, Verdict};
use crate::report::{Format, comparison_text, counted};

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Rows of the earlier run, CSV or JSON; - is standard input
    before: PathBuf,

    /// Rows of the later run, CSV or JSON; - is standard input
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
    let count = |count, what: &str| {
        let verb = if count == 1 { "is" } else { "are" };
        (count > 0).then(|| format!("{} {verb} {what}", counted(count as u64, "row")))
    };
    let slower = count(slower, "slower by more than noise and tolerance");
    let found: Vec<String> = slower
        .into_iter()
        .chain(count(missing, "missing"))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found(found.join("; "))),
    }
}

#[derive(Args)]
pub(super) struct MergeArguments {
    /// Files with the same columns, CSV or JSON; - is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,

    /// Files to write all rows to; - is standard output
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        required = true
    )]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: from the file name's ending, or csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

pub(super) fn run_merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let console = Console::new(target(false, &arguments.output), 0);
    formats(&arguments.output, arguments.format)?;
    // Before the outputs: an input may be the unfinished file of one of them, which is then moved aside.
    let inputs = Merge::open(&arguments.inputs).map_err(Failure::failed)?;
    let outputs = open_whole(&arguments.output, arguments.format)?;
    merge(inputs, outputs, &console)
}

/// Writes the rows of all inputs to each output, and says how many there are and which were torn.
pub(super) fn merge(
    inputs: Merge,
    mut outputs: Vec<(Format, Destination)>,
    console: &Console,
) -> Result<(), Failure> {
    let has_files = outputs.iter().any(|(_, output)| !output.is_standard());
    let writers = outputs.iter_mut().map(|(format, output)| MergeOutput {
        path: output.path().to_path_buf(),
        format: *format,
        writer: match output.is_standard() && has_files {
            true => Box::new(Unheard),
            false => Box::new(output),
        },
    });
    let merged =
        inputs
            .write(writers.collect())
            .map_err(|error| match (streams::lost(), has_files) {
                (Some(_), false) => Failure::NoOutput,
                _ => Failure::failed(error),
            })?;
    for torn in &merged.torn {
        console.warn(&format!("{torn}: left out"));
    }
    for (_, output) in outputs {
        let (path, is_file) = (output.path().to_path_buf(), !output.is_standard());
        output.finish()?;
        if is_file {
            console.say(&format!(
                "{}: {}",
                counted(merged.rows as u64, "row"),
                path.display()
            ));
        }
    }
    Ok(())
}

/// Standard output beside files, which are written also where nobody reads it. The exit status tells of it.
struct Unheard;

impl Write for Unheard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        streams::print(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
