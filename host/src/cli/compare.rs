//! `ridgepoint compare` and `ridgepoint merge`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::destination::Destination;
use super::files::Files;
use super::measure::Effort;
use super::option_values::percent;
use super::output::{formats, open_whole, target};
use super::profile_program::Programs;
use super::workload_commands::Program;
use super::{Failure, against, row_format, streams};
use crate::compare::{
    Change, Comparison, Devices, Lacking, Merge, MergeOutput, NotComparable, Reason, Rules, Table,
    Verdict,
};
use crate::report::{Format, comparison_text, counted};
use crate::table::listed;

// Clap does not fold the line.
#[derive(Args)]
#[command(override_usage = USAGE)]
pub(super) struct Arguments {
    /// Rows of the earlier run, CSV or JSON; - is standard input [default: measure now, and compare with the
    /// baseline]
    #[arg(requires = "after", conflicts_with_all = MEASURED, conflicts_with = "against")]
    before: Option<PathBuf>,

    /// Rows of the later run, CSV or JSON; - is standard input
    after: Option<PathBuf>,

    /// Rows of an earlier run to compare with, CSV or JSON [default: those of the last `measure`]
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    baseline: Option<PathBuf>,

    /// Ignore differences up to this percentage
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    tolerance: f64,

    #[command(flatten)]
    turns: against::Arguments,

    /// Compare rows of different devices, too
    #[arg(long)]
    across_devices: bool,

    /// Columns that say nothing of the launch, such as notes, by which rows are not told apart
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Fail also if a single launch cannot be judged [default: only if none could be]
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    effort: Effort,

    #[command(flatten)]
    printed: row_format::Arguments,
}

const USAGE: &str = "ridgepoint compare [OPTIONS] [BEFORE] [AFTER]
       compare --against <BINARY|COMMIT> [-- <STUDY>...]";

/// Options of a measurement only.
const MEASURED: [&str; 4] = ["baseline", "workloads", "device", "runs"];

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("BEFORE", &self.before)
            .inputs("AFTER", &self.after)
            .inputs("--baseline", &self.baseline)
    }
}

impl MergeArguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .each_once("INPUTS", &self.inputs)
            .texts("--output", &self.output)
    }
}

/// Compares two files, or without them what is measured now with the baseline; keeps nothing, so that the next
/// comparison is with the same rows.
pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    // Both files: of millions of rows they take a while.
    let console = arguments.printed.console(2);
    let read = |path: &Path| {
        console.begin(format!("reading {}", path.display()));
        let table = Table::read(path).map_err(Failure::failed);
        console.step();
        table
    };
    let rules = arguments.rules();
    let of = |before: &Table, after: &Table| {
        let comparison = Comparison::of(before, after, &rules);
        comparison.map_err(|refused| match refused {
            NotComparable::Ignored { .. } => Failure::Usage(format!("--ignore: {refused}")),
            refused => Failure::failed(refused),
        })
    };
    if let (Some(before), Some(after)) = (&arguments.before, &arguments.after) {
        if let Some(programs) = Programs::read(before, after) {
            console.finish();
            return programs.compare(arguments.tolerance, &arguments.printed);
        }
        let comparison = of(&read(before)?, &read(after)?)?;
        console.finish();
        return arguments.show(&comparison);
    }
    if arguments.turns.is_given() {
        let [before, after] = arguments
            .turns
            .tables(program, &arguments.printed.console(arguments.turns.steps()))?;
        return arguments.show(&of(&before, &after)?);
    }
    let measurement = arguments.effort.begin("", arguments.printed.target())?;
    let before = match &arguments.baseline {
        Some(file) => read(file)?,
        None => measurement.last(program)?,
    };
    console.finish();
    let after = Table::of_records(&measurement.records()?).map_err(Failure::failed)?;
    let mut comparison = of(&before, &after)?;
    if !arguments.effort.is_default() {
        // Nothing is missing that was not asked for.
        comparison.only_before.clear();
    }
    arguments.show(&comparison)
}

/// A launch of one of two runs or of both, for programs.
#[derive(Serialize)]
struct Row<'a> {
    launch: &'a str,
    /// `same`, `faster`, `slower`, `unknown`, `missing` or `new`.
    verdict: &'static str,
    before_ms: Option<f64>,
    after_ms: Option<f64>,
    change_percent: Option<f64>,
    noise_percent: Option<f64>,
    /// Why the verdict is `unknown`, or the counts that changed.
    reason: Option<String>,
    flags: String,
}

