//! Rows of a run, as far as they are compared.

use std::path::Path;

use csv::StringRecord;

use super::{Rows, TableError};
use crate::driver::printable;
use crate::table::{Row, is_outcome};

/// Samples of a row that does not say how many: what `--runs` is by default.
const SAMPLES: f64 = 10.0;

/// Rows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(super) rows: Vec<Measured>,
}

/// A row, as far as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// What the launch was, for people.
    pub(super) launch: String,
    /// The same, whatever the order of the columns is.
    pub(super) key: String,
    pub(super) median_ms: f64,
    pub(super) rms_percent: f64,
    pub(super) samples: f64,
    pub(super) noise_floor_percent: f64,
    pub(super) flags: Vec<String>,
}

impl Table {
    /// The rows of a CSV or a JSON that ridgepoint wrote.
    ///
    /// # Errors
    /// As [`Rows::open`](super::Rows::open); [`TableError::NoColumn`]: a column that is compared is
    /// missing; [`TableError::Value`]: a cell of it holds no number; [`TableError::NoRows`];
    /// [`TableError::Torn`]: the last row is not whole.
    pub fn read(path: &Path) -> Result<Table, TableError> {
        let mut saved = Rows::open(path)?;
        let columns = Columns::of(saved.header());
        let rows = saved
            .by_ref()
            .enumerate()
            .map(|(index, row)| columns.measured(&row?.text, index + 1, path))
            .collect::<Result<Vec<_>, _>>()?;
        match saved.torn() {
            Some(torn) => Err(TableError::Torn(torn.clone())),
            None if rows.is_empty() => Err(TableError::NoRows {
                path: path.to_path_buf(),
            }),
            None => Ok(Table { rows }),
        }
    }

    /// What tells the rows' launches apart, in order: [`Change::key`](super::Change::key).
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.key.as_str())
    }

    /// The rows that a run has just measured.
    ///
    /// # Errors
    /// [`TableError::NoColumn`]: a column that is compared is missing; [`TableError::Value`]: a cell of it
    /// holds no number.
    pub fn of_records<R: Row>(records: &[R]) -> Result<Table, TableError> {
        let rows = records.iter().enumerate().map(|(index, record)| {
            let (names, cells): (Vec<_>, Vec<_>) = record.columns().into_iter().unzip();
            let (names, cells) = (names.into_iter().collect(), cells.into_iter().collect());
            Columns::of(&names).measured(&cells, index + 1, Path::new("this run"))
        });
        rows.collect::<Result<_, _>>().map(|rows| Table { rows })
    }
}

/// Where a table has what is compared.
struct Columns {
    launch: Vec<(String, usize)>,
    median_ms: Option<usize>,
    rms_percent: Option<usize>,
    samples: Option<usize>,
    noise_floor_percent: Option<usize>,
    flags: Option<usize>,
}

impl Columns {
    fn of(header: &StringRecord) -> Columns {
        let place = |name: &str| header.iter().position(|it| it == name);
        let named = header.iter().enumerate();
        let launch = named.filter(|(_, name)| !is_outcome(name));
        Columns {
            launch: launch
                .map(|(place, name)| (name.to_owned(), place))
                .collect(),
            median_ms: place("median_ms"),
            rms_percent: place("rms_percent"),
            samples: place("samples"),
            noise_floor_percent: place("noise_floor_percent"),
            flags: place("flags"),
        }
    }

    fn measured(
        &self,
        row: &StringRecord,
        number: usize,
        path: &Path,
    ) -> Result<Measured, TableError> {
        let needed = |place: Option<usize>, column: &'static str| {
            let place = place.ok_or_else(|| TableError::NoColumn {
                path: path.to_path_buf(),
                column,
            })?;
            row[place].parse().map_err(|_| TableError::Value {
                path: path.to_path_buf(),
                row: number,
                column,
                cell: row[place].to_owned(),
                wanted: "a number",
            })
        };
        let optional = |place: Option<usize>| row.get(place?)?.parse().ok();
        let flags = self.flags.and_then(|place| row.get(place));
        let flags = printable(flags.unwrap_or_default());
        let (launch, key) = self.launch(row);
        Ok(Measured {
            launch,
            key,
            median_ms: needed(self.median_ms, "median_ms")?,
            rms_percent: needed(self.rms_percent, "rms_percent")?,
            samples: optional(self.samples).unwrap_or(SAMPLES),
            noise_floor_percent: optional(self.noise_floor_percent).unwrap_or(0.0),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// `kernel copy, n 1024 ..`, the first axis last, and the same in a fixed order.
    fn launch(&self, row: &StringRecord) -> (String, String) {
        let named = self.launch.iter().map(|(name, place)| (name, &row[*place]));
        let known = named.filter(|(_, cell)| !cell.is_empty());
        let mut parts: Vec<String> = known
            .map(|(name, cell)| format!("{name} {}", printable(cell)))
            .collect();
        let mut sorted = parts.clone();
        sorted.sort();
        let is_named = |part: &String| part.starts_with("kernel ") || part.starts_with("dtype ");
        if parts.first().is_some_and(|first| !is_named(first)) {
            parts.rotate_left(1);
        }
        parts.sort_by_key(|part| !is_named(part));
        (parts.join(", "), sorted.join(", "))
    }
}
