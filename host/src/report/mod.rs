//! Records as text, tables, files and charts, each over `impl Write`.

mod canvas;
mod ceilings;
mod chart;
mod columns;
mod comparison;
mod csv;
mod html;
mod json;
mod kernels;
mod markdown;
mod occupancy;
mod occupancy_chart;
mod roofs;
mod rows;
mod run;
mod saved_chart;
pub mod terminal;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

pub use canvas::{ChartError, ChartFormat};
pub use ceilings::{ceilings_json, ceilings_table};
pub use chart::Chart;
pub use columns::{Column, Row};
pub use comparison::{comparison_text, spread_table};
pub use html::HtmlReport;
pub use kernels::{kernels_csv, kernels_json, kernels_markdown, kernels_table};
pub use occupancy::{model_table, study_summary, study_text};
pub use occupancy_chart::OccupancyChart;
pub use rows::{rows_table, write_rows};
pub use run::RunFacts;
pub use saved_chart::{SavedChart, SavedRow};

/// A file that rows are added to as they are measured.
pub trait Report<R: Row> {
    /// Adds a row, and hands it to the operating system.
    ///
    /// # Errors
    /// The row could not be written. Earlier ones are not touched.
    fn row(&mut self, record: &R) -> io::Result<()>;

    /// Ends the file. Without it a CSV and a Markdown table are whole all the same.
    ///
    /// # Errors
    /// The end could not be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, a header and a row a record.
    Csv,
    /// One object: the run, and the rows with every sample.
    Json,
    /// A table.
    Markdown,
}

impl Format {
    /// The format that a file's name asks for by its ending: CSV unless it is `.json` or `.md`.
    pub fn of(path: &Path) -> Format {
        let ending = path.extension().and_then(OsStr::to_str);
        ending
            .and_then(|ending| ending.parse().ok())
            .unwrap_or(Format::Csv)
    }

    /// Begins a report with what comes before the first row.
    ///
    /// # Errors
    /// It could not be written.
    pub fn begin<'a, R: Row>(
        self,
        output: impl Write + 'a,
        run: &RunFacts,
    ) -> io::Result<Box<dyn Report<R> + 'a>> {
        Ok(match self {
            Format::Csv => Box::new(csv::Csv::begin::<R>(output)?),
            Format::Json => Box::new(json::Json::begin(output, run)?),
            Format::Markdown => Box::new(markdown::Markdown::begin::<R>(output)?),
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "md" => Ok(Format::Markdown),
            _ => Err(format!("{text:?} is none of csv, json and md")),
        }
    }
}
