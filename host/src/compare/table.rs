//! Rows of a run, from its CSV.

use std::io;
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord};

use crate::report::Row;

/// The columns that say what a launch was; the others are what came out. A table has some of them.
const LAUNCH: [&str; 11] = [
    "kernel",
    "dtype",
    "vector",
    "ilp",
    "max_registers",
    "n",
    "block",
    "dynamic_shared",
    "grid",
    "cache",
    "k",
];

/// Samples of a row that does not say how many: what `--runs` is by default.
const SAMPLES: f64 = 10.0;

/// Why a file is not compared or merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// It has no such column.
    #[error("{}: no column {column}: is it a CSV that ridgepoint wrote?", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A row has more or fewer cells than there are columns.
    #[error("{}, row {row}: {actual} cells, not {expected}", path.display())]
    Cells {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// Its cells.
        actual: usize,
        /// The columns.
        expected: usize,
    },
    /// A cell is no number.
    #[error("{}, row {row}: {column} is {cell:?}", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// The column.
        column: &'static str,
        /// What it holds.
        cell: String,
    },
    /// Its columns are others than those of the file before.
    #[error("{} has other columns than {}: {difference}", path.display(), first.display())]
    OtherColumns {
        /// The file.
        path: PathBuf,
        /// The one before.
        first: PathBuf,
        /// Which.
        difference: String,
    },
}

/// Rows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(super) rows: Vec<Measured>,
}

/// A row, as far as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) launch: String,
    pub(super) median_ms: f64,
    pub(super) rms_percent: f64,
    pub(super) samples: f64,
    pub(super) noise_floor_percent: f64,
    pub(super) flags: Vec<String>,
}

/// A CSV as it is.
pub(crate) struct Raw {
    pub(crate) header: StringRecord,
    pub(crate) rows: Vec<StringRecord>,
}

impl Table {
    /// The rows of a CSV that ridgepoint wrote.
    ///
    /// # Errors
    /// The file cannot be read, or has other columns.
    pub fn read(path: &Path) -> Result<Table, TableError> {
        Table::of(&Raw::read(path)?, path)
    }

    /// The rows that a run has just measured.
    ///
    /// # Errors
    /// Their columns lack one that is needed.
    pub fn of_records<R: Row>(records: &[R]) -> Result<Table, TableError> {
        let cells = |record: &R| R::COLUMNS.iter().map(|(_, text)| text(record)).collect();
        let raw = Raw {
            header: R::COLUMNS.iter().map(|(name, _)| *name).collect(),
            rows: records.iter().map(cells).collect(),
        };
        Table::of(&raw, Path::new("this run"))
    }

    fn of(raw: &Raw, path: &Path) -> Result<Table, TableError> {
        let rows = raw.rows.iter().enumerate().map(|(index, row)| {
            let number = |column: &'static str| {
                let cell = raw.cell(row, column).ok_or_else(|| TableError::NoColumn {
                    path: path.to_path_buf(),
                    column,
                })?;
                let number: Option<f64> = cell.parse().ok();
                number
                    .filter(|it| it.is_finite())
                    .ok_or_else(|| TableError::NoNumber {
                        path: path.to_path_buf(),
                        row: index + 1,
                        column,
                        cell: cell.to_owned(),
                    })
            };
            let optional = |column| raw.cell(row, column).and_then(|cell| cell.parse().ok());
            let flags = raw.cell(row, "flags").unwrap_or_default();
            Ok(Measured {
                launch: raw.launch(row),
                median_ms: number("median_ms")?,
                rms_percent: number("rms_percent")?,
                samples: optional("samples").unwrap_or(SAMPLES),
                noise_floor_percent: optional("noise_floor_percent").unwrap_or(0.0),
                flags: flags.split_whitespace().map(str::to_owned).collect(),
            })
        });
        rows.collect::<Result<_, _>>().map(|rows| Table { rows })
    }
}

impl Raw {
    /// Reads a file. A last row that is not whole, as a full disk leaves it, is left out.
    pub(crate) fn read(path: &Path) -> Result<Raw, TableError> {
        let failed = |error: csv::Error| TableError::Io {
            action: "read",
            path: path.to_path_buf(),
            error: error.into(),
        };
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .from_path(path)
            .map_err(failed)?;
        let header = reader.headers().map_err(failed)?.clone();
        let mut rows = reader
            .records()
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        rows.pop_if(|last| last.len() < header.len());
        match rows.iter().position(|row| row.len() != header.len()) {
            Some(index) => Err(TableError::Cells {
                path: path.to_path_buf(),
                row: index + 1,
                actual: rows[index].len(),
                expected: header.len(),
            }),
            None => Ok(Raw { header, rows }),
        }
    }

    pub(crate) fn cell<'a>(&self, row: &'a StringRecord, column: &str) -> Option<&'a str> {
        let place = self.header.iter().position(|name| name == column)?;
        row.get(place)
    }

    /// `kernel copy, n 1024 ..`
    fn launch(&self, row: &StringRecord) -> String {
        let part = |name: &&str| {
            let cell = self.cell(row, name).filter(|cell| !cell.is_empty())?;
            Some(format!("{name} {cell}"))
        };
        LAUNCH
            .iter()
            .filter_map(part)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The rows of several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many there are.
    pub rows: usize,
    /// All of them.
    pub csv: Vec<u8>,
}

/// Puts the rows of several CSV files with the same columns into one text.
///
/// # Errors
/// A file cannot be read, or has other columns than the first.
pub fn merge(inputs: &[PathBuf]) -> Result<Merged, TableError> {
    let tables = inputs
        .iter()
        .map(|path| Raw::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let first = tables.first();
    for (table, path) in tables.iter().zip(inputs) {
        if let Some(first) = first.filter(|first| first.header != table.header) {
            return Err(TableError::OtherColumns {
                path: path.clone(),
                first: inputs[0].clone(),
                difference: difference(&first.header, &table.header),
            });
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = tables.iter().flat_map(|table| &table.rows);
    let all: Vec<_> = first
        .map(|first| &first.header)
        .into_iter()
        .chain(rows)
        .collect();
    let written = all.iter().try_for_each(|row| writer.write_record(*row));
    written.expect("memory takes all");
    Ok(Merged {
        rows: all.len().saturating_sub(1),
        csv: writer.into_inner().expect("memory takes all"),
    })
}

/// The names that only one of the two has, or that their order differs.
fn difference(first: &StringRecord, other: &StringRecord) -> String {
    let lacks = |from: &StringRecord, name: &str| !from.iter().any(|it| it == name);
    let missing = first
        .iter()
        .filter(|name| lacks(other, name))
        .map(|name| format!("no {name}"));
    let added = other
        .iter()
        .filter(|name| lacks(first, name))
        .map(|name| format!("also {name}"));
    let all: Vec<String> = missing.chain(added).collect();
    if all.is_empty() {
        "another order".to_owned()
    } else {
        all.join(", ")
    }
}
