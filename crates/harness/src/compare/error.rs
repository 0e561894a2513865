//! Why rows are not read, compared or merged.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::PathBuf;

use itertools::Itertools;

use super::Table;
use super::table::column;

/// Why a file is not compared, merged or drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The action that failed.
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
        /// The reason.
        error: String,
    },
    /// Its first bytes are not those of text in UTF-8.
    #[error("{} is {encoding}", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The format that they belong to, and what helps.
        encoding: &'static str,
    },
    /// Another tool has written it, or another command of this program.
    #[error("{} is {kind}, not rows that ridgepoint wrote", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        kind: &'static str,
    },
    /// Its format is of a later version than this program knows.
    #[error("{}, row {row}: format {version}; this ridgepoint reads formats up to {}: use the one that wrote it, or a newer one", path.display(), crate::table::FORMAT)]
    Newer {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// The version.
        version: String,
    },
    /// A row of a JSON is no object.
    #[error("{}, row {row}: a row must be an object whose fields are numbers, words and lists of them", path.display())]
    NoObject {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
    },
    /// Its columns are separated by another character.
    #[error("{}: the columns are separated by {separator:?}; ridgepoint reads commas", path.display())]
    Separator {
        /// The file.
        path: PathBuf,
        /// The character.
        separator: char,
    },
    /// Two columns, or two fields of a row of JSON, have one name.
    #[error("{}: the column {column} occurs twice; rename one of them", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// A column has no name.
    #[error("{}: column {column} has no name", path.display())]
    Unnamed {
        /// The file.
        path: PathBuf,
        /// The column, from 1.
        column: usize,
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
        column: String,
        /// Its text.
        cell: String,
        /// The values that it may hold.
        wanted: &'static str,
    },
    /// Its columns are others than those of the file before.
    #[error("{} has other columns than {}: {difference}; --fill leaves the cells empty that a file has no column for", path.display(), first.display())]
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

/// Why two tables are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotComparable {
    /// No launch was measured both before and after.
    #[error(
        "nothing to compare: none of the {before} launches before is among the {after} after. The first before: \
         {first_before}; the nearest after has {difference}"
    )]
    NothingInCommon {
        /// The rows before.
        before: usize,
        /// The rows after.
        after: usize,
        /// The first launch before.
        first_before: String,
        /// The columns in which the launch after that is most like it differs.
        difference: String,
    },
    /// A column is to be ignored that no launch has, or that every comparison needs.
    #[error("{column:?} cannot be ignored: {reason}")]
    Ignored {
        /// The column.
        column: String,
        /// Why not.
        reason: &'static str,
    },
    /// The rows are of different devices.
    #[error(
        "the rows before are of {before}, those after of {after}; `compare --across-devices` compares them nevertheless"
    )]
    Devices {
        /// The devices before.
        before: String,
        /// The devices after.
        after: String,
    },
}

/// Fails where both tables name their devices, and not the same ones.
pub(super) fn same_devices(before: &Table, after: &Table) -> Result<(), NotComparable> {
    let devices = |table: &Table| -> BTreeSet<String> {
        table
            .rows
            .iter()
            .filter_map(|row| row.device.clone())
            .collect()
    };
    let (before, after) = (devices(before), devices(after));
    if before == after || before.is_empty() || after.is_empty() {
        return Ok(());
    }
    let list = |devices: &BTreeSet<String>| devices.iter().join(" and ");
    Err(NotComparable::Devices {
        before: list(&before),
        after: list(&after),
    })
}

/// Names the columns in which the first launch before and the one after that is most like it differ.
pub(super) fn nothing_in_common(before: &Table, after: &Table) -> NotComparable {
    let first = before.rows.first();
    let own: BTreeSet<&str> = first.iter().flat_map(|row| row.key.lines()).collect();
    let others = after.rows.iter().map(|row| {
        let theirs: BTreeSet<&str> = row.key.lines().collect();
        let columns: BTreeSet<&str> = own
            .symmetric_difference(&theirs)
            .map(|part| column(part))
            .collect();
        (columns.len(), theirs, columns)
    });
    let nearest = others.min_by_key(|(count, ..)| *count);
    let difference = nearest.map(|(_, theirs, columns)| {
        let cell = |name: &&str| {
            let own = theirs.iter().find(|part| column(part) == *name);
            own.map_or_else(|| format!("no {name}"), |part| part.replacen('\t', " ", 1))
        };
        columns.iter().map(cell).join(", ")
    });
    NotComparable::NothingInCommon {
        before: before.rows.len(),
        after: after.rows.len(),
        first_before: first.map(|row| row.launch.clone()).unwrap_or_default(),
        difference: difference.unwrap_or_default(),
    }
}
