//! The record of a measured point.

#[cfg(test)]
mod tests;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::context::{Context, Launched, PredictedTime, Theoretical};
use super::count::{Origin, Sum};
use super::timed::Modelled;
use crate::measure::{Measured, Samples, Summary, outliers};
use crate::model::{
    Attainable, Bound, BytesPerSec, FlopsPerSec, Limit, Numbers, Precision, Roof, Roofs, Situation,
    TensorType,
};
use crate::prediction;
use crate::profile::{Resources, Sums};
use crate::table::{Cell, Column, ColumnValue, Named, ROOFLINE, known, record, roofline_columns};
use crate::workload::{DTYPE, GridSize, Value};

/// A deviation above this is noisy, percent.
pub(crate) const NOISY_PERCENT: f64 = 5.0;
/// A clock below this share of the highest is reduced.
const FULL_CLOCK: f64 = 0.98;
pub(crate) use crate::ceilings::PLAUSIBLE_PERCENT;

/// The advice of an emulated row.
const EMULATED: &str = "Timed on the host's CPU: its speed says nothing of a GPU's.";

macro_rules! rows {
    ($($row:tt)*) => {
        record! {
            /// One row of a roofline; its rates are those of the mean time. The first five fields are the roofline
            /// exercise's, to the letter: `k,ai,gflops,bandwidth,percent_peak` as `%d,%.6f,%.2f,%.2f,%.2f`, where `k` is the
            /// first axis. A rate whose bytes or operations the workload does not say is not known.
            pub struct Record of Measurement<'_>, columns ROOFLINE, {
                /// The grid as it was asked for, to tell curves apart.
                grid_size: GridSize = |it| it.launched.grid;
                /// The workload's first axis, along which a curve goes.
                along: Option<&'static str> = |it| it.launched.values.first().map(|(name, _)| *name);
                /// The arithmetic that the kernel is made of.
                arithmetic: Option<Limit> = |it| it.arithmetic.map(|(limit, _)| limit);
                /// Whether the emulator ran it: the times are the host's.
                is_emulated: bool = |it| it.context.properties.is_emulated();
                /// The intensity that `predicted_gflops` is for, FLOP/byte.
                predicted_ai: Option<f64> = |it| it.predicted.map(|it| it.intensity.0);
                /// Registers, spills and occupancy of the kernel on the GPU of the prediction, where `ptxas` has said
                /// what they are.
                resources: Option<Resources> = |it| it.context.resources();
            }
            $($row)*
        }
    };
}

roofline_columns!(rows);

/// The types of columns that are not numbers or text.
macro_rules! named {
    ($($type:ty),*) => {
        $(impl Named for $type {
            fn text(&self) -> String {
                self.name().to_owned()
            }
        })*
    };
}

named!(Limit, Bound, Origin, TensorType);

/// Names and values in order; an axis of another workload has no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisValues(pub Vec<(&'static str, Option<Value>)>);

impl Serialize for AxisValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.fields("", &mut map)?;
        map.end()
    }
}

impl ColumnValue for AxisValues {
    fn cells(&self, _: &'static Column) -> Vec<Cell> {
        let values = self.0.iter();
        values
            .map(|(name, value)| known(name, value.as_ref()))
            .collect()
    }

