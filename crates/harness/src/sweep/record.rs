//! The record of a measured point.

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ceilings::host_roofs;
    use crate::driver::{Device, Emulation, LaunchConfig};
    use crate::embedded::{Gemv, Polynomial, Stream};
    use crate::measure::{CacheState, Conditions, Instructions};
    use crate::model::{GpuRoofs, Operation, TensorRoofs, Work};
    use crate::sweep::context::Figures;
    use crate::sweep::predict::Prediction;
    use crate::sweep::{Plan, Selection, Settings, Sweep};
    use crate::workload::{Bench, Workload};

    /// A multiply-add of each of so many f32.
    fn work(n: f64) -> Work {
        let moved = Work::default().reads(4.0 * n).writes(4.0 * n);
        moved.operations(Precision::F32, Operation::Fma, n)
    }

    const N: f64 = 67_108_864.0;

    static NONE: std::sync::LazyLock<Work> = std::sync::LazyLock::new(Work::default);

    fn launched(work: &Work, cache: CacheState) -> Launched<'_> {
        Launched {
            workload: "horner",
            values: &[],
            grid: GridSize::Full,
            cache,
            config: LaunchConfig::linear((work.bytes().unwrap_or(0.0) / 32.0) as u64, 256),
            work,
            overhead: &NONE,
            load_bytes: Some(16),
        }
    }

    fn record(ms: &[f64], clock_hz: f64) -> Record {
        record_under(
            Conditions::default(),
            &launched(&work(N), CacheState::Warm),
            ms,
            clock_hz,
        )
    }

    fn record_under(
        conditions: Conditions,
        launched: &Launched<'_>,
        ms: &[f64],
        clock_hz: f64,
    ) -> Record {
        let samples = Samples {
            ms: ms.to_vec(),
            clock_hz: vec![Some(clock_hz); ms.len()],
            batch: 1,
            conditions,
            rounds: vec![],
        };
        record_beside(launched, samples, None)
    }

    fn record_beside(
        launched: &Launched<'_>,
        samples: Samples,
        measured: Option<Measured>,
    ) -> Record {
        let properties = crate::measure::h200();
        let roofs = Roofs::of_device(&properties, Precision::F32).expect("known");
        let context = Context {
            properties: &properties,
            axes: &[],
            roofs: &BTreeMap::from([(Precision::F32, roofs)]),
            ceilings: None,
            is_checked: true,
            figures: Figures::default(),
            measured,
            prediction: None,
            modelled: None,
            occupancy: None,
        };
        Record::new(launched, samples.clone(), Some(&samples), &context).expect("samples")
    }

    #[test]
    fn what_counters_say_is_in_the_columns_and_in_json() {
        use crate::report::Row;

        let measured = Measured {
            dram_bytes: 500.0,
            l2_bytes: 640.0,
            instructions: Instructions([100.0, 50.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0]),
        };
        let row = |measured| {
            let samples = Samples {
                ms: vec![0.128; 4],
                clock_hz: vec![None; 4],
                batch: 1,
                conditions: Conditions::default(),
                rounds: vec![],
            };
            record_beside(&launched(&work(N), CacheState::Warm), samples, measured)
        };
        let with = row(Some(measured));
        let json = serde_json::to_value(&with).expect("a row");
        let columns = with.columns();
        for (name, value) in [
            ("dram_bytes", 500.0),
            ("l2_bytes", 640.0),
            ("measured_flop", 250.0),
            ("measured_fma_f32", 100.0),
            ("measured_add_f32", 50.0),
            ("measured_multiply_f64", 0.0),
            // Of constants: no FLOP of a workload that computes with f32.
            ("measured_fma_f16x2", 9.0),
        ] {
            assert_eq!(json[name], value, "{name}");
            assert!(columns.contains(&(name, value.to_string())), "{columns:?}");
        }
        assert_eq!(json["measured_ai"], 0.5);
        let without = row(None).columns();
        assert!(
            without.contains(&("l2_bytes", String::new())),
            "{without:?}"
        );
        assert_eq!(without.len(), columns.len());
    }

    #[test]
    fn a_sample_of_no_time_is_no_number_and_a_flag() {
        let row = record(&[0.0, -1.0], 1.98e9);
        assert_eq!(row.flags, ["untimed"]);
        let cells = crate::table::Row::columns(&row);
        let cell = |name: &str| {
            cells
                .iter()
                .find(|(it, _)| *it == name)
                .map(|(_, cell)| cell.as_str())
        };
        for name in [
            "mean_ms",
            "median_ms",
            "min_ms",
            "rms_percent",
            "gflops",
            "bandwidth",
            "samples_ms",
            "bound",
        ] {
            assert_eq!(cell(name), Some(""), "{name}");
        }
        assert_eq!(cell("samples"), Some("0"));
        for (name, cell) in &cells {
            assert!(!["NaN", "inf", "-inf"].contains(&cell.as_str()), "{name}");
        }
        // The others count.
        let row = record(&[2.0, 0.0, 2.0], 1.98e9);
        assert_eq!((row.mean_ms, row.samples), (2.0, 2));
        assert!(row.flags.contains(&"untimed".to_owned()));
    }

    #[test]
    fn a_good_row_has_no_flags() {
        let row = record(&[0.128, 0.1281, 0.128, 0.1279], 1.98e9);
        assert_eq!((row.flags.len(), row.bound), (0, Some(Bound::Bandwidth)));
        assert_eq!(
            (row.working_set, row.noise_floor_percent),
            ("memory", Some(0.0))
        );
        assert!(
            row.percent_peak_at_clock
                .zip(row.percent_peak)
                .is_some_and(|(it, peak)| (it - peak).abs() < 0.1)
        );
    }

    #[test]
    fn slow_clocks_slow_samples_and_impossible_rates_are_flagged() {
        let slow = record(&[0.128, 0.128, 0.128, 0.128], 1.5e9);
        assert_eq!(slow.flags, ["clock"]);
        let at_clock = slow.percent_peak_at_clock.expect("a clock");
        let peak = slow.percent_peak.expect("operations");
        assert!((at_clock / peak - 1.98 / 1.5 * 67.0 / 66.9).abs() < 0.01);
        let one = record(&[0.128, 0.128, 0.128, 0.128, 0.128, 0.25], 1.98e9);
        assert_eq!(one.flags, ["noisy", "outliers"]);
        let wrong = record(&[0.05; 4], 1.98e9);
        assert_eq!(wrong.flags, ["implausible"]);
    }

    #[test]
    fn another_process_on_the_gpu_is_flagged() {
        let beside = |processes| {
            let conditions = Conditions {
                processes,
                ..Conditions::default()
            };
            record_under(
                conditions,
                &launched(&work(N), CacheState::Warm),
                &[0.128; 4],
                1.98e9,
            )
            .flags
        };
        assert_eq!(beside(Some(2)), ["shared"]);
        assert!(beside(Some(1)).is_empty() && beside(None).is_empty());
    }

    #[test]
    fn data_in_the_level_2_cache_are_said_to_be_there() {
        let small = work(1048576.0);
        let of = |cache, ms| {
            record_under(
                Conditions::default(),
                &launched(&small, cache),
                &[ms; 4],
                1.98e9,
            )
        };
        let row = of(CacheState::Warm, 0.001);
        assert_eq!((row.working_set, row.flags.len()), ("L2", 0));
        assert_eq!(of(CacheState::Cold, 0.003).working_set, "memory");
    }

    #[test]
    fn what_a_workload_does_not_say_is_left_empty() {
        let bytes = Work::default().writes(4.0 * N);
        let row = record_under(
            Conditions::default(),
            &launched(&bytes, CacheState::Warm),
            &[0.07; 4],
            1.98e9,
        );
        assert_eq!((row.ai, row.gflops, row.roof_gflops), (None, None, None));
        assert_eq!(
            (row.limiting_roof, row.bound),
            (Some(Limit::Memory), Some(Bound::Bandwidth))
        );
        assert!(
            row.percent_roof
                .is_some_and(|it| (79.0..81.0).contains(&it)),
            "{row:?}"
        );
        let nothing = Work::default();
        let row = record_under(
            Conditions::default(),
            &launched(&nothing, CacheState::Warm),
            &[0.07; 4],
            1.98e9,
        );
        assert_eq!(
            (row.bandwidth, row.bound, row.percent_roof),
            (None, None, None)
        );
        assert!(row.advice.contains("moves and computes"));
    }

    /// Rows of an emulated sweep under an H200's roofs.
    fn predicted(workload: &dyn Workload, axes: &[(&str, Vec<Value>)]) -> Vec<Record> {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let mut selection = Selection::defaults(workload, true);
        for (name, values) in &mut selection.values {
            let given = axes.iter().find(|(axis, _)| axis == name);
            *values = given.map_or(values[..1].to_vec(), |(_, given)| given.clone());
        }
        let plan = Plan {
            selected: vec![selection],
            ..Plan::default()
        };
        let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
        sweep.predict(Prediction {
            roofs: GpuRoofs::named("h200").expect("known"),
            report: None,
        });
        let rows = 0..sweep.points().len();
        rows.map(|index| sweep.measure(index, None).expect("it runs"))
            .collect()
    }

    #[test]
    fn no_prediction_is_above_its_own_roof() {
        let whole = |value: u64| vec![Value::from(value)];
        let pairs = [
            ("dtype", vec![Value::from("f16x2")]),
            ("k", whole(1000)),
            ("n", whole(256)),
        ];
        let rows = [
            predicted(&Polynomial::POWER_SUM, &pairs),
            predicted(&Gemv, &[("size", whole(64))]),
            predicted(&Stream::NRM2, &[("n", whole(4096))]),
        ];
        let gpu = GpuRoofs::named("h200").expect("known");
        for row in rows.iter().flatten() {
            let name = row.dtype.as_deref().expect("one type");
            let types = [Precision::F32, Precision::F64, Precision::F16x2];
            let precision = types.into_iter().find(|it| it.name() == name);
            let roofs = gpu.roofs(precision.expect("a type")).expect("known");
            let [ai, rate] = [row.predicted_ai, row.predicted_gflops].map(|it| it.expect("both"));
            let own = row.ai.expect("it computes");
            assert!((ai / own - 1.0).abs() < 0.05, "{ai} {own} {row:?}");
            let ceiling = roofs.ceiling(row.arithmetic.expect("it computes"));
            let roof = (ai * roofs.memory.giga()).min(ceiling.giga());
            assert!(rate <= 1.0001 * roof, "{rate} {roof} {row:?}");
        }
    }

    /// An H200's row under its own data sheet's and measured roofs, as a run of the exercise has it.
    #[test]
    fn a_measured_row_says_what_bounds_it_and_its_share_of_both_roofs() {
        let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/");
        let rows = std::fs::read_to_string(format!("{results}h200-roofline/raw/roofline.json"));
        let rows: serde_json::Value =
            serde_json::from_str(&rows.expect("in the repository")).expect("JSON");
        let saved = &rows["rows"][0];
        let properties = crate::measure::h200();
        let path = format!("{results}h200-ceilings/ceilings.json");
        let ceilings = crate::ceilings::load(path.as_ref(), &properties).expect("an H200's");
        let roofs = Roofs::of_device(&properties, Precision::F32).expect("known");
        let work = work(N);
        let of = |ms: f64| {
            let context = Context {
                properties: &properties,
                axes: &[],
                roofs: &BTreeMap::from([(Precision::F32, roofs)]),
                ceilings: Some(&ceilings),
                is_checked: true,
                figures: Figures::default(),
                measured: None,
                prediction: None,
                modelled: None,
                occupancy: None,
            };
            let samples = Samples {
                ms: vec![ms; 4],
                clock_hz: vec![Some(1.98e9); 4],
                batch: 1,
                conditions: Conditions::default(),
                rounds: vec![],
            };
            let launched = Launched {
                load_bytes: Some(4),
                ..launched(&work, CacheState::Warm)
            };
            let row = Record::new(&launched, samples, None, &context).expect("samples");
            crate::report::terminal::point(&row)
        };
        let number = |name: &str| saved[name].as_f64().expect("a number");
        let text = of(number("mean_ms"));
        for part in [
            format!("{:.1} % of the memory roof, ", number("percent_roof")),
            format!(
                "{:.1} % of the measured one",
                number("percent_measured_roof")
            ),
            format!("bound by {}: ", saved["bound"].as_str().expect("a word")),
            "Too little is in flight: load 16 bytes per thread.".to_owned(),
        ] {
            assert!(text.contains(&part), "{part}: {text}");
        }
        assert!(!text.contains("more than that roof allows"), "{text}");
        assert!(of(0.1).contains("measured one: more than that roof allows"));
    }

    #[test]
    fn operations_without_a_roof_are_told_and_nothing_is_predicted() {
        let properties = crate::measure::h200();
        let roofs = Roofs::of_device(&properties, Precision::F32).expect("known");
        let moved = Work::default().reads(4096.0);
        let prediction = Prediction {
            roofs: GpuRoofs::named("h200").expect("known"),
            report: None,
        };
        let of = |unknown_flop| {
            let config = LaunchConfig::linear(32, 32);
            let sum = Sum {
                work: moved.clone(),
                flop: 8192,
                bytes: 4096,
                unknown_flop,
                ..Sum::of(&[], config, Origin::Counted, 1)
            };
            let context = Context {
                properties: &properties,
                axes: &[],
                roofs: &BTreeMap::from([(Precision::F32, roofs)]),
                ceilings: None,
                is_checked: true,
                figures: Figures {
                    counted: Some(Ok(sum)),
                    ..Figures::of_formula(&moved)
                },
                measured: None,
                prediction: Some(&prediction),
                modelled: None,
                occupancy: None,
            };
            let samples = Samples {
                ms: vec![1.0],
                clock_hz: vec![None],
                batch: 1,
                conditions: Conditions::default(),
                rounds: vec![],
            };
            let launched = launched(&moved, CacheState::Warm);
            Record::new(&launched, samples, None, &context).expect("a sample")
        };
        let tensor = of(8192.0);
        let said = tensor.not_counted.as_deref().expect("a reason");
        assert!(said.starts_with("8192 of the operations"), "{said}");
        assert_eq!(
            (tensor.predicted_gpu, tensor.predicted_gflops),
            (None, None)
        );
        assert_eq!((tensor.predicted_bandwidth, tensor.gflops), (None, None));
        let plain = of(0.0);
        assert!(plain.not_counted.is_none() && plain.predicted_bandwidth.is_some());
    }

    #[test]
    fn products_of_matrices_are_compared_with_what_tensor_cores_do() {
        const N: f64 = 8192.0;
        let product = |tensor| {
            let moved = Work::default().reads(4.0 * N * N).writes(2.0 * N * N);
            moved.operations(Precision::F32, Operation::Tensor(tensor), 2.0 * N.powi(3))
        };
        let bf16 = product(TensorType::Bf16);
        let row = record_under(
            Conditions::default(),
            &launched(&bf16, CacheState::Warm),
            &[1.35],
            1.98e9,
        );
        let tflops = 2.0 * N.powi(3) / 1.35e9;
        let percent = row.percent_peak.expect("the data sheet has it");
        assert!((percent - tflops / 9.894).abs() < 1e-6, "{percent}");
        assert_eq!(row.percent_roof, row.percent_peak);
        assert_eq!(row.limiting_roof, Some(Limit::Tensor));
        assert_eq!(row.percent_peak_at_clock, None);
        assert_eq!(row.bound, Some(Bound::Compute));
        assert!(
            row.advice.starts_with("Tensor cores wait"),
            "{}",
            row.advice
        );
        assert_eq!(row.flags, [""; 0]);
        // Nobody says here how fast those of this type are.
        let properties = crate::measure::h200();
        let roofs = Roofs::of_device(&properties, Precision::F32).expect("known");
        let roofs = Roofs {
            tensor: TensorRoofs::NONE,
            ..roofs
        };
        let context = Context {
            properties: &properties,
            axes: &[],
            roofs: &BTreeMap::from([(Precision::F32, roofs)]),
            ceilings: None,
            is_checked: true,
            figures: Figures::default(),
            measured: None,
            prediction: None,
            modelled: None,
            occupancy: None,
        };
        let samples = Samples {
            ms: vec![1.35],
            clock_hz: vec![None],
            batch: 1,
            conditions: Conditions::default(),
            rounds: vec![],
        };
        let launch = launched(&bf16, CacheState::Warm);
        let unknown = Record::new(&launch, samples, None, &context).expect("a sample");
        assert_eq!((unknown.percent_peak, unknown.percent_roof), (None, None));
        assert_eq!((unknown.limiting_roof, unknown.bound), (None, None));
        assert!(unknown.advice.contains("not known"), "{}", unknown.advice);
        // In the cache memory's roof is none; the tensor cores' is.
        let small = Work::default().reads(4e6).operations(
            Precision::F32,
            Operation::Tensor(TensorType::Bf16),
            2e9,
        );
        let cached = |ms: f64| {
            let launched = launched(&small, CacheState::Warm);
            record_under(Conditions::default(), &launched, &[ms], 1.98e9).flags
        };
        assert_eq!(cached(0.0025), [""; 0], "800 TFLOP/s");
        assert_eq!(cached(0.0015), ["implausible"], "1333 TFLOP/s");
    }

    #[test]
    fn no_figure_is_nan_where_nothing_is_known() {
        let emulator = Device::emulator(Emulation::default());
        let roofs = Roofs {
            memory: BytesPerSec(1e9),
            ..host_roofs(&emulator, Precision::F32).expect("memory")
        };
        let context = Context {
            properties: emulator.properties(),
            axes: &[],
            roofs: &BTreeMap::from([(Precision::F32, roofs)]),
            ceilings: None,
            is_checked: true,
            figures: Figures::default(),
            measured: None,
            prediction: None,
            modelled: None,
            occupancy: None,
        };
        let samples = Samples {
            ms: vec![1.0],
            clock_hz: vec![None],
            batch: 1,
            conditions: Conditions::default(),
            rounds: vec![],
        };
        let row = Record::new(
            &launched(&work(N), CacheState::Warm),
            samples,
            None,
            &context,
        )
        .expect("a sample");
        assert_eq!((row.clock_mhz, row.percent_peak_at_clock), (None, None));
        let figures = [
            row.gflops,
            row.bandwidth,
            row.percent_peak,
            row.percent_roof,
        ];
        assert!(figures.iter().all(|it| it.is_some_and(f64::is_finite)) && row.rms_percent == 0.0);
    }
}
