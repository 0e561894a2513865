//! `ridgepoint chart`

mod axis;
mod scaling;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use csv::StringRecord;
use itertools::Itertools;

use super::Failure;
use super::axis_charts::Against;
use super::charts::{ChartFiles, chart_path};
use super::console::Console;
use super::files::Files;
use super::option_values::each_once;
use super::output::target;
use crate::ceilings::load_named;
use crate::compare::{Rows, TableError};
use crate::driver::printable;
use crate::links::load_links;
use crate::model::{FlopsPerSec, TensorType};
use crate::report::{SavedChart, SavedRow};
use crate::table::{is_outcome, other_than_a_roofline};

/// The columns that a roofline is drawn of.
const DRAWN: [&str; 5] = ["ai", "gflops", "kernel", "dtype", "device"];

/// The columns whose values tell curves apart beside those of kernel, type and axes, which stand before them.
const CURVE: [&str; 4] = ["block", GRID, "cache", "device"];
const GRID: &str = "grid";

#[derive(Args)]
pub(super) struct Arguments {
    /// Rows written by `ridgepoint roofline`, or by `power` or `norm` with --devices; with --against, of any study;
    /// CSV or JSON; - is standard input
    rows: PathBuf,

    /// Ceilings to use as roofs, a file written by `ridgepoint ceilings --output FILE.json` on the same device;
    /// a roofline needs them
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// Links whose fastest to the device is drawn as a roof, a file written by `ridgepoint links --output
    /// FILE.json`
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,

    /// Rows to draw, such as kernel=horner,grid=1056; several values of one column are alternatives
    /// [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Condition>,

    /// Rows to highlight with a note, such as k=50
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    mark: Vec<Condition>,

    #[command(flatten)]
    against: Against,

    /// Title of the chart [default: Roofline, or what is scaled]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Files to draw the chart to, .svg or .png; - draws on the terminal
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path(),
          required = true)]
    output: Vec<PathBuf>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

/// A column and a value that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    column: String,
    value: String,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=');
        let (column, value) = parts.ok_or("expected a column and a value, such as k=50")?;
        Ok(Condition {
            column: column.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("ROWS", [&self.rows])
            .inputs("--ceilings", &self.ceilings)
            .inputs("--links", &self.links)
            .texts("--output", &self.output)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let console = Console::new(target(arguments.quiet, &arguments.output), 0);
    console.begin(format!("reading {}", arguments.rows.display()));
    let table = Table::read(&arguments.rows, &console)?;
    console.finish();
    match scaling::is_in(&table) {
        _ if arguments.against.against.is_some() => axis::draw(arguments, &console, &table),
        true => scaling::draw(arguments, &console, &table),
        false => roofline(arguments, &console, &table),
    }
}

/// Draws the chart of a sweep's rows.
fn roofline(arguments: &Arguments, console: &Console, table: &Table) -> Result<(), Failure> {
    table.refuse_lacking(&DRAWN)?;
    let ceilings = arguments.ceilings.as_deref().ok_or_else(|| {
        let path = arguments.rows.display();
        Failure::Usage(format!(
            "--ceilings is missing: {path} has rows of a roofline, which are drawn under their device's measured roofs"
        ))
    })?;
    let rows = table.chosen(&arguments.only, &arguments.mark)?;
    let rows = table.with_a_rate(rows, console)?;
    let device = table.device(&rows)?;
    let ceilings = load_named(ceilings, &device);
    let ceilings = ceilings.map_err(Failure::failed)?;
    let link = arguments
        .links
        .as_deref()
        .map(|file| load_links(file, &device));
    let link = link.transpose().map_err(Failure::failed)?;
    let saved = table.saved(&rows, &arguments.mark)?;
    let chart = SavedChart {
        title: arguments.title.as_deref().unwrap_or("Roofline"),
        rows: &saved,
        ceilings: &ceilings,
        link: link.as_ref(),
    };
    for (index, roof) in chart.above_roof() {
        let ((number, _), row) = (rows[index], &saved[index]);
        console.warn(&format!(
            "{}, row {number}: {} at {} FLOP/byte, where the roof is {}: implausible",
            arguments.rows.display(),
            FlopsPerSec(row.gflops * 1e9),
            row.ai,
            FlopsPerSec(roof * 1e9),
        ));
    }
    let files = ChartFiles::open(&arguments.output)?;
    files.write(console, &chart)
}

/// The rows of a file.
struct Table {
    path: PathBuf,
    header: StringRecord,
    rows: Vec<StringRecord>,
}

/// A row and its number, from 1.
type Numbered<'a> = (usize, &'a StringRecord);

