//! Rows of a run, as far as they are compared.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use csv::StringRecord;
use itertools::Itertools;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Rows, TableError};
use crate::driver::{DeviceProperties, printable};
use crate::measure::Summary;
use crate::table::{Row, is_outcome};

/// Samples of a row that does not say how many: what `--runs` is by default.
const SAMPLES: f64 = 10.0;

/// Rows of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(super) rows: Vec<Measured>,
    pub(super) facts: Facts,
}

/// A row, as far as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// The launch, for people.
    pub(super) launch: String,
    /// The launch's columns in a fixed order, a line each, with a tab behind the name: neither names nor cells have ends of lines
    /// or tabs.
    pub(super) key: String,
    pub(super) device: Option<String>,
    pub(super) run: Run,
    pub(super) noise_floor_percent: f64,
    pub(super) flags: Vec<String>,
}

/// The times of a launch in one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) median_ms: f64,
    pub(super) mean_ms: f64,
    pub(super) rms_percent: f64,
    /// How many samples those are of.
    pub(super) samples: f64,
    /// The samples, where the row keeps them.
    pub(super) samples_ms: Vec<f64>,
    /// How many of these each round took, where there was more than one.
    pub(super) round_samples: Vec<usize>,
    pub(super) clock_mhz: Option<f64>,
    /// Whether the emulator ran the launch: its time is the host's.
    pub(super) is_emulated: bool,
    /// The emulator's counts of it, where it counted.
    pub(super) counts: Option<Counts>,
}

/// The emulator's counts of a launch: the same in each run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) instructions: f64,
    pub(super) sectors: f64,
    pub(super) conflicts: f64,
}

/// The column that a line of a key is of.
pub(super) fn column(part: &str) -> &str {
    part.split('\t').next().unwrap_or_default()
}

impl Run {
    /// Returns the medians of the rounds that have taken samples.
    pub(super) fn round_medians(&self) -> Vec<f64> {
        let mut left = self.samples_ms.as_slice();
        let medians = self.round_samples.iter().filter_map(|&count| {
            let (round, others) = left.split_at(count);
            left = others;
            Some(Summary::of(round)?.median)
        });
        medians.collect()
    }
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
            None => Ok(Table {
                rows,
                facts: Facts::of(saved.runs()),
            }),
        }
    }

    /// Adds the rows of another run.
    pub fn append(&mut self, other: Table) {
        self.rows.extend(other.rows);
        for (name, values) in other.facts.0 {
            self.facts.0.entry(name).or_default().extend(values);
        }
    }

    /// Returns the keys that tell the rows' launches apart, in order: [`Change::key`](super::Change::key).
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
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Table {
            rows,
            facts: Facts::default(),
        })
    }
}

/// Where a table has what is compared.
struct Columns {
    launch: Vec<(String, usize)>,
    device: Option<usize>,
    median_ms: Option<usize>,
    mean_ms: Option<usize>,
    rms_percent: Option<usize>,
    samples: Option<usize>,
    samples_ms: Option<usize>,
    round_samples: Option<usize>,
    clock_mhz: Option<usize>,
    /// Instructions, sectors and conflicts, if all were counted.
    counts: Option<[usize; 3]>,
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
            device: place("device"),
            median_ms: place("median_ms"),
            mean_ms: place("mean_ms"),
            rms_percent: place("rms_percent"),
            samples: place("samples"),
            samples_ms: place("samples_ms"),
            round_samples: place("round_samples"),
            clock_mhz: place("clock_mhz"),
            counts: counts(&place),
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
            match &row[place] {
                // Samples of no time.
                "" => Ok(f64::NAN),
                cell => cell.parse().map_err(|_| TableError::Value {
                    path: path.to_path_buf(),
                    row: number,
                    column: column.to_owned(),
                    cell: cell.to_owned(),
                    wanted: "a number",
                }),
            }
        };
        let optional = |place: Option<usize>| row.get(place?)?.parse().ok();
        let text = |place: Option<usize>| {
            place
                .and_then(|place| row.get(place))
                .filter(|it| !it.is_empty())
        };
        let device = text(self.device);
        let is_emulated = device.is_some_and(|it| it.contains(DeviceProperties::EMULATOR));
        let flags = printable(text(self.flags).unwrap_or_default());
        let (launch, key) = self.launch(row);
        let median_ms = needed(self.median_ms, "median_ms")?;
        let samples_ms =
            self.samples_ms(text(self.samples_ms).unwrap_or_default(), number, path)?;
        let rounds = text(self.round_samples).unwrap_or_default();
        let round_samples =
            rounds_of(rounds, samples_ms.len()).ok_or_else(|| TableError::Value {
                path: path.to_path_buf(),
                row: number,
                column: "round_samples".to_owned(),
                cell: rounds.to_owned(),
                wanted: "as many samples as the row has",
            })?;
        Ok(Measured {
            launch,
            key,
            device: device.map(|device| printable(device).into_owned()),
            run: Run {
                median_ms,
                mean_ms: optional(self.mean_ms).unwrap_or(median_ms),
                rms_percent: needed(self.rms_percent, "rms_percent")?,
                samples: match f64::is_nan(median_ms) {
                    true => 0.0,
                    false => optional(self.samples).unwrap_or(SAMPLES),
                },
                samples_ms,
                round_samples,
                clock_mhz: optional(self.clock_mhz),
                is_emulated,
                // Beside a GPU's time stand counts of another device.
                counts: is_emulated.then(|| self.counts(row)).flatten(),
            },
            noise_floor_percent: optional(self.noise_floor_percent).unwrap_or(0.0),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
        })
    }

    fn counts(&self, row: &StringRecord) -> Option<Counts> {
        let count = |place: usize| row[place].parse().ok();
        let [instructions, sectors, conflicts] = self.counts?;
        Some(Counts {
            instructions: count(instructions)?,
            sectors: count(sectors)?,
            conflicts: count(conflicts)?,
        })
    }

    fn samples_ms(&self, cell: &str, number: usize, path: &Path) -> Result<Vec<f64>, TableError> {
        let times = cell.split_whitespace().map(|word| {
            let time = word
                .parse()
                .ok()
                .filter(|it: &f64| *it > 0.0 && it.is_finite());
            time.ok_or_else(|| TableError::Value {
                path: path.to_path_buf(),
                row: number,
                column: "samples_ms".to_owned(),
                cell: word.to_owned(),
                wanted: "finite numbers above 0",
            })
        });
        times.collect()
    }

    /// `kernel copy, n 1024 ..`, the first axis last, and the same in a fixed order.
    fn launch(&self, row: &StringRecord) -> (String, String) {
        let named = self.launch.iter().map(|(name, place)| (name, &row[*place]));
        let known = named.filter(|(_, cell)| !cell.is_empty());
        let mut sorted: Vec<String> = known
            .map(|(name, cell)| format!("{}\t{}", printable(name), typed(cell)))
            .collect();
        let mut parts: Vec<String> = sorted
            .iter()
            .map(|part| part.replacen('\t', " ", 1))
            .collect();
        sorted.sort();
        let is_named = |part: &String| part.starts_with("kernel ") || part.starts_with("dtype ");
        if parts.first().is_some_and(|first| !is_named(first)) {
            parts.rotate_left(1);
        }
        parts.sort_by_key(|part| !is_named(part));
        (parts.join(", "), sorted.join("\n"))
    }
}

