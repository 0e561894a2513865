//! The studies by the columns of their rows: what each varies, what tells its series apart, and what comes out.
//!
//! Charts against an axis, and the checks of an axis that is asked for, read these rows and nothing else: a study that
//! gets one is drawn from memory, from files and in reports.

use std::io;

use serde::Serialize;

use super::{Row, columns, fields};

/// A study, by the columns of its rows.
pub(crate) struct Study {
    /// Columns that its rows have, and no other study's.
    signature: &'static [&'static str],
    /// The axes that are its own.
    axes: &'static [StudyAxis],
    /// Whether columns before `block` that no table lists are axes, too: those of workloads.
    has_workloads: bool,
    /// The results, in the order in which they are drawn.
    pub(crate) panels: &'static [Panel],
}

/// An axis of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StudyAxis {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// The column that has its values.
    pub(crate) column: &'static str,
    /// Its values in words, with a unit.
    pub(crate) title: &'static str,
    /// The column that tells series of other values apart, where it is another one.
    series: &'static str,
}

/// A result of a study: columns with one unit.
pub(crate) struct Panel {
    pub(crate) quantity: Quantity,
    /// In words, `speed`.
    pub(crate) name: &'static str,
    /// The column of what the row's device did.
    pub(crate) measured: &'static str,
    /// The column of what the roofs of a GPU allow instead.
    pub(crate) predicted: &'static str,
    /// The column of what the model says that a GPU does.
    pub(crate) modelled: &'static str,
    pub(crate) unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// More is better; the measured values have noise.
    Speed,
    /// Computed by the limits of an architecture, whatever was measured.
    Occupancy,
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Fixed(&'static str),
    /// The column that has it: rows of other units are drawn apart.
    Column(&'static str),
}

const fn axis(name: &'static str, column: &'static str, title: &'static str) -> StudyAxis {
    StudyAxis {
        name,
        column,
        title,
        series: column,
    }
}

const fn panel(
    quantity: Quantity,
    name: &'static str,
    [measured, predicted, modelled]: [&'static str; 3],
    unit: Unit,
) -> Panel {
    Panel {
        quantity,
        name,
        measured,
        predicted,
        modelled,
        unit,
    }
}

const BLOCK: StudyAxis = axis("block", "block", "threads per block");
const KERNEL: StudyAxis = axis("kernel", "kernel", "kernel");
const DTYPE: StudyAxis = axis("dtype", "dtype", "element type");
const MODE: StudyAxis = axis("mode", "mode", "mode");
const OCCUPANCY: Panel = panel(
    Quantity::Occupancy,
    "occupancy",
    ["occupancy_percent", "", ""],
    Unit::Fixed("%"),
);
/// Rows are of the first study whose signature they have.
const STUDIES: &[Study] = &[
    Study {
        signature: &["kernel", "dynamic_shared", "occupancy_percent", "rate"],
        axes: &[
            KERNEL,
            BLOCK,
            axis(
                "shared",
                "dynamic_shared",
                "dynamic shared memory per block, bytes",
            ),
            axis(
                "max-registers",
                "max_registers",
                "registers per thread at most",
            ),
        ],
        has_workloads: true,
        panels: &[
            panel(
                Quantity::Speed,
                "speed",
                ["rate", "predicted_rate", "model_rate"],
                Unit::Column("unit"),
            ),
            OCCUPANCY,
            panel(
                Quantity::Time,
                "time",
                ["median_ms", "predicted_ms", "model_ms"],
                Unit::Fixed("ms"),
            ),
        ],
    },
    Study {
        signature: &["arch", "registers", "shared_bytes", "occupancy_percent"],
        axes: &[
            axis("arch", "arch", "architecture"),
            axis("registers", "registers", "registers per thread"),
            axis("shared", "shared_bytes", "shared memory per block, bytes"),
            BLOCK,
        ],
        has_workloads: false,
        panels: &[OCCUPANCY],
    },
    Study {
        signature: &["kernel", "gflops", "bandwidth", "blocks_per_sm"],
        axes: &[
            KERNEL,
            DTYPE,
            BLOCK,
            StudyAxis {
                series: "blocks_per_sm",
                ..axis("grid", "grid", "blocks in the grid")
            },
            axis("cache", "cache", "caches before a launch"),
        ],
        has_workloads: true,
        panels: &[
            panel(
                Quantity::Speed,
                "speed",
                ["gflops", "predicted_gflops", "model_gflops"],
                Unit::Fixed("GFLOP/s"),
            ),
            panel(
                Quantity::Speed,
                "speed",
                ["bandwidth", "predicted_bandwidth", "model_bandwidth"],
                Unit::Fixed("GB/s"),
            ),
            OCCUPANCY,
            panel(
                Quantity::Time,
                "time",
                ["median_ms", "predicted_ms", "model_ms"],
                Unit::Fixed("ms"),
            ),
        ],
    },
    Study {
        signature: &["mode", "gigabytes_per_second", "host_us"],
        axes: &[MODE, DTYPE, axis("n", "n", "elements")],
        has_workloads: false,
        panels: &[
            panel(
                Quantity::Speed,
                "speed",
                ["gigabytes_per_second", "", ""],
                Unit::Fixed("GB/s"),
            ),
            panel(
                Quantity::Time,
                "time of the host per iteration",
                ["host_us", "", ""],
                Unit::Fixed("us"),
            ),
            panel(
                Quantity::Time,
                "time of the device per iteration",
                ["device_us", "", ""],
                Unit::Fixed("us"),
            ),
        ],
    },
    Study {
        signature: &["mode", "work", "floor_ms", "total_ms"],
        axes: &[
            MODE,
            axis("kernel", "work", "what is computed"),
            axis("weight", "weight", "work over copy"),
        ],
        has_workloads: false,
        panels: &[
            panel(
                Quantity::Time,
                "time of all batches",
                ["total_ms", "", ""],
                Unit::Fixed("ms"),
            ),
            panel(
                Quantity::Time,
                "time of the longest part",
                ["floor_ms", "", ""],
                Unit::Fixed("ms"),
            ),
        ],
    },
    Study {
        signature: &["dispatch", "launches", "complete_us"],
        axes: &[
            axis("dispatch", "dispatch", "dispatch"),
            axis("launches", "launches", "launches in the loop"),
        ],
        has_workloads: false,
        panels: &[
            panel(
                Quantity::Time,
                "time of the host per launch",
                ["host_us", "", ""],
                Unit::Fixed("us"),
            ),
            panel(
                Quantity::Time,
                "time of the device per launch",
                ["device_us", "", ""],
                Unit::Fixed("us"),
            ),
        ],
    },
    Study {
        signature: &["collective", "bus_gbs", "time_us"],
        axes: &[
            axis("collective", "collective", "collective"),
            axis("devices", "devices", "devices"),
            axis("bytes", "bytes", "bytes"),
        ],
        has_workloads: false,
        panels: &[
            panel(
                Quantity::Speed,
                "speed per device",
                ["bus_gbs", "", ""],
                Unit::Fixed("GB/s"),
            ),
            panel(
                Quantity::Time,
                "time",
                ["time_us", "", ""],
                Unit::Fixed("us"),
            ),
        ],
    },
];

/// Rows of a study as text: in memory or from a file, they are drawn by the same code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyRows {
    /// The names of the columns.
    pub header: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl StudyRows {
    /// The rows of a sweep.
    pub fn of<R: Row>(rows: &[R]) -> StudyRows {
        let cells: Vec<_> = rows.iter().map(Row::columns).collect();
        let names = cells.first().into_iter().flatten();
        StudyRows {
            header: names.map(|(name, _)| (*name).to_owned()).collect(),
            rows: cells
                .into_iter()
                .map(|row| row.into_iter().map(|(_, cell)| cell).collect())
                .collect(),
        }
    }

    /// Rows whose fields are numbers, truth values and text.
    ///
    /// # Errors
    /// The error of `csv` for a field that is something else, as an [`io::Error`].
    pub fn of_fields<R: Serialize>(rows: &[R]) -> io::Result<StudyRows> {
        let mut all = StudyRows::default();
        for row in rows {
            let (header, cells) = fields(row)?;
            all.header = header;
            all.rows.push(cells);
        }
        Ok(all)
    }

    pub(crate) fn place(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|name| name == column)
    }

    /// A row's cell, empty where there is no such column.
    pub(crate) fn cell<'a>(&self, row: &'a [String], column: &str) -> &'a str {
        self.place(column).map_or("", |place| &row[place])
    }

