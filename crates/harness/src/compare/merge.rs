//! Rows of several files in one.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use csv::StringRecord;
use itertools::Itertools;
use serde_json::value::RawValue;

use super::rows::{Cells, Rows, is_own};
use super::{TableError, Torn};
use crate::driver::printable;
use crate::table::{self, Format, is_outcome, with_digits};

/// Files with the same columns, in any order, which are opened.
pub struct Merge {
    inputs: Vec<Rows>,
    header: StringRecord,
}

/// The treatment of cells that a file has no column for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// Files of an earlier format lack columns of results, whose cells are empty; another column that one file lacks is an
    /// error.
    OfEarlierFormats,
    /// They are empty, whatever the column is.
    Any,
}

/// The columns that a file lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lacks {
    /// The file.
    pub path: PathBuf,
    /// The columns, whose cells are empty.
    pub columns: Vec<String>,
}

/// Where the rows of all go.
pub struct MergeOutput<'a> {
    /// Its name, for errors.
    pub path: PathBuf,
    /// The format.
    pub format: Format,
    /// The place to write to.
    pub writer: Box<dyn Write + 'a>,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Rows written.
    pub rows: usize,
    /// Last rows that are not whole and were left out.
    pub torn: Vec<Torn>,
    /// Files that lack columns.
    pub lacks: Vec<Lacks>,
}

impl Merge {
    /// Opens CSV and JSON files that ridgepoint wrote, and compares their columns with the first's.
    ///
    /// # Errors
    /// As [`Rows::open`](super::Rows::open); [`TableError::OtherColumns`]: a file has other columns than
    /// the first, and these may not be empty; [`TableError::NothingToMerge`]: no file has rows.
    pub fn open(inputs: &[PathBuf], lacking: Lacking) -> Result<Merge, TableError> {
        let opened = inputs.iter().map(|path| Rows::open(path));
        let mut opened = opened.collect::<Result<Vec<_>, _>>()?;
        let mut has_rows = false;
        for rows in &mut opened {
            has_rows |= rows.has_rows()?;
        }
        if !has_rows {
            let paths = inputs.to_vec();
            return Err(TableError::NothingToMerge { paths });
        }
        let inputs = opened;
        let with_columns = || inputs.iter().filter(|rows| !rows.header().is_empty());
        let mut header = StringRecord::new();
        if let Some(first) = with_columns().next() {
            if lacking == Lacking::OfEarlierFormats {
                for rows in with_columns() {
                    same_columns(first, rows)?;
                }
            }
            let all = with_columns().flat_map(Rows::header).unique();
            header = all.collect();
        }
        Ok(Merge { inputs, header })
    }

    /// Writes the rows of one file after those of the other, without having all of them in memory.
    ///
    /// # Errors
    /// As the rows of [`Rows`](super::Rows): one has other cells than columns ([`TableError::Cells`]),
    /// other fields ([`TableError::Fields`]), or cannot be read ([`TableError::Io`]); an output cannot be
    /// written ([`TableError::Io`]).
    pub fn write(mut self, outputs: Vec<MergeOutput<'_>>) -> Result<Merged, TableError> {
        let mut merged = Merged {
            rows: 0,
            torn: Vec::new(),
            lacks: self
                .inputs
                .iter()
                .filter_map(|rows| self.lacks(rows))
                .collect(),
        };
        let runs: Vec<&RawValue> = self
            .inputs
            .iter()
            .flat_map(Rows::runs)
            .map(AsRef::as_ref)
            .collect();
        let begin = |output| Sink::begin(output, &runs);
        let mut sinks = outputs
            .into_iter()
            .map(begin)
            .collect::<Result<Vec<_>, _>>()?;
        for rows in &mut self.inputs {
            let places = places(&self.header, rows.header());
            for row in rows.by_ref() {
                let row = row?;
                let cell = |place: &Option<usize>| place.map_or("", |place| &row.text[place]);
                let text = places.iter().map(cell).collect();
                // Rows of one file have the same fields.
                let json = row.json.filter(|_| !places.contains(&None));
                let row = Cells { text, json };
                for sink in &mut sinks {
                    sink.row(&self.header, &row)?;
                }
                merged.rows += 1;
            }
            merged.torn.extend(rows.torn().cloned());
        }
        sinks.into_iter().try_for_each(Sink::finish)?;
        Ok(merged)
    }

