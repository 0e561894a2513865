//! `ridgepoint chart`

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use csv::StringRecord;

use super::Failure;
use super::charts::{ChartFiles, chart_path};
use super::console::Console;
use super::files::Files;
use super::output::target;
use crate::ceilings::Ceilings;
use crate::compare::Raw;
use crate::model::Precision;
use crate::report::{SavedChart, SavedRow};

/// The columns whose values tell curves apart, as far as a file has them.
const CURVE: [&str; 9] = [
    "kernel", "dtype", "vector", "ilp", "n", "block", "grid", "cache", "device",
];

#[derive(Args)]
pub(super) struct Arguments {
    /// Rows that `ridgepoint roofline` wrote, as CSV
    rows: PathBuf,

    /// Ceilings of the same device that `ridgepoint ceilings --output FILE.json` wrote: the roofs
    #[arg(long, value_name = "FILE")]
    ceilings: PathBuf,

    /// Rows to draw, such as kernel=horner,grid=1056: each column has one of the values that are given
    /// for it [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Condition>,

    /// Rows to point out, of those
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    mark: Vec<Condition>,

    /// The title
    #[arg(long, value_name = "TEXT", default_value = "Roofline")]
    title: String,

    /// Where the chart goes: names that end in .svg or .png
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path(),
          required = true)]
    output: Vec<PathBuf>,
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
        let (column, value) = parts.ok_or("a column and a value such as k=50 are needed")?;
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
            .inputs("--ceilings", [&self.ceilings])
            .outputs("--output", &self.output)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = Table::read(&arguments.rows)?;
    for condition in arguments.only.iter().chain(&arguments.mark) {
        let header = table.cell(&table.csv.header, &condition.column);
        header.map_err(Failure::Usage)?;
    }
    let rows = table.chosen(&arguments.only, &arguments.mark)?;
    let ceilings = read_ceilings(&arguments.ceilings)?;
    let chart = SavedChart {
        title: &arguments.title,
        rows: &rows,
        ceilings: &ceilings,
    };
    let files = ChartFiles::open(&arguments.output)?;
    let console = Console::new(target(false, &arguments.output), 0);
    files.write(&console, |format, file| chart.write(format, file))
}

fn read_ceilings(path: &Path) -> Result<Ceilings, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Failed(format!("cannot read {}: {error}", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    serde_json::from_slice(&text).map_err(|error| failed(&error))
}

/// A CSV, and where it comes from.
struct Table {
    path: PathBuf,
    csv: Raw,
}

impl Table {
    fn read(path: &Path) -> Result<Table, Failure> {
        Ok(Table {
            path: path.to_path_buf(),
            csv: Raw::read(path).map_err(Failure::failed)?,
        })
    }

    /// A row's cell in a column.
    fn cell<'a>(&self, row: &'a StringRecord, column: &str) -> Result<&'a str, String> {
        self.csv.cell(row, column).ok_or_else(|| {
            let names: Vec<&str> = self.csv.header.iter().collect();
            let (path, names) = (self.path.display(), names.join(", "));
            format!("{path} has no column {column:?}: it has {names}")
        })
    }

    fn number(&self, row: &StringRecord, column: &str) -> Result<f64, String> {
        let cell = self.cell(row, column)?;
        let path = self.path.display();
        cell.parse()
            .map_err(|_| format!("{path}: {column} is {cell:?}, no number"))
    }

    fn precision(&self, row: &StringRecord) -> Result<Precision, String> {
        let parsed = self.cell(row, "dtype")?.parse();
        parsed.map_err(|error: String| format!("{}: {error}", self.path.display()))
    }

    /// The rows that meet `only`, and of these pointed out those that meet `mark`.
    fn chosen(&self, only: &[Condition], mark: &[Condition]) -> Result<Vec<SavedRow>, Failure> {
        let rows = self.csv.rows.iter();
        let chosen: Vec<&StringRecord> = rows.filter(|row| self.meets(row, only)).collect();
        let Some(first) = chosen.first() else {
            let path = self.path.display();
            return Err(Failure::Usage(format!("{path} has no such row")));
        };
        let differs = |column: &&str| {
            let cell = |row| self.csv.cell(row, column);
            chosen.iter().any(|row| cell(row) != cell(first))
        };
        let differing: Vec<&str> = CURVE.into_iter().filter(differs).collect();
        let saved = |row: &&StringRecord| {
            let is_marked = !mark.is_empty() && self.meets(row, mark);
            self.saved(row, &differing, is_marked)
        };
        let rows: Result<_, _> = chosen.iter().map(saved).collect();
        rows.map_err(Failure::Failed)
    }

    /// A row, in the curve of those that have the same values in the `differing` columns.
    fn saved(
        &self,
        row: &StringRecord,
        differing: &[&str],
        is_marked: bool,
    ) -> Result<SavedRow, String> {
        let part = |&column: &&str| match (column, self.cell(row, column)?) {
            ("kernel" | "dtype" | "device", cell) => Ok(cell.to_owned()),
            (column, cell) => Ok(format!("{column} {cell}")),
        };
        let parts: Vec<String> = differing.iter().map(part).collect::<Result<_, String>>()?;
        let gflops = self.number(row, "gflops")?;
        let note = || -> Result<String, String> {
            let (k, bound) = (self.cell(row, "k")?, self.cell(row, "bound")?);
            let percent = self.number(row, "percent_measured_roof")?;
            let tera = gflops / 1e3;
            let rate = format!("k = {k}: {tera:.2} TFLOP/s, {percent:.0} % of its roof");
            let of = parts.iter().map(String::as_str).chain([rate.as_str()]);
            Ok(format!(
                "{}. Bound: {bound}",
                of.collect::<Vec<_>>().join(", ")
            ))
        };
        Ok(SavedRow {
            note: is_marked.then(note).transpose()?,
            curve: parts.join(", "),
            precision: self.precision(row)?,
            ai: self.number(row, "ai")?,
            gflops,
        })
    }

    /// Whether each column that is named has one of the values that are given for it.
    fn meets(&self, row: &StringRecord, conditions: &[Condition]) -> bool {
        let has = |condition: &Condition| {
            self.csv.cell(row, &condition.column) == Some(condition.value.as_str())
        };
        conditions.iter().all(|condition| {
            let mut same = conditions.iter().filter(|it| it.column == condition.column);
            same.any(has)
        })
    }
}
