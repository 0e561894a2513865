//! The columns of tables.

use itertools::Itertools;

use super::{Cell, Row};
use crate::model::{Bound, Limit};
use crate::sweep::occupancy::OccupancyRecord;
use crate::sweep::{Origin, Record};
use crate::table::{cell, known, number};
use crate::workload::Value;

/// The first five are the roofline exercise's, to the letter:
/// `k,ai,gflops,bandwidth,percent_peak` as `%d,%.6f,%.2f,%.2f,%.2f`, where `k` is the first axis. Others
/// come after them.
impl Row for Record {
    fn columns(&self) -> Vec<Cell> {
        let axis = |(name, value): &(&'static str, Option<Value>)| known(name, value.as_ref());
        let mut cells: Vec<Cell> = self.first.0.iter().map(axis).collect();
        cells.extend([
            number("ai", self.ai),
            number("gflops", self.gflops),
            number("bandwidth", self.bandwidth),
            number("percent_peak", self.percent_peak),
            cell("kernel", &self.kernel),
            known("dtype", self.dtype.as_ref()),
        ]);
        cells.extend(self.axes.0.iter().map(axis));
        cells.extend([
            cell("block", self.block),
            cell("grid", self.grid),
            known("blocks_per_sm", self.blocks_per_sm),
            number("mean_ms", self.mean_ms),
            number("median_ms", self.median_ms),
            number("min_ms", self.min_ms),
            number("rms_percent", self.rms_percent),
            known("limiting_roof", self.limiting_roof.map(Limit::name)),
            number("ridge_point", self.ridge_point),
            number("roof_gflops", self.roof_gflops),
            number("percent_roof", self.percent_roof),
            number("measured_roof_gflops", self.measured_roof_gflops),
            number("percent_measured_roof", self.percent_measured_roof),
            number("percent_peak_at_clock", self.percent_peak_at_clock),
            known("bound", self.bound.map(Bound::name)),
            cell("working_set", self.working_set),
            cell("cache", self.cache),
            cell("samples", self.samples),
            cell("batch", self.batch),
            cell("outliers", self.outliers),
            number("clock_mhz", self.clock_mhz),
            known("nvml_clock_mhz", self.nvml_clock_mhz),
            number("power_watts", self.power_watts),
            known("temperature", self.temperature),
            number("noise_floor_percent", self.noise_floor_percent),
            number("dram_bytes", self.dram_bytes),
            number("l2_bytes", self.l2_bytes),
            number("measured_flop", self.measured_flop),
            number("measured_ai", self.measured_ai),
        ]);
        let instructions = self.measured_instructions.cells();
        cells.extend(instructions.map(|(name, count)| number(name, count)));
        cells.extend([
            known("counted_flop", self.counted_flop),
            known("counted_bytes", self.counted_bytes),
            number("counted_ai", self.counted_ai),
            known("counted_from", self.counted_from.map(Origin::name)),
            known("not_counted", self.not_counted.as_ref()),
            number("dram_over_least", self.dram_over_least),
            known("flop_from", self.flop_from.map(Origin::name)),
            known("bytes_from", self.bytes_from.map(Origin::name)),
            cell(
                "tensor_types",
                self.tensor_types.iter().map(|it| it.name()).join(" "),
            ),
            cell("flags", self.flags.join(" ")),
            cell("advice", self.advice),
            known("predicted_gpu", self.predicted_gpu.as_ref()),
            known("predicted_limit", self.predicted_limit.map(Limit::name)),
            number("predicted_gflops", self.predicted_gflops),
            known("gpu", self.gpu),
            cell("device", &self.device),
            cell("checked", self.checked),
            samples(&self.samples_ms),
        ]);
        cells
    }
}

/// Every sample, so that runs can be compared by more than their means.
fn samples(ms: &[f64]) -> Cell {
    cell(
        "samples_ms",
        ms.iter().map(|ms| format!("{ms:.6}")).join(" "),
    )
}

impl Row for OccupancyRecord {
    fn columns(&self) -> Vec<Cell> {
        let axis = |(name, value): &(&'static str, Option<Value>)| known(name, value.as_ref());
        let in_flight = self.in_flight.as_ref();
        let mut cells = vec![cell("kernel", &self.kernel)];
        cells.extend(self.axes.0.iter().map(axis));
        cells.extend([
            cell("block", self.block),
            cell("dynamic_shared", self.dynamic_shared),
            known("registers", self.registers),
            cell("resident_blocks", self.resident_blocks),
            known("driver_blocks", self.driver_blocks),
            number("occupancy_percent", self.occupancy_percent),
            cell("limited_by", self.limited_by.join(" ")),
            cell("grid", self.grid),
            number("waves", self.waves),
            number("tail_percent", self.tail_percent),
            number("rate", self.rate),
            cell("unit", self.unit),
            number("percent_ceiling", self.percent_ceiling),
            number("in_flight_needed", in_flight.map(|it| it.needed)),
            number("in_flight_provided", in_flight.map(|it| it.provided)),
            known("in_flight_unit", in_flight.map(|it| it.unit)),
            number("mean_ms", self.mean_ms),
            number("median_ms", self.median_ms),
            number("rms_percent", self.rms_percent),
            cell("device", &self.device),
            cell("checked", self.checked),
            known("max_registers", self.max_registers),
            known("local_bytes", self.local_bytes),
            cell("flags", self.flags.join(" ")),
        ]);
        cells
    }
}