    fn fields<M: SerializeMap>(&self, _: &'static str, map: &mut M) -> Result<(), M::Error> {
        let mut values = self.0.iter();
        values.try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

/// A measured launch, and what the formulas of several columns begin with.
struct Measurement<'a> {
    launched: &'a Launched<'a>,
    context: &'a Context<'a>,
    samples: &'a Samples,
    /// Of a second measurement.
    again: Option<&'a Samples>,
    time: Summary,
    /// Operations per second.
    rate: Option<f64>,
    /// Bytes per second.
    moved: Option<f64>,
    in_l2: bool,
    /// The data sheet's.
    roofs: Roofs,
    measured: Option<Roofs>,
    /// The measured ones, or else the data sheet's.
    reached: Roofs,
    roof: Option<Roof>,
    measured_roof: Option<Roof>,
    arithmetic: Option<(Limit, FlopsPerSec)>,
    situation: Situation,
    bound: Option<Bound>,
    clock_hz: Option<f64>,
    measured_flop: Option<f64>,
    predicted: Option<Attainable>,
    predicted_time: Option<PredictedTime>,
    occupancy: Option<Theoretical>,
}

impl<'a> Measurement<'a> {
    /// `None` if there are no samples.
    fn new(
        launched: &'a Launched<'a>,
        samples: &'a Samples,
        again: Option<&'a Samples>,
        context: &'a Context<'a>,
    ) -> Option<Measurement<'a>> {
        const MS_PER_S: f64 = 1e3;
        let time = samples.summary()?;
        let seconds = time.mean / MS_PER_S;
        let work = launched.work;
        let in_l2 = context.is_in_l2(launched);
        let roofs = context.roofs(work);
        let measured = context.measured(work, in_l2);
        let reached = measured.unwrap_or(roofs);
        let sheet = |precision| context.roofs.get(&precision).copied();
        let of_ceilings = |precision| context.ceilings?.roofs(precision, in_l2);
        let arithmetic = match measured {
            Some(_) => work.ceiling(of_ceilings),
            None => work.ceiling(sheet),
        };
        let situation = context.situation(launched, seconds, &reached, arithmetic, in_l2);
        let precisions = work.precisions();
        let predicted = context.attainable(launched);
        let clocks: Vec<f64> = samples.clock_hz.iter().copied().flatten().collect();
        let mut measurement = Measurement {
            launched,
            context,
            samples,
            again,
            rate: work
                .flops()
                .map(|flops| flops / seconds)
                .filter(|it| it.is_finite()),
            moved: work
                .bytes()
                .map(|bytes| bytes / seconds)
                .filter(|it| it.is_finite()),
            time,
            in_l2,
            roofs,
            measured,
            reached,
            roof: launched.roof(&roofs, sheet),
            measured_roof: measured.and_then(|it| launched.roof(&it, of_ceilings)),
            arithmetic,
            situation,
            bound: None,
            clock_hz: Summary::of(&clocks).map(|clocks| clocks.median),
            // Counters have no column for operations on integers.
            measured_flop: match work.numbers() {
                Numbers::Floats => context.measured.map(|it| it.instructions.flop(&precisions)),
                Numbers::Integers => None,
            },
            predicted,
            predicted_time: context.attainable_time(launched, predicted),
            occupancy: context.theoretical(),
        };
        measurement.bound = measurement.bound();
        Some(measurement)
    }

    /// Whether the workload or the emulator says what the launch moves or computes.
    fn is_known(&self) -> bool {
        self.moved.is_some() || self.rate.is_some()
    }

    /// As of the tensor cores of most GPUs.
    fn has_unknown_roof(&self) -> bool {
        self.rate.is_some() && self.arithmetic.is_none()
    }

    fn bound(&self) -> Option<Bound> {
        let bound = self.is_known().then(|| self.situation.bound());
        bound.filter(|bound| !self.has_unknown_roof() || *bound == Bound::Bandwidth)
    }

    fn first_axis(&self) -> AxisValues {
        AxisValues(self.axes().take(1).collect())
    }

    fn other_axes(&self) -> AxisValues {
        AxisValues(self.axes().skip(1).collect())
    }

    /// Those of all workloads but the element type, which has a column of its own.
    fn axes(&self) -> impl Iterator<Item = (&'static str, Option<Value>)> {
        let names = self.context.axes.iter().filter(|name| **name != DTYPE);
        names.map(|name| (*name, self.launched.value(name).cloned()))
    }

    fn modelled(&self) -> Option<&Modelled> {
        self.context.modelled.as_ref()?.as_ref().ok()
    }

    /// So much per launch of the row, in 10^9 per second by the model.
    fn modelled_rate(&self, amount: Option<f64>) -> Option<f64> {
        Some(self.modelled()?.rate(amount?))
    }

    /// The prediction of the model, not of the roofs.
    fn of_model(&self) -> Option<&prediction::Prediction> {
        self.modelled().map(|it| &it.prediction)
    }

    fn counted(&self) -> Option<&Sum> {
        self.context.figures.sum()
    }

    /// The counts of this very launch, not of smaller ones.
    fn exact(&self) -> Option<Sums> {
        self.counted()?.exact
    }

    fn counters(&self) -> Option<Measured> {
        self.context.measured
    }

    /// The count of the instructions of a column.
    fn instructions(&self, column: &str) -> Option<f64> {
        self.counters()?.instructions.of_column(column)
    }