/// Returns how many samples each round took; `None` where they are not the row's samples, all together.
fn rounds_of(cell: &str, samples: usize) -> Option<Vec<usize>> {
    let counts = cell.split_whitespace().map(|word| word.parse().ok());
    let counts: Vec<usize> = counts.collect::<Option<_>>()?;
    let sum = counts
        .iter()
        .try_fold(0usize, |sum, &it| sum.checked_add(it))?;
    (counts.is_empty() || sum == samples).then_some(counts)
}

/// The places of the counts.
fn counts(place: &impl Fn(&str) -> Option<usize>) -> Option<[usize; 3]> {
    Some([
        place("counted_instructions")?,
        place("counted_sectors")?,
        place("counted_conflicts")?,
    ])
}

/// Returns a cell's value as text: the same number is the same text, and no text has an end of a line.
fn typed(cell: &str) -> Cow<'_, str> {
    if cell.parse::<u64>().is_ok() || cell.parse::<i64>().is_ok() {
        return Cow::Borrowed(cell);
    }
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => Cow::Owned(number.to_string()),
        _ => printable(cell),
    }
}

/// The facts that the runs of a table state, which a comparison names where they differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts(BTreeMap<&'static str, BTreeSet<String>>);

/// A run's facts by the places that JSON has them in.
const FACTS: [(&str, &str); 4] = [
    ("CUDA version of the driver", "/device/gpu/cuda_version"),
    ("clock limit, Hz,", "/device/gpu/clock_hz"),
    ("Ridgepoint", "/version"),
    ("commit", "/commit"),
];

impl Facts {
    fn of(runs: &[Box<RawValue>]) -> Facts {
        let mut facts = Facts::default();
        let runs = runs
            .iter()
            .filter_map(|run| serde_json::from_str::<Value>(run.get()).ok());
        for run in runs {
            for (name, place) in FACTS {
                let found = run.pointer(place).filter(|it| !it.is_null());
                facts.0.entry(name).or_default().extend(found.map(fact));
            }
        }
        facts
    }

    /// Names each fact that both know and that is not the same.
    pub(super) fn differences(&self, after: &Facts) -> Vec<String> {
        let both = self
            .0
            .iter()
            .filter_map(|(name, before)| Some((name, before, after.0.get(name)?)));
        let differing = both.filter(|(_, before, after)| {
            !before.is_empty() && !after.is_empty() && before != after
        });
        let list = |values: &BTreeSet<String>| values.iter().join(" and ");
        differing
            .map(|(name, before, after)| {
                format!(
                    "another {name}: {} before, {} after",
                    list(before),
                    list(after)
                )
            })
            .collect()
    }
}

/// Returns a fact as text: text as it is, and the numbers of a version with points between them.
fn fact(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().join("."),
        other => other.to_string(),
    };
    printable(&text).into_owned()
}
