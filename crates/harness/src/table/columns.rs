//! The columns that tables have, whatever they are tables of.

use super::Cell;
use Rule::{NotNegative, Positive};

/// A column that says what came out, or of what. Any other says what a launch was, and rows that differ in one are
/// of different launches to `compare`: the axes of workloads are such columns, whatever they are called.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Digits behind the point, of numbers.
    decimals: usize,
    /// Where a verdict or a picture rests on the column, whichever command reads it.
    pub(crate) rule: Option<Rule>,
}

/// What a cell may hold besides nothing.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Positive,
    NotNegative,
}

impl Rule {
    pub(crate) fn allows(self, cell: &str) -> bool {
        let number = cell.parse().ok().filter(|it: &f64| it.is_finite());
        number.is_some_and(|it| match self {
            Rule::Positive => it > 0.0,
            Rule::NotNegative => it >= 0.0,
        })
    }

    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Rule::Positive => "a finite number above 0",
            Rule::NotNegative => "a finite number of at least 0",
        }
    }
}

/// Whether a column says what came out, and not what the launch was.
pub fn is_outcome(name: &str) -> bool {
    COLUMNS.iter().any(|column| column.name == name)
}

/// A cell with as many digits as its column has, empty where nothing is known.
///
/// # Panics
/// There is no such column.
pub(crate) fn number(name: &'static str, value: impl Into<Option<f64>>) -> Cell {
    let column = COLUMNS.iter().find(|column| column.name == name);
    let decimals = column.expect("numbers are of `COLUMNS`").decimals;
    known(
        name,
        value.into().map(|value| format!("{value:.decimals$}")),
    )
}

/// A cell that is empty where nothing is known. It is not looked for in `COLUMNS`.
pub(crate) fn known(name: &'static str, value: Option<impl ToString>) -> Cell {
    (name, value.map_or_else(String::new, |it| it.to_string()))
}

/// A cell. It is not looked for in `COLUMNS`.
pub(crate) fn cell(name: &'static str, value: impl ToString) -> Cell {
    (name, value.to_string())
}

const fn plain(name: &'static str) -> Column {
    digits(name, 0)
}

const fn digits(name: &'static str, decimals: usize) -> Column {
    let rule = None;
    Column {
        name,
        decimals,
        rule,
    }
}

const fn ruled(name: &'static str, decimals: usize, rule: Rule) -> Column {
    Column {
        rule: Some(rule),
        ..digits(name, decimals)
    }
}

/// Every column that says what came out, of all kinds of rows. Where they stand in a row is said in
/// `report/columns.rs`.
pub(crate) static COLUMNS: [Column; 72] = [
    ruled("ai", 6, Positive),
    ruled("gflops", 2, NotNegative),
    ruled("bandwidth", 2, NotNegative),
    digits("percent_peak", 2),
    plain("blocks_per_sm"),
    ruled("mean_ms", 6, Positive),
    ruled("median_ms", 6, Positive),
    ruled("min_ms", 6, Positive),
    ruled("rms_percent", 3, NotNegative),
    plain("limiting_roof"),
    digits("ridge_point", 3),
    digits("roof_gflops", 2),
    digits("percent_roof", 2),
    digits("measured_roof_gflops", 2),
    digits("percent_measured_roof", 2),
    digits("percent_peak_at_clock", 2),
    plain("bound"),
    plain("working_set"),
    ruled("samples", 0, Positive),
    plain("batch"),
    plain("outliers"),
    plain("clock_mhz"),
    plain("nvml_clock_mhz"),
    plain("power_watts"),
    plain("temperature"),
    ruled("noise_floor_percent", 3, NotNegative),
    ruled("dram_bytes", 0, NotNegative),
    ruled("measured_flop", 0, NotNegative),
    digits("measured_ai", 6),
    plain("l2_bytes"),
    plain("measured_fma_f32"),
    plain("measured_add_f32"),
    plain("measured_multiply_f32"),
    plain("measured_fma_f64"),
    plain("measured_add_f64"),
    plain("measured_multiply_f64"),
    plain("measured_fma_f16x2"),
    plain("measured_add_f16x2"),
    plain("measured_multiply_f16x2"),
    ruled("counted_flop", 0, NotNegative),
    ruled("counted_bytes", 0, NotNegative),
    digits("counted_ai", 6),
    plain("counted_from"),
    plain("not_counted"),
    digits("dram_over_least", 3),
    plain("flop_from"),
    plain("bytes_from"),
    plain("tensor_types"),
    plain("flags"),
    plain("advice"),
    plain("predicted_gpu"),
    plain("predicted_limit"),
    ruled("predicted_gflops", 2, Positive),
    plain("gpu"),
    plain("device"),
    plain("checked"),
    // Of an occupancy study.
    plain("registers"),
    plain("resident_blocks"),
    plain("driver_blocks"),
    digits("occupancy_percent", 2),
    plain("limited_by"),
    digits("waves", 3),
    digits("tail_percent", 2),
    digits("rate", 2),
    plain("unit"),
    digits("percent_ceiling", 2),
    plain("in_flight_needed"),
    plain("in_flight_provided"),
    plain("in_flight_unit"),
    plain("local_bytes"),
    plain("samples_ms"),
    // Of JSON alone.
    plain("samples_clock_hz"),
];