    fn lacks(&self, rows: &Rows) -> Option<Lacks> {
        let own = rows.header();
        let missing = self
            .header
            .iter()
            .filter(|name| !own.iter().any(|it| it == *name));
        let columns: Vec<String> = missing.map(|name| printable(name).into_owned()).collect();
        (!own.is_empty() && !columns.is_empty()).then(|| Lacks {
            path: rows.path().to_path_buf(),
            columns,
        })
    }
}

/// Where each of the `wanted` columns is among the `actual` ones.
fn places(wanted: &StringRecord, actual: &StringRecord) -> Vec<Option<usize>> {
    let place = |name| actual.iter().position(|it| it == name);
    wanted.iter().map(place).collect()
}

/// # Errors
/// [`TableError::OtherColumns`]: the names that only one of the two has, but for those of results in rows of this program, which
/// files of another format lack.
fn same_columns(first: &Rows, other: &Rows) -> Result<(), TableError> {
    let are_own = first.is_own() && other.is_own();
    let lacks = |rows: &Rows, name: &str| {
        !(are_own && is_outcome(name)) && !rows.header().iter().any(|it| it == name)
    };
    let only = |of: &Rows, other: &Rows, word: &str| -> Vec<String> {
        let names = of.header().iter().filter(|name| lacks(other, name));
        names
            .map(|name| format!("{word} {}", printable(name)))
            .collect()
    };
    let difference = [only(first, other, "no"), only(other, first, "also")].concat();
    if difference.is_empty() {
        return Ok(());
    }
    Err(TableError::OtherColumns {
        path: other.path().to_path_buf(),
        first: first.path().to_path_buf(),
        difference: difference.join(", "),
    })
}

/// An output that rows are written to.
struct Sink<'a> {
    path: PathBuf,
    format: Format,
    writer: BufWriter<Box<dyn Write + 'a>>,
    /// The beginning of JSON.
    head: String,
    rows: usize,
}

impl<'a> Sink<'a> {
    fn begin(output: MergeOutput<'a>, runs: &[&RawValue]) -> Result<Sink<'a>, TableError> {
        let runs = serde_json::to_string(runs);
        let runs = runs.map_err(|error| cannot_write(&output.path, error.into()))?;
        Ok(Sink {
            path: output.path,
            format: output.format,
            writer: BufWriter::new(output.writer),
            head: format!("{{\"runs\": {runs},\n\"rows\": ["),
            rows: 0,
        })
    }

    fn row(&mut self, header: &StringRecord, row: &Cells) -> Result<(), TableError> {
        let text = self.text(header, row);
        let written = text.and_then(|text| self.writer.write_all(&text));
        self.rows += 1;
        written.map_err(|error| cannot_write(&self.path, error))
    }

    fn text(&self, header: &StringRecord, row: &Cells) -> io::Result<Vec<u8>> {
        match (self.format, &row.json) {
            (Format::Json, Some(json)) => table::element(json, self.rows, &self.head),
            (Format::Json, None) => {
                let json = RawValue::from_string(object(header, &row.text)?)?;
                table::element(&json, self.rows, &self.head)
            }
            _ if is_own(header) => {
                let cells = header.iter().zip(&row.text);
                let cells: Vec<_> = cells.map(|(name, cell)| with_digits(name, cell)).collect();
                table::row(
                    header,
                    cells.iter().map(AsRef::as_ref),
                    self.format,
                    self.rows,
                )
            }
            _ => table::row(header, &row.text, self.format, self.rows),
        }
    }

    fn finish(mut self) -> Result<(), TableError> {
        let tail = match self.format {
            Format::Json => "\n]}\n",
            Format::Csv | Format::Markdown => "",
        };
        let written = self.writer.write_all(tail.as_bytes());
        let finished = written.and_then(|()| self.writer.flush());
        finished.map_err(|error| cannot_write(&self.path, error))
    }
}

fn cannot_write(path: &Path, error: io::Error) -> TableError {
    TableError::Io {
        action: "write",
        path: path.to_path_buf(),
        error,
    }
}

/// The row of a CSV as an object: numbers with the digits that they have, empty cells as null.
fn object(header: &StringRecord, cells: &StringRecord) -> io::Result<String> {
    let mut fields = Vec::new();
    for (name, cell) in header.iter().zip(cells) {
        let is_number = cell.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && serde_json::from_str::<f64>(cell).is_ok();
        let value = match cell {
            "" => "null".to_owned(),
            "true" | "false" => cell.to_owned(),
            _ if is_number => cell.to_owned(),
            _ => serde_json::to_string(cell)?,
        };
        fields.push(format!("{}:{value}", serde_json::to_string(name)?));
    }
    Ok(format!("{{{}}}", fields.join(",")))
}
