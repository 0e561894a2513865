//! Why rows are not read, compared or merged.

use std::fmt;
use std::io;
use std::path::PathBuf;

use itertools::Itertools;

/// Why a file is not compared, merged or drawn.
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
    /// It begins like JSON and is not what ridgepoint writes as such.
    #[error("{} holds no whole JSON document with rows that ridgepoint wrote: {error}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// There is nothing in it, or nothing but a header.
    #[error("{} has no rows", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing in any of the files, or nothing but headers.
    #[error("nothing to merge: no rows in {}", paths.iter().map(|path| path.display()).join(", "))]
    NothingToMerge {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// A row of a JSON has other fields than the first.
    #[error("{}, row {row}: other fields than the first row's: {difference}", path.display())]
    Fields {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// Which.
        difference: String,
    },
    /// Its last row is not whole, so nobody knows what it was.
    #[error("{0}. Remove what is left of it, or measure again")]
    Torn(Torn),
    /// It has no such column.
    #[error("{}: no column {column}: only rows of roofline and occupancy can be compared", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A row has more or fewer cells than there are columns.
    #[error("{}, row {row}: {actual} cells in {expected} columns", path.display())]
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
    /// A cell is not what its column holds.
    #[error("{}, row {row}: {column} is {cell:?}; it must be {wanted}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// The column.
        column: &'static str,
        /// What it holds.
        cell: String,
        /// What it may hold.
        wanted: &'static str,
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

/// A last row that is not whole, as a killed run or a full disk leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// The file.
    pub path: PathBuf,
    /// The row, from 1.
    pub row: usize,
    /// Its cells, the last of which may be part of one.
    pub cells: usize,
    /// The columns.
    pub columns: usize,
}

impl fmt::Display for Torn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Torn {
            path,
            row,
            cells,
            columns,
        } = self;
        let path = path.display();
        write!(
            formatter,
            "{path}, row {row} is torn: {cells} of {columns} cells"
        )?;
        if cells == columns {
            write!(formatter, " and no end of line")?;
        }
        Ok(())
    }
}

/// No launch was measured both before and after.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing to compare: none of the {before} launches before is among the {after} after. The first \
     before: {first_before}; the first after: {first_after}"
)]
#[non_exhaustive]
pub struct NothingInCommon {
    /// The rows before.
    pub before: usize,
    /// The rows after.
    pub after: usize,
    /// The first launch before.
    pub first_before: String,
    /// The first launch after.
    pub first_after: String,
}