/// A figure, unless a sample had no time.
fn known(value: f64) -> Option<f64> {
    Some(value).filter(|it| it.is_finite())
}

impl<'a> Row<'a> {
    fn of(change: &'a Change) -> Row<'a> {
        Row {
            launch: &change.launch,
            verdict: change.verdict.name(),
            before_ms: known(change.before_ms),
            after_ms: known(change.after_ms),
            change_percent: known(change.percent),
            noise_percent: change.noise_percent,
            reason: change.reason.as_ref().map(Reason::to_string),
            flags: change.flags.join(" "),
        }
    }

    /// Of a launch that one run has.
    fn alone(launch: &'a str, verdict: &'static str) -> Row<'a> {
        Row {
            launch,
            verdict,
            before_ms: None,
            after_ms: None,
            change_percent: None,
            noise_percent: None,
            reason: None,
            flags: String::new(),
        }
    }

    fn all(comparison: &'a Comparison) -> Vec<Row<'a>> {
        let missing = comparison.only_before.iter();
        let new = comparison.only_after.iter();
        let alone = missing
            .map(|it| Row::alone(it, "missing"))
            .chain(new.map(|it| Row::alone(it, "new")));
        comparison
            .changes
            .iter()
            .map(Row::of)
            .chain(alone)
            .collect()
    }
}

impl Arguments {
    fn show(&self, comparison: &Comparison) -> Result<(), Failure> {
        let console = self.printed.console(0);
        let rows = Row::all(comparison);
        let text = |width| comparison_text(comparison, width);
        self.printed.show(&rows, &console, text)?;
        judge(comparison, self.unjudged())
    }

    fn rules(&self) -> Rules {
        Rules {
            devices: match self.across_devices {
                true => Devices::Any,
                false => Devices::Same,
            },
            ignored: self.ignore.clone(),
            ..Rules::tolerating(self.tolerance)
        }
    }

    fn unjudged(&self) -> Unjudged {
        match self.strict {
            true => Unjudged::Fails,
            false => Unjudged::FailsAlone,
        }
    }
}

/// When launches that cannot be judged are a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unjudged {
    /// One is enough.
    Fails,
    /// When no other launch could be judged: a gate that had nothing to look at fails.
    FailsAlone,
}

/// Fails where a launch became slower, is missing or cannot be judged: the one failure that is a finding, and no trouble.
pub(super) fn judge(comparison: &Comparison, unjudged: Unjudged) -> Result<(), Failure> {
    let slower = comparison.with(Verdict::Slower).count();
    let unknown = match comparison.with(Verdict::Unknown).count() {
        count if unjudged == Unjudged::Fails || count == comparison.changes.len() => count,
        _ => 0,
    };
    let missing = comparison.only_before.len();
    let count = |count, what: &str| {
        let verb = if count == 1 { "is" } else { "are" };
        (count > 0).then(|| format!("{} {verb} {what}", counted(count as u64, "row")))
    };
    let slower = count(slower, "slower by more than noise and tolerance");
    let found: Vec<String> = slower
        .into_iter()
        .chain(count(missing, "missing"))
        .chain(count(unknown, "not to be judged"))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found(found.join("; "))),
    }
}

// Clap does not fold the line.
#[derive(Args)]
#[command(override_usage = "ridgepoint merge [OPTIONS] <INPUTS>...\n       --output <LIST>")]
pub(super) struct MergeArguments {
    /// Files with the same columns, CSV or JSON; - is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,

    /// Files to write the rows to, replacing existing ones; - is standard output. The file name's ending,
    /// .csv, .json or .md, gives the format
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        required = true
    )]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: from the file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Leave the cells empty that a file has no column for [default: only those of results, which files of earlier
    /// versions lack]
    #[arg(long)]
    fill: bool,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run_merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let console = Console::new(target(arguments.quiet, &arguments.output), 0);
    console.begin("reading".to_owned());
    formats(&arguments.output, arguments.format)?;
    // Before the outputs: an input may be the unfinished file of one of them, which is then moved aside.
    let lacking = match arguments.fill {
        true => Lacking::Any,
        false => Lacking::OfEarlierFormats,
    };
    let inputs = Merge::open(&arguments.inputs, lacking).map_err(Failure::failed)?;
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
    for lacks in &merged.lacks {
        console.say(&format!(
            "{} has no {}: {} empty there",
            lacks.path.display(),
            listed(&lacks.columns),
            if lacks.columns.len() == 1 {
                "it is"
            } else {
                "they are"
            }
        ));
    }
    console.finish();
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