    /// A row's number, where it has one.
    pub(crate) fn number(&self, row: &[String], column: &str) -> Option<f64> {
        let number = self.cell(row, column).parse().ok();
        number.filter(|it: &f64| it.is_finite())
    }

    /// The study that the rows are of.
    pub(crate) fn study(&self) -> Option<&'static Study> {
        let has = |column: &&str| self.place(column).is_some();
        STUDIES.iter().find(|it| it.signature.iter().all(has))
    }
}

/// The axis that a chart is drawn against, and the columns that tell its rows apart beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Against {
    /// Its name on the command line.
    pub(crate) name: String,
    pub(crate) column: String,
    pub(crate) title: String,
    /// The columns of the other axes.
    pub(crate) others: Vec<String>,
}

impl Study {
    /// The axis of a name in rows of the study.
    ///
    /// # Errors
    /// In words: the study has no such axis, and the axes that it has.
    pub(crate) fn against(&self, name: &str, rows: &StudyRows) -> Result<Against, String> {
        let of_workloads = || {
            let end = rows.place("block").filter(|_| self.has_workloads);
            let before = &rows.header[..end.unwrap_or(0)];
            let known = |name: &&String| columns().any(|it| it.name == **name);
            before.iter().filter(move |it| !known(it))
        };
        let own = self.axes.iter().find(|it| it.name == name);
        let (column, title) = match own {
            Some(axis) => (axis.column.to_owned(), axis.title.to_owned()),
            None => match of_workloads().find(|it| *it == name) {
                Some(axis) => (axis.clone(), axis.clone()),
                None => {
                    let names = self.axes.iter().map(|it| it.name.to_owned());
                    let names: Vec<String> = names.chain(of_workloads().cloned()).collect();
                    return Err(format!(
                        "{name} is not an axis of these rows: expected one of {}",
                        names.join(", ")
                    ));
                }
            },
        };
        let series = self.axes.iter().filter(|it| it.name != name);
        let series = series.map(|it| it.series.to_owned());
        let others = series.chain(of_workloads().filter(|it| *it != name).cloned());
        Ok(Against {
            name: name.to_owned(),
            others: others.filter(|it| rows.place(it).is_some()).collect(),
            column,
            title,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(header: &str) -> StudyRows {
        StudyRows {
            header: header.split(',').map(str::to_owned).collect(),
            rows: Vec::new(),
        }
    }

    #[test]
    fn an_axis_is_the_studys_or_a_workloads_and_no_result_or_note_is_one() {
        let rows = rows(
            "k,ai,gflops,bandwidth,percent_peak,kernel,dtype,vector,block,grid,blocks_per_sm,cache,mean_ms,note",
        );
        let study = rows.study().expect("a roofline's");
        let against = |name| study.against(name, &rows);
        let block = against("block").expect("of every workload");
        assert_eq!(block.title, "threads per block");
        assert_eq!(
            block.others,
            ["kernel", "dtype", "blocks_per_sm", "cache", "k", "vector"]
        );
        assert_eq!(against("vector").expect("of the workload").column, "vector");
        // What the grid was asked to be is no other axis than the grid.
        let grid = against("grid").expect("of every workload").others;
        assert!(!grid.contains(&"blocks_per_sm".to_owned()), "{grid:?}");
        for name in ["gflops", "mean_ms", "note", "tile"] {
            let refused = against(name).expect_err("no axis");
            assert_eq!(
                refused,
                format!(
                    "{name} is not an axis of these rows: expected one of kernel, dtype, block, grid, cache, k, vector"
                )
            );
        }
    }

    #[test]
    fn rows_are_known_by_their_columns() {
        let has = |header: &str| rows(header).study().is_some();
        assert!(has("mode,dtype,n,host_us,device_us,gigabytes_per_second"));
        assert!(has("arch,registers,shared_bytes,block,occupancy_percent"));
        assert!(!has("a,b,c"));
    }
}
