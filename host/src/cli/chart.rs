//! `ridgepoint chart`

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use csv::StringRecord;

use super::Failure;
use super::charts::{ChartFiles, chart_path};
use super::console::Console;
use super::output::target;
use crate::ceilings::Ceilings;
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
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path,
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

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = Table::read(&arguments.rows)?;
    for condition in arguments.only.iter().chain(&arguments.mark) {
        table.column(&condition.column).map_err(Failure::Usage)?;
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

/// A CSV.
struct Table {
    path: PathBuf,
    header: StringRecord,
    rows: Vec<StringRecord>,
}

impl Table {
    fn read(path: &Path) -> Result<Table, Failure> {
        let failed = |error| Failure::Failed(format!("cannot read {}: {error}", path.display()));
        let mut reader = csv::Reader::from_path(path).map_err(failed)?;
        Ok(Table {
            path: path.to_path_buf(),
            header: reader.headers().map_err(failed)?.clone(),
            rows: reader.records().collect::<Result<_, _>>().map_err(failed)?,
        })
    }

    /// The place of a column.
    fn column(&self, name: &str) -> Result<usize, String> {
        let place = self.header.iter().position(|it| it == name);
        place.ok_or_else(|| {
            let names: Vec<&str> = self.header.iter().collect();
            let path = self.path.display();
            format!("{path} has no column {name:?}: it has {}", names.join(", "))
        })
    }

    /// The rows that meet `only`, and of these pointed out those that meet `mark`.
    fn chosen(&self, only: &[Condition], mark: &[Condition]) -> Result<Vec<SavedRow>, Failure> {
        let chosen: Vec<&StringRecord> = self
            .rows
            .iter()
            .filter(|row| self.meets(row, only))
            .collect();
        if chosen.is_empty() {
            let path = self.path.display();
            return Err(Failure::Usage(format!("{path} has no such row")));
        }
        let differing: Vec<(&str, usize)> = CURVE
            .iter()
            .filter_map(|name| Some((*name, self.column(name).ok()?)))
            .filter(|(_, place)| chosen.iter().any(|row| row[*place] != chosen[0][*place]))
            .collect();
        let row = |row: &&StringRecord| -> Result<SavedRow, String> {
            let text = |name: &str| Ok::<_, String>(row[self.column(name)?].to_owned());
            let number = |name: &str| {
                let cell = text(name)?;
                let path = self.path.display();
                cell.parse()
                    .map_err(|_| format!("{path}: {name} is {cell:?}, no number"))
            };
            let curve = differing.iter().map(|(name, place)| match *name {
                "kernel" | "dtype" | "device" => row[*place].to_owned(),
                name => format!("{name} {}", &row[*place]),
            });
            let curve = curve.collect::<Vec<_>>().join(", ");
            let gflops: f64 = number("gflops")?;
            let note = || -> Result<String, String> {
                let of = if curve.is_empty() {
                    String::new()
                } else {
                    format!("{curve}, ")
                };
                let (k, bound) = (text("k")?, text("bound")?);
                let percent: f64 = number("percent_measured_roof")?;
                let tera = gflops / 1e3;
                Ok(format!(
                    "{of}k = {k}: {tera:.2} TFLOP/s, {percent:.0} % of its roof. Bound: {bound}"
                ))
            };
            let is_marked = !mark.is_empty() && self.meets(row, mark);
            let note = is_marked.then(note).transpose()?;
            Ok(SavedRow {
                curve,
                dtype: text("dtype")?,
                ai: number("ai")?,
                gflops,
                note,
            })
        };
        chosen
            .iter()
            .map(row)
            .collect::<Result<_, _>>()
            .map_err(Failure::Failed)
    }

    /// Whether each column that is named has one of the values that are given for it.
    fn meets(&self, row: &StringRecord, conditions: &[Condition]) -> bool {
        let has = |condition: &Condition| {
            let place = self.column(&condition.column);
            place.is_ok_and(|place| row[place] == condition.value)
        };
        conditions.iter().all(|condition| {
            let mut same = conditions.iter().filter(|it| it.column == condition.column);
            same.any(has)
        })
    }
}