    fn percent_peak(&self) -> Option<f64> {
        let peak = self.context.peak(self.launched.work, self.roofs.peak)?;
        Some(100.0 * self.rate? / peak.0)
    }

    /// The rate as a percentage of a roof; without operations the bandwidth as one of memory's.
    fn percent(&self, roof: Option<Roof>, memory: BytesPerSec) -> Option<f64> {
        match (self.rate, roof, self.moved) {
            (Some(rate), Some(roof), _) => Some(100.0 * rate / roof.value.0),
            (None, _, Some(moved)) => Some(100.0 * moved / memory.0),
            _ => None,
        }
    }

    fn percent_roof(&self) -> Option<f64> {
        self.percent(self.roof, self.roofs.memory)
    }

    fn percent_measured_roof(&self) -> Option<f64> {
        self.percent(self.measured_roof, self.measured?.memory)
    }

    fn percent_peak_at_clock(&self) -> Option<f64> {
        // The data sheet has the rate of tensor cores for a lower clock, which it does not name.
        if !self.launched.work.tensor_types().is_empty() {
            return None;
        }
        let highest = self.context.properties.gpu.as_ref()?.clock_hz;
        Some(100.0 * self.rate? / (self.roofs.fma.0 * self.clock_hz? / highest))
    }

    fn limiting_roof(&self) -> Option<Limit> {
        match (self.roof, self.moved) {
            (None, Some(_)) if !self.has_unknown_roof() => Some(Limit::Memory),
            (roof, _) => roof.map(|it| it.limit),
        }
    }

    fn measured_ai(&self) -> Option<f64> {
        let counters = self.counters().filter(|it| it.dram_bytes > 0.0)?;
        Some(self.measured_flop? / counters.dram_bytes)
    }

    fn dram_over_least(&self) -> Option<f64> {
        let least = self.counted().filter(|it| it.bytes > 0)?.bytes as f64;
        Some(self.counters()?.dram_bytes / least)
    }

    fn formula_ai(&self) -> Option<f64> {
        let figures = &self.context.figures;
        let is_said = figures.says_flop && figures.says_bytes;
        let said = self.launched.work.intensity().filter(|_| is_said);
        said.map(|it| it.0)
    }

    fn predicted_gpu(&self) -> Option<String> {
        let prediction = self.context.prediction?;
        let is_known = self.predicted_time.is_some() || self.of_model().is_some();
        is_known.then(|| prediction.roofs.gpu.name.clone())
    }

    fn advice(&self) -> &'static str {
        match (self.context.properties.is_emulated(), self.is_known()) {
            (true, _) => EMULATED,
            (false, _) if self.time.mean.is_nan() => {
                "No sample took any time: the clock of this device does not advance."
            }
            (false, true) if self.bound.is_none() => {
                "The roof of its arithmetic is not known here: what bounds it is not, either."
            }
            (false, true) => self.situation.advice(),
            (false, false) => "Say what the launch moves and computes: its roofs follow from that.",
        }
    }

    fn flags(&self) -> Vec<String> {
        let highest = self.context.properties.gpu.as_ref().map(|gpu| gpu.clock_hz);
        let is_slow = |clock: f64| highest.is_some_and(|highest| clock < FULL_CLOCK * highest);
        // Memory's roof is none to data in a cache.
        let percent_roof = match self.in_l2 {
            true => {
                let flat = self.context.peak(self.launched.work, self.roofs.fma);
                self.rate
                    .zip(flat)
                    .map(|(rate, flat)| 100.0 * rate / flat.0)
            }
            false => self.percent_roof(),
        };
        let percents = [percent_roof, self.percent_measured_roof()];
        let highest_percent = percents.into_iter().flatten().fold(0.0, f64::max);
        let conditions = &self.samples.conditions;
        let own = [
            ("noisy", self.time.rms_percent > NOISY_PERCENT),
            ("untimed", self.samples.lacks_times()),
            ("outliers", outliers(&self.samples.timed()) > 0),
            ("clock", self.clock_hz.is_some_and(is_slow)),
            ("implausible", highest_percent > PLAUSIBLE_PERCENT),
            // One of them is this.
            (
                "shared",
                conditions.processes.is_some_and(|count| count > 1),
            ),
        ];
        let own = own.into_iter().filter(|(_, is_so)| *is_so);
        own.map(|(name, _)| name.to_owned())
            .chain(conditions.throttled_by.iter().cloned())
            .collect()
    }
}