impl Table {
    fn read(path: &Path, console: &Console) -> Result<Table, Failure> {
        let mut read = Rows::open(path).map_err(Failure::failed)?;
        let rows = read.by_ref().map(|row| row.map(|row| row.text));
        let rows = rows
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::failed)?;
        if let Some(torn) = read.torn() {
            console.warn(&format!("{torn}: left out"));
        }
        let path = path.to_path_buf();
        if rows.is_empty() {
            return Err(Failure::failed(TableError::NoRows { path }));
        }
        Ok(Table {
            path,
            header: read.header().clone(),
            rows,
        })
    }

    /// A column's place.
    fn place(&self, column: &str) -> Result<usize, String> {
        let place = self.header.iter().position(|name| name == column);
        place.ok_or_else(|| {
            let names: Vec<_> = self.header.iter().map(printable).collect();
            let (path, names) = (self.path.display(), names.join(", "));
            format!("{path} has no column {column:?}: it has {names}")
        })
    }

    /// Refuses rows that lack columns of a roofline, all of which it names.
    fn refuse_lacking(&self, columns: &[&str]) -> Result<(), Failure> {
        let lacks = columns.iter().filter(|column| self.place(column).is_err());
        let lacks: Vec<&str> = lacks.copied().collect();
        if lacks.is_empty() {
            return Ok(());
        }
        let (path, lacks) = (self.path.display(), lacks.join(", "));
        let kind = other_than_a_roofline(self.header.iter())
            .map_or_else(String::new, |kind| format!("; it is {kind}"));
        Err(Failure::Failed(format!(
            "{path} has neither rows of a roofline, which have {lacks}, too, nor rows of a study on several devices{kind}"
        )))
    }

    /// A row's cell in a column.
    fn cell<'a>(&self, row: &'a StringRecord, column: &str) -> Result<&'a str, String> {
        self.place(column).map(|place| &row[place])
    }

    /// Reads a number that a logarithmic axis has a place for.
    fn positive(&self, (number, row): Numbered<'_>, column: &str) -> Result<f64, String> {
        let cell = self.cell(row, column)?;
        let parsed = cell.parse().ok().filter(|it: &f64| it.is_finite());
        parsed.filter(|&it| it > 0.0).ok_or_else(|| {
            let path = self.path.display();
            format!("{path}, row {number}: {column} is {cell:?}; a logarithmic axis needs a finite number above 0")
        })
    }

    /// The rows that meet `only`, of which some meet `mark`.
    fn chosen(&self, only: &[Condition], mark: &[Condition]) -> Result<Vec<Numbered<'_>>, Failure> {
        let all: Vec<Numbered<'_>> = (1..).zip(&self.rows).collect();
        let chosen = self.meeting(&all, only)?;
        self.meeting(&chosen, mark)?;
        Ok(chosen)
    }

    /// The rows whose rate has a digit that is not 0: two decimals are few for an emulator.
    fn with_a_rate<'a>(
        &self,
        mut rows: Vec<Numbered<'a>>,
        console: &Console,
    ) -> Result<Vec<Numbered<'a>>, Failure> {
        let place = self.place("gflops").map_err(Failure::Failed)?;
        let path = self.path.display();
        rows.retain(|(number, row)| {
            let cell = &row[place];
            let is_zero = cell.parse() == Ok(0.0);
            if is_zero {
                console.warn(&format!(
                    "{path}, row {number}: gflops is {cell:?}, and a logarithmic axis has no 0: left out"
                ));
            }
            !is_zero
        });
        if rows.is_empty() {
            let message = format!("{path}: no row to draw has a rate above 0 GFLOP/s");
            return Err(Failure::Failed(message));
        }
        Ok(rows)
    }

    /// The rows that meet conditions, each of which some row must meet.
    fn meeting<'a>(
        &self,
        rows: &[Numbered<'a>],
        conditions: &[Condition],
    ) -> Result<Vec<Numbered<'a>>, Failure> {
        for condition in conditions {
            let place = self.place(&condition.column).map_err(Failure::Usage)?;
            if !rows.iter().any(|(_, row)| row[place] == condition.value) {
                let there = each_once(rows.iter().map(|(_, row)| &row[place]).collect());
                let there: Vec<_> = there.into_iter().map(printable).collect();
                let Condition { column, value } = condition;
                let message = format!(
                    "no such row: no {column} is {value:?}; expected one of {}",
                    there.join(", ")
                );
                return Err(Failure::Usage(message));
            }
        }
        let meets = |(_, row): &Numbered<'_>| self.meets(row, conditions);
        let met: Vec<_> = rows.iter().copied().filter(meets).collect();
        if met.is_empty() {
            let each = conditions.iter();
            let each: Vec<String> = each
                .map(|it| format!("{}={}", it.column, it.value))
                .collect();
            let message = format!("no such row: none has all of {}", each.join(", "));
            return Err(Failure::Usage(message));
        }
        Ok(met)
    }

    /// Whether each column that is named has one of the values that are given for it.
    fn meets(&self, row: &StringRecord, conditions: &[Condition]) -> bool {
        let has = |condition: &Condition| self.cell(row, &condition.column) == Ok(&condition.value);
        conditions.iter().all(|condition| {
            let mut same = conditions.iter().filter(|it| it.column == condition.column);
            same.any(has)
        })
    }

    /// The one device that made the rows.
    fn device(&self, rows: &[Numbered<'_>]) -> Result<String, Failure> {
        let place = self.place("device").map_err(Failure::Failed)?;
        let devices = each_once(rows.iter().map(|(_, row)| &row[place]).collect());
        match devices[..] {
            [device] => Ok(device.to_owned()),
            _ => {
                let devices: Vec<_> = devices.into_iter().map(printable).collect();
                let path = self.path.display();
                Err(Failure::Usage(format!(
                    "{path} has rows of several devices, each with its own roofs: {}; choose one with \
                     --only device=NAME",
                    devices.join(", ")
                )))
            }
        }
    }

    /// Returns the marks of the rows, and points out those that meet `mark`.
    fn saved(&self, rows: &[Numbered<'_>], mark: &[Condition]) -> Result<Vec<SavedRow>, Failure> {
        let differs = |column: &&str| {
            let cells = rows.iter().map(|(_, row)| self.cell(row, column));
            !cells.clone().all_equal()
        };
        let mut differing: Vec<&str> = self.curve_columns().filter(differs).collect();
        if !self.has_grids(rows, &differing) {
            differing.retain(|column| *column != GRID);
        }
        let saved = |row: &Numbered<'_>| {
            let is_marked = !mark.is_empty() && self.meets(row.1, mark);
            self.saved_row(*row, &differing, is_marked)
        };
        let rows: Result<_, _> = rows.iter().map(saved).collect();
        rows.map_err(Failure::Failed)
    }

    /// The columns whose values tell curves apart: kernel, type, and the axes but for the first, along which a curve goes.
    fn curve_columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.header.iter().skip(1);
        let axes = columns.take_while(|name| !CURVE.contains(name));
        axes.filter(|name| !is_outcome(name)).chain(CURVE)
    }

    /// Whether rows differ in their grids alone: most have more blocks where they have more elements.
    fn has_grids(&self, rows: &[Numbered<'_>], differing: &[&str]) -> bool {
        let mut grids: HashMap<Vec<&str>, &str> = HashMap::new();
        rows.iter().any(|(_, row)| {
            let cell = |column: &&str| self.cell(row, column).unwrap_or_default();
            let others = differing.iter().filter(|column| **column != GRID);
            let along = self.along(row).map(|(_, value)| value);
            let others: Vec<&str> = others.map(cell).chain(along).collect();
            let grid = cell(&GRID);
            *grids.entry(others).or_insert(grid) != grid
        })
    }

    /// The first axis, along which curves go, and its value.
    fn along<'a>(&'a self, row: &'a StringRecord) -> Option<(&'a str, &'a str)> {
        let (name, value) = (self.header.get(0)?, row.get(0)?);
        (!is_outcome(name)).then_some((name, value))
    }

    /// The types that a row's tensor cores multiply: none in rows from before there was a column for them.
    fn tensor_types(&self, row: &StringRecord) -> Vec<TensorType> {
        let cell = self.cell(row, "tensor_types").unwrap_or_default();
        let types = cell.split(' ').filter_map(TensorType::named);
        types.collect()
    }

    /// A row, in the curve of those that have the same values in the `differing` columns.
    fn saved_row(
        &self,
        numbered: Numbered<'_>,
        differing: &[&str],
        is_marked: bool,
    ) -> Result<SavedRow, String> {
        let (_, row) = numbered;
        let mut parts = Vec::new();
        for &column in differing {
            match (column, self.cell(row, column)?) {
                // Such as the elements per load of a kernel that has one way to load.
                (_, "") => {}
                ("kernel" | "dtype" | "device", cell) => parts.push(cell.to_owned()),
                (column, cell) => parts.push(format!("{column} {cell}")),
            }
        }
        if parts.is_empty() && !differing.is_empty() {
            parts.push(self.cell(row, "kernel")?.to_owned());
        }
        let gflops = self.positive(numbered, "gflops")?;
        let note = || -> Result<String, String> {
            let bound = self.cell(row, "bound")?;
            let along = self.along(row);
            let along =
                along.map_or_else(String::new, |(name, value)| format!("{name} = {value}: "));
            let mut rate = format!("{along}{}", FlopsPerSec(gflops * 1e9));
            // It is empty where a run had no ceilings.
            if !self.cell(row, "percent_measured_roof")?.is_empty() {
                let percent = self.positive(numbered, "percent_measured_roof")?;
                rate += &format!(", {percent:.0} % of the measured roof");
            }
            let of = parts.iter().map(String::as_str).chain([rate.as_str()]);
            Ok(format!(
                "{}. Bound: {bound}",
                of.collect::<Vec<_>>().join(", ")
            ))
        };
        let tensor_types = self.tensor_types(row);
        let precision = match self.cell(row, "dtype")?.parse() {
            Ok(precision) => Some(precision),
            // A type that tensor cores alone multiply.
            Err(_) if !tensor_types.is_empty() => None,
            Err(error) => return Err(format!("{}: {error}", self.path.display())),
        };
        Ok(SavedRow {
            note: is_marked.then(note).transpose()?,
            curve: parts.join(", "),
            precision,
            tensor_types,
            in_l2: self.cell(row, "working_set") == Ok("L2"),
            ai: self.positive(numbered, "ai")?,
            gflops,
        })
    }
}
