//! Rows of files: their columns, their formats, and their text on a terminal. Reports write them, and
//! comparisons read them.

mod columns;
pub(crate) mod heading;
mod occupancy_columns;
mod recognized;
mod roofline_columns;
mod studies;
mod text;
mod times;
mod write;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

pub use columns::is_outcome;
pub(crate) use columns::{
    Column, ColumnValue, Named, OCCUPANCY, ROOFLINE, Rule, cell, columns, has_cells, has_lists,
    is_known, is_of_the_clock, known, number, record, with_digits,
};
pub(crate) use occupancy_columns::occupancy_columns;
pub use recognized::other_than_a_roofline;
pub(crate) use recognized::{foreign, json_that_is_no};
pub(crate) use roofline_columns::roofline_columns;
pub use studies::StudyRows;
pub(crate) use studies::{Against, Panel, Quantity, Study, Unit};
pub(crate) use text::significant;
pub use text::{Look, Width, counted, listed, text};
pub use times::{Times, TimesRow, duration_text, time_text, times_table};
pub(crate) use write::{element, fields, row};

/// The most bytes of a file of rows that are read.
pub const MAX_ROWS_BYTES: u64 = 256 << 20;

/// The version of the format of the files of rows that are written. Files that do not say theirs are of version 1.
pub const FORMAT: u32 = 2;

/// A column's name and the text of its cell in a row.
pub type Cell = (&'static str, String);

/// A row of a table.
pub trait Row: Serialize {
    /// Each column's name and cell. The names are the same in all rows of a table.
    fn columns(&self) -> Vec<Cell>;
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, a header and one row per record.
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

/// The ending of a file's name that asks for it.
impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Markdown => "md",
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
            _ => Err("expected csv, json or md".to_owned()),
        }
    }
}
