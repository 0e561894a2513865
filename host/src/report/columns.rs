//! The columns of tables.

use super::{Cell, Row};
use crate::model::{Bound, Limit};
use crate::sweep::Record;
use crate::sweep::occupancy::OccupancyRecord;
use crate::workload::Value;

/// The first five are the roofline exercise's, to the letter:
/// `k,ai,gflops,bandwidth,percent_peak` as `%d,%.6f,%.2f,%.2f,%.2f`, where `k` is the first axis. Others
/// come after them.
impl Row for Record {
    fn columns(&self) -> Vec<Cell> {
        let axis =
            |(name, value): &(&'static str, Option<Value>)| (*name, optional(value.as_ref()));
        let mut cells: Vec<Cell> = self.first.0.iter().map(axis).collect();
        cells.extend([
            ("ai", digits(self.ai, 6)),
            ("gflops", digits(self.gflops, 2)),
            ("bandwidth", digits(self.bandwidth, 2)),
            ("percent_peak", digits(self.percent_peak, 2)),
            ("kernel", self.kernel.clone()),
            ("dtype", optional(self.dtype.as_ref())),
        ]);
        cells.extend(self.axes.0.iter().map(axis));
        cells.extend([
            ("block", self.block.to_string()),
            ("grid", self.grid.to_string()),
            ("blocks_per_sm", optional(self.blocks_per_sm)),
            ("mean_ms", format!("{:.6}", self.mean_ms)),
            ("median_ms", format!("{:.6}", self.median_ms)),
            ("min_ms", format!("{:.6}", self.min_ms)),
            ("rms_percent", format!("{:.3}", self.rms_percent)),
            (
                "limiting_roof",
                optional(self.limiting_roof.map(Limit::name)),
            ),
            ("ridge_point", digits(self.ridge_point, 3)),
            ("roof_gflops", digits(self.roof_gflops, 2)),
            ("percent_roof", digits(self.percent_roof, 2)),
            ("measured_roof_gflops", digits(self.measured_roof_gflops, 2)),
            (
                "percent_measured_roof",
                digits(self.percent_measured_roof, 2),
            ),
            (
                "percent_peak_at_clock",
                digits(self.percent_peak_at_clock, 2),
            ),
            ("bound", optional(self.bound.map(Bound::name))),
            ("working_set", self.working_set.to_owned()),
            ("cache", self.cache.to_owned()),
            ("samples", self.samples.to_string()),
            ("batch", self.batch.to_string()),
            ("outliers", self.outliers.to_string()),
            ("clock_mhz", digits(self.clock_mhz, 0)),
            ("nvml_clock_mhz", optional(self.nvml_clock_mhz)),
            ("power_watts", digits(self.power_watts, 0)),
            ("temperature", optional(self.temperature)),
            ("noise_floor_percent", digits(self.noise_floor_percent, 3)),
            ("flags", self.flags.join(" ")),
            ("advice", self.advice.to_owned()),
            ("gpu", optional(self.gpu)),
            ("device", self.device.clone()),
            ("checked", self.checked.to_string()),
        ]);
        cells
    }
}

impl Row for OccupancyRecord {
    fn columns(&self) -> Vec<Cell> {
        let axis =
            |(name, value): &(&'static str, Option<Value>)| (*name, optional(value.as_ref()));
        let in_flight = self.in_flight.as_ref();
        let mut cells = vec![("kernel", self.kernel.clone())];
        cells.extend(self.axes.0.iter().map(axis));
        cells.extend([
            ("block", self.block.to_string()),
            ("dynamic_shared", self.dynamic_shared.to_string()),
            ("registers", optional(self.registers)),
            ("resident_blocks", self.resident_blocks.to_string()),
            ("driver_blocks", optional(self.driver_blocks)),
            (
                "occupancy_percent",
                format!("{:.2}", self.occupancy_percent),
            ),
            ("limited_by", self.limited_by.join(" ")),
            ("grid", self.grid.to_string()),
            ("waves", format!("{:.3}", self.waves)),
            ("tail_percent", format!("{:.2}", self.tail_percent)),
            ("rate", format!("{:.2}", self.rate)),
            ("unit", self.unit.to_owned()),
            ("percent_ceiling", digits(self.percent_ceiling, 2)),
            ("in_flight_needed", digits(in_flight.map(|it| it.needed), 0)),
            (
                "in_flight_provided",
                digits(in_flight.map(|it| it.provided), 0),
            ),
            ("in_flight_unit", optional(in_flight.map(|it| it.unit))),
            ("mean_ms", format!("{:.6}", self.mean_ms)),
            ("median_ms", format!("{:.6}", self.median_ms)),
            ("rms_percent", format!("{:.3}", self.rms_percent)),
            ("device", self.device.clone()),
            ("checked", self.checked.to_string()),
            ("max_registers", optional(self.max_registers)),
            ("local_bytes", optional(self.local_bytes)),
            ("flags", self.flags.join(" ")),
        ]);
        cells
    }
}

/// A cell that is empty where nothing is known.
pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A cell with so many decimals, empty where nothing is known.
fn digits(value: Option<f64>, decimals: usize) -> String {
    optional(value.map(|value| format!("{value:.decimals$}")))
}