impl Record {
    /// The record of a launch whose output was not found wrong. `None` if there are no samples.
    pub(super) fn new(
        launched: &Launched<'_>,
        samples: Samples,
        again: Option<&Samples>,
        context: &Context<'_>,
    ) -> Option<Record> {
        let measurement = Measurement::new(launched, &samples, again, context)?;
        Some(Record::of(&measurement))
    }

    /// The kernel and how it was launched: what a curve of the chart has in common.
    pub(crate) fn series(&self) -> Series<'_> {
        let others = self.all_axes();
        Series {
            kernel: &self.kernel,
            dtype: self.dtype.as_deref(),
            axes: others
                .filter(|(name, _)| Some(*name) != self.along)
                .filter_map(|(name, value)| Some((*name, value.as_ref()?)))
                .collect(),
            block: self.block,
            grid: self.grid_size,
            cache: self.cache,
        }
    }

    /// The name of an operation in the units of its rates: `FLOP`, or `op` of integers.
    pub(crate) fn operation(&self) -> &'static str {
        let precision = self.dtype.as_deref().and_then(|it| it.parse().ok());
        precision.unwrap_or(Precision::F32).operation()
    }

    /// Where it lies on its curve: the name and the value of the workload's first axis.
    pub fn along(&self) -> Option<(&'static str, &Value)> {
        let (name, value) = self
            .all_axes()
            .find(|(name, _)| Some(*name) == self.along)?;
        Some((*name, value.as_ref()?))
    }

    /// Where charts and tables put a predicted row: the rate in 10^9 FLOP/s by the model, or else the most that the
    /// roofs allow, and the milliseconds that the row's operations take then.
    pub(crate) fn predicted_speed(&self) -> Option<(f64, f64)> {
        let by_roofs = self.predicted_gflops.zip(self.predicted_ms);
        let of_row = |blocks: u64| self.grid as f64 / blocks as f64;
        let ms = self.model_ms.zip(self.model_blocks);
        let ms = ms.map(|(ms, blocks)| ms * of_row(blocks));
        let by_model = self.model_gflops.zip(ms);
        by_model.filter(|(gflops, _)| *gflops > 0.0).or(by_roofs)
    }

    fn all_axes(&self) -> impl Iterator<Item = &(&'static str, Option<Value>)> {
        self.first.0.iter().chain(&self.axes.0)
    }
}

/// How far the medians of two measurements are apart, percent.
fn difference(time: &Summary, again: &Samples) -> Option<f64> {
    let again = again.summary()?;
    Some(100.0 * (again.median - time.median).abs() / time.median)
}

/// Records of one launch that differ in the first axis alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series<'a> {
    /// The workload's name.
    pub(crate) kernel: &'a str,
    /// The element type.
    pub(crate) dtype: Option<&'a str>,
    /// The other axes' values.
    pub(crate) axes: Vec<(&'static str, &'a Value)>,
    /// Threads per block.
    pub(crate) block: u64,
    /// Blocks in the grid, as asked for.
    pub(crate) grid: GridSize,
    /// `warm` or `cold`.
    pub(crate) cache: &'static str,
}

impl Series<'_> {
    /// Returns the parts that tell it apart, each with name and value; kernel and element type have no name.
    pub(crate) fn parts(&self) -> Vec<(&'static str, String)> {
        let mut parts = vec![("", self.kernel.to_owned())];
        parts.extend(self.dtype.map(|dtype| ("", dtype.to_owned())));
        let axes = self.axes.iter();
        parts.extend(axes.map(|(name, value)| (*name, value.to_string())));
        parts.push(("block", self.block.to_string()));
        parts.push(("grid", self.grid.to_string()));
        parts.push(("cache", self.cache.to_owned()));
        parts
    }
}

/// Groups records by series, in order of first appearance.
pub(crate) fn by_series(records: &[Record]) -> Vec<(Series<'_>, Vec<&Record>)> {
    let mut groups: Vec<(Series<'_>, Vec<&Record>)> = Vec::new();
    for record in records {
        let series = record.series();
        match groups.iter_mut().find(|(known, _)| *known == series) {
            Some((_, members)) => members.push(record),
            None => groups.push((series, vec![record])),
        }
    }
    groups
}
