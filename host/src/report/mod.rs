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

use std::path::Path;
use std::str::FromStr;

pub use canvas::{ChartError, ChartFormat};
pub use ceilings::{ceilings_json, ceilings_table};
pub use chart::Chart;
pub use columns::{Cell, Row};
pub use comparison::{comparison_text, spread_table};
pub use html::HtmlReport;
pub use kernels::{kernels_csv, kernels_json, kernels_markdown, kernels_table};
pub use occupancy::{model_table, study_summary, study_text};
pub use occupancy_chart::OccupancyChart;
pub use rows::{RowText, row_count, row_text, rows_table};
pub use run::RunFacts;
pub use saved_chart::{SavedChart, SavedRow};

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
    /// The format that a file's name asks for by its ending: CSV if it has none, and `None` if the
    /// ending is not a format's.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension() {
            None => Some(Format::Csv),
            Some(ending) => ending.to_str()?.to_ascii_lowercase().parse().ok(),
        }
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
