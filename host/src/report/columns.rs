//! The columns of tables.

use serde::Serialize;

use crate::sweep::Record;
use crate::sweep::occupancy::OccupancyRecord;

/// A column: its name, and the text of its cell in a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// A row of a table.
pub trait Row: Serialize + 'static {
    /// Name and text of each column.
    const COLUMNS: &[Column<Self>];
}

/// The first five are the roofline exercise's, to the letter:
/// `k,ai,gflops,bandwidth,percent_peak` as `%d,%.6f,%.2f,%.2f,%.2f`. Others come after them.
impl Row for Record {
    const COLUMNS: &[Column<Self>] = &[
        ("k", |row| row.k.to_string()),
        ("ai", |row| format!("{:.6}", row.ai)),
        ("gflops", |row| format!("{:.2}", row.gflops)),
        ("bandwidth", |row| format!("{:.2}", row.bandwidth)),
        ("percent_peak", |row| format!("{:.2}", row.percent_peak)),
        ("kernel", |row| row.kernel.to_owned()),
        ("dtype", |row| row.dtype.to_owned()),
        ("vector", |row| row.vector.to_string()),
        ("ilp", |row| row.ilp.to_string()),
        ("n", |row| row.n.to_string()),
        ("block", |row| row.block.to_string()),
        ("grid", |row| row.grid.to_string()),
        ("blocks_per_sm", |row| optional(row.blocks_per_sm)),
        ("mean_ms", |row| format!("{:.6}", row.mean_ms)),
        ("median_ms", |row| format!("{:.6}", row.median_ms)),
        ("min_ms", |row| format!("{:.6}", row.min_ms)),
        ("rms_percent", |row| format!("{:.3}", row.rms_percent)),
        ("limiting_roof", |row| row.limiting_roof.name().to_owned()),
        ("ridge_point", |row| format!("{:.3}", row.ridge_point)),
        ("roof_gflops", |row| format!("{:.2}", row.roof_gflops)),
        ("percent_roof", |row| format!("{:.2}", row.percent_roof)),
        ("measured_roof_gflops", |row| {
            digits(row.measured_roof_gflops, 2)
        }),
        ("percent_measured_roof", |row| {
            digits(row.percent_measured_roof, 2)
        }),
        ("percent_peak_at_clock", |row| {
            digits(row.percent_peak_at_clock, 2)
        }),
        ("bound", |row| row.bound.name().to_owned()),
        ("working_set", |row| row.working_set.to_owned()),
        ("cache", |row| row.cache.to_owned()),
        ("samples", |row| row.samples.to_string()),
        ("batch", |row| row.batch.to_string()),
        ("outliers", |row| row.outliers.to_string()),
        ("clock_mhz", |row| digits(row.clock_mhz, 0)),
        ("nvml_clock_mhz", |row| optional(row.nvml_clock_mhz)),
        ("power_watts", |row| digits(row.power_watts, 0)),
        ("temperature", |row| optional(row.temperature)),
        ("noise_floor_percent", |row| {
            digits(row.noise_floor_percent, 3)
        }),
        ("flags", |row| row.flags.join(" ")),
        ("advice", |row| row.advice.to_owned()),
        ("gpu", |row| optional(row.gpu)),
        ("device", |row| row.device.clone()),
        ("checked", |row| row.checked.to_string()),
    ];
}

impl Row for OccupancyRecord {
    const COLUMNS: &[Column<Self>] = &[
        ("kernel", |row| row.kernel.to_owned()),
        ("ilp", |row| row.ilp.to_string()),
        ("block", |row| row.block.to_string()),
        ("dynamic_shared", |row| row.dynamic_shared.to_string()),
        ("registers", |row| optional(row.registers)),
        ("resident_blocks", |row| row.resident_blocks.to_string()),
        ("driver_blocks", |row| optional(row.driver_blocks)),
        ("occupancy_percent", |row| {
            format!("{:.2}", row.occupancy_percent)
        }),
        ("limited_by", |row| row.limited_by.join(" ")),
        ("grid", |row| row.grid.to_string()),
        ("waves", |row| format!("{:.3}", row.waves)),
        ("tail_percent", |row| format!("{:.2}", row.tail_percent)),
        ("rate", |row| format!("{:.2}", row.rate)),
        ("unit", |row| row.unit.to_owned()),
        ("percent_ceiling", |row| {
            format!("{:.2}", row.percent_ceiling)
        }),
        ("in_flight_needed", |row| {
            format!("{:.0}", row.in_flight.needed)
        }),
        ("in_flight_provided", |row| {
            format!("{:.0}", row.in_flight.provided)
        }),
        ("in_flight_unit", |row| row.in_flight.unit.to_owned()),
        ("mean_ms", |row| format!("{:.6}", row.mean_ms)),
        ("median_ms", |row| format!("{:.6}", row.median_ms)),
        ("rms_percent", |row| format!("{:.3}", row.rms_percent)),
        ("device", |row| row.device.clone()),
        ("checked", |row| row.checked.to_string()),
        ("max_registers", |row| optional(row.max_registers)),
        ("local_bytes", |row| optional(row.local_bytes)),
        ("flags", |row| row.flags.join(" ")),
    ];
}

/// A cell that is empty where nothing is known.
pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A cell with so many decimals, empty where nothing is known.
fn digits(value: Option<f64>, decimals: usize) -> String {
    optional(value.map(|value| format!("{value:.decimals$}")))
}

/// The names of a table's columns.
pub(super) fn names<R: Row>() -> impl Iterator<Item = &'static str> {
    R::COLUMNS.iter().map(|(name, _)| *name)
}

/// The cells of a row.
pub(super) fn cells<R: Row>(row: &R) -> impl Iterator<Item = String> {
    R::COLUMNS.iter().map(move |(_, text)| text(row))
}
