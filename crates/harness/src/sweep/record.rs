//! What a measured point comes to.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::count::{Origin, Sum};
use super::predict::Prediction;
use crate::ceilings::Ceilings;
use crate::driver::{DeviceProperties, LaunchConfig};
use crate::measure::{
    CacheState, Conditions, InstructionColumns, Measured, Samples, Summary, outliers,
};
use crate::model::{
    Attainable, Bound, BytesPerSec, FlopsPerSec, Limit, Precision, Roof, Roofs, Situation,
    TensorType, Work,
};
use crate::profile::Resources;
use crate::workload::{Case, DTYPE, GridSize, Point, Value};

/// A deviation above this is noisy, percent.
pub const NOISY_PERCENT: f64 = 5.0;
/// A clock below this share of the highest is reduced.
const FULL_CLOCK: f64 = 0.98;
/// A rate above this percentage of its roof, measured or not, is implausible.
pub const PLAUSIBLE_PERCENT: f64 = 102.0;

/// The advice of an emulated row.
const EMULATED: &str = "Timed on the host's CPU: its speed says nothing of a GPU's.";

/// One row of a roofline; its rates are those of the mean time. The first five fields are the roofline
/// exercise's. A rate whose bytes or operations the workload does not say is not known.
///
/// JSON has its fields, CSV and Markdown the columns that [`Row::columns`](crate::table::Row) names: a field that
/// `report/columns.rs` lacks is in JSON alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The first axis of the sweep, if there is one.
    #[serde(flatten)]
    pub first: AxisValues,
    /// Arithmetic intensity, FLOP/byte.
    pub ai: Option<f64>,
    /// 1e9 FLOP/s.
    pub gflops: Option<f64>,
    /// 1e9 bytes/s.
    pub bandwidth: Option<f64>,
    /// `gflops` as a percentage of the device's peak: of multiply-adds, or of the tensor cores that the kernel uses.
    pub percent_peak: Option<f64>,
    /// The workload's name.
    pub kernel: String,
    /// The element type: of an axis of that name, or of most operations.
    pub dtype: Option<String>,
    /// The other axes.
    #[serde(flatten)]
    pub axes: AxisValues,
    /// Threads per block.
    pub block: u64,
    /// Blocks in the grid.
    pub grid: u64,
    /// Blocks for each multiprocessor, where the grid was asked for so.
    pub blocks_per_sm: Option<u32>,
    /// Mean time of a launch.
    pub mean_ms: f64,
    /// Median time of a launch.
    pub median_ms: f64,
    /// Shortest time of a launch.
    pub min_ms: f64,
    /// Population standard deviation of the times, percent of the mean.
    pub rms_percent: f64,
    /// The lowest roof over the point.
    pub limiting_roof: Option<Limit>,
    /// The intensity at which memory and this arithmetic take the same time, FLOP/byte: of the measured
    /// roofs where they are known.
    pub ridge_point: Option<f64>,
    /// What the roof allows at the point's intensity, 1e9 FLOP/s.
    pub roof_gflops: Option<f64>,
    /// `gflops` as a percentage of `roof_gflops`; without operations `bandwidth` as one of memory's.
    pub percent_roof: Option<f64>,
    /// The lowest measured roof, where the device's ceilings are known, 1e9 FLOP/s.
    pub measured_roof_gflops: Option<f64>,
    /// As `percent_roof`, of the measured roof.
    pub percent_measured_roof: Option<f64>,
    /// `gflops` as a percentage of the arithmetic peak at the clock that the samples ran at; not of tensor cores.
    pub percent_peak_at_clock: Option<f64>,
    /// What the launch waits for, where the roofs of what it does are known.
    pub bound: Option<Bound>,
    /// `L2` where the bytes fit into the level 2 cache and it is warm, else `memory`.
    pub working_set: &'static str,
    /// What the caches held when a launch began.
    pub cache: &'static str,
    /// Samples.
    pub samples: usize,
    /// Launches of a sample.
    pub batch: u32,
    /// Samples far from the others. They are in the mean.
    pub outliers: usize,
    /// The median of the samples' clocks, from the device's counters.
    pub clock_mhz: Option<f64>,
    /// The clock that the management library said.
    pub nvml_clock_mhz: Option<u32>,
    /// Power draw.
    pub power_watts: Option<f64>,
    /// Temperature of the chip, degrees Celsius.
    pub temperature: Option<u32>,
    /// How much two measurements of the point in this run differ, percent, where it was measured
    /// twice.
    pub noise_floor_percent: Option<f64>,
    /// What is to be said against the row: `noisy outliers clock implausible shared` and what throttled
    /// it.
    pub flags: Vec<String>,
    /// Operations on floating point that the emulator has counted.
    pub counted_flop: Option<u64>,
    /// Bytes of the distinct sectors that it has seen read and written.
    pub counted_bytes: Option<u64>,
    /// The first over the second, FLOP/byte.
    pub counted_ai: Option<f64>,
    /// Whether these are of the launch itself or scaled from smaller ones.
    pub counted_from: Option<Origin>,
    /// Why the emulator was asked and these are empty.
    pub not_counted: Option<String>,
    /// Where the operations come from that the rates are of.
    pub flop_from: Option<Origin>,
    /// Where the bytes come from.
    pub bytes_from: Option<Origin>,
    /// The types whose matrices the kernel's tensor cores multiply.
    pub tensor_types: Vec<TensorType>,
    /// The GPU's number on its machine.
    pub gpu: Option<u32>,
    /// What ran it.
    pub device: String,
    /// Whether the output was compared with a reference; a row that differs from it is not written.
    pub checked: bool,
    /// Bytes that the GPU's memory gave and took in a launch, as its counters say.
    pub dram_bytes: Option<f64>,
    /// Bytes that multiprocessors asked the level 2 cache for or gave it.
    pub l2_bytes: Option<f64>,
    /// Operations on floating point of a launch, as the GPU's counters say.
    pub measured_flop: Option<f64>,
    /// The intensity of these two, FLOP/byte.
    pub measured_ai: Option<f64>,
    /// The arithmetic of a launch by kind and type, as the GPU's counters say.
    #[serde(flatten)]
    pub measured_instructions: InstructionColumns,
    /// `dram_bytes` over `counted_bytes`, which are the least that memory must move.
    pub dram_over_least: Option<f64>,
    /// One sentence: what to try. Of an emulated run, whose times are the host's, that nothing follows from them.
    pub advice: &'static str,
    /// The GPU that the next two were computed for; nothing was measured on it.
    pub predicted_gpu: Option<String>,
    /// The lowest of its roofs over the launch.
    pub predicted_limit: Option<Limit>,
    /// What that roof allows at the counted intensity, else at the formula's, 1e9 FLOP/s.
    pub predicted_gflops: Option<f64>,
    /// The time of a launch, for each sample, in order.
    pub samples_ms: Vec<f64>,
    /// The clock of each sample.
    pub samples_clock_hz: Vec<Option<f64>>,
    /// The grid as it was asked for, to tell curves apart.
    #[serde(skip)]
    pub grid_size: GridSize,
    /// The workload's first axis, along which a curve goes.
    #[serde(skip)]
    pub along: Option<&'static str>,
    /// The arithmetic that the kernel is made of.
    #[serde(skip)]
    pub arithmetic: Option<Limit>,
    /// What the predicted GPU moves at most in a second of such launches, 1e9 bytes.
    #[serde(skip)]
    pub predicted_bandwidth: Option<f64>,
    /// Whether the emulator ran it: the times are the host's.
    #[serde(skip)]
    pub is_emulated: bool,
    /// The intensity that `predicted_gflops` is for, FLOP/byte.
    #[serde(skip)]
    pub predicted_ai: Option<f64>,
    /// Registers, spills and occupancy of the kernel on the GPU of the prediction, where `ptxas` has said what they
    /// are.
    #[serde(skip)]
    pub resources: Option<Resources>,
}

/// Names and values in order; an axis of another workload has no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisValues(pub Vec<(&'static str, Option<Value>)>);

impl Serialize for AxisValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// What a point is compared with.
pub(super) struct Context<'a> {
    pub(super) properties: &'a DeviceProperties,
    /// The names of all workloads' axes.
    pub(super) axes: &'a [&'static str],
    /// Of the data sheet, by type; there is one at least.
    pub(super) roofs: &'a BTreeMap<Precision, Roofs>,
    pub(super) ceilings: Option<&'a Ceilings>,
    pub(super) is_checked: bool,
    pub(super) figures: Figures,
    /// What the hardware has counted.
    pub(super) measured: Option<Measured>,
    /// What a GPU would allow that need not be present.
    pub(super) prediction: Option<&'a Prediction>,
}

/// What is known of a launch's bytes and operations, but for the hardware's.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Whether the workload says its operations, and its bytes.
    pub(super) says_flop: bool,
    pub(super) says_bytes: bool,
    /// What the emulator has counted, or why it has not; `None` where it was not asked.
    pub(super) counted: Option<Result<Sum, String>>,
}

impl Figures {
    /// Of a workload that says as much, and that nobody has counted.
    pub(super) fn of_formula(formula: &Work) -> Figures {
        Figures {
            says_flop: formula.flops().is_some(),
            says_bytes: formula.bytes().is_some(),
            counted: None,
        }
    }

    /// Whether some operations were counted that no roof is for.
    fn has_unknown(&self) -> bool {
        self.sum().is_some_and(|it| it.unknown_flop > 0.0)
    }

    fn sum(&self) -> Option<&Sum> {
        self.counted.as_ref()?.as_ref().ok()
    }

    /// Why there are no counts, where there should be.
    fn reason(&self) -> Option<String> {
        match self.counted.as_ref()? {
            Ok(sum) if sum.unknown_flop > 0.0 => Some(format!(
                "{:.0} of the operations are of a type without a roof here: nothing is predicted",
                sum.unknown_flop
            )),
            Ok(_) => None,
            Err(reason) => Some(reason.clone()),
        }
    }

    /// Where a figure comes from that is known.
    fn origin(&self, is_said: bool) -> Option<Origin> {
        match is_said {
            true => Some(Origin::Formula),
            false => self.sum().map(|it| it.origin),
        }
    }
}

/// A launch, as far as its record depends on it.
pub(super) struct Launched<'a> {
    workload: &'a str,
    values: &'a [(&'static str, Value)],
    grid: GridSize,
    cache: CacheState,
    config: LaunchConfig,
    work: &'a Work,
    overhead: &'a Work,
    load_bytes: Option<u32>,
}

impl<'a> Launched<'a> {
    pub(super) fn new(point: &'a Point<'_>, case: &'a Case<'_>) -> Launched<'a> {
        Launched {
            workload: &point.workload,
            values: &point.values,
            grid: point.grid,
            cache: point.cache,
            config: case.config,
            work: &case.work,
            overhead: &case.overhead,
            load_bytes: case.loads.map(|(bytes, _)| bytes),
        }
    }

    fn value(&self, axis: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(name, _)| *name == axis);
        found.map(|(_, value)| value)
    }

    fn dtype(&self) -> Option<String> {
        match self.value(DTYPE) {
            Some(value) => Some(value.to_string()),
            None => self.work.precision().map(|it| it.name().to_owned()),
        }
    }

    /// The lowest roof: of `roofs` for memory and `of` for each type's arithmetic.
    fn roof(&self, memory: &Roofs, of: impl Fn(Precision) -> Option<Roofs>) -> Option<Roof> {
        let ceiling = self.work.ceiling(of)?;
        Some(match self.work.intensity() {
            Some(intensity) => memory.limiting(intensity, ceiling),
            None => Roof {
                limit: ceiling.0,
                value: ceiling.1,
            },
        })
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
        const MS_PER_S: f64 = 1e3;
        let time = Summary::of(&samples.ms)?;
        let seconds = time.mean / MS_PER_S;
        let work = launched.work;
        let counted = context.figures.sum();
        let rate = work.flops().map(|flops| flops / seconds);
        let moved = work.bytes().map(|bytes| bytes / seconds);
        let in_l2 = context.is_in_l2(launched);
        let roofs = context.roofs(work);
        let measured = context.measured(work, in_l2);
        let reached = measured.unwrap_or(roofs);
        let sheet = |precision| context.roofs.get(&precision).copied();
        let of_ceilings = |precision| context.ceilings?.roofs(precision, in_l2);
        let roof = launched.roof(&roofs, sheet);
        let measured_roof = measured.and_then(|it| launched.roof(&it, of_ceilings));
        let percent = |roof: Option<Roof>, memory: f64| match (rate, roof, moved) {
            (Some(rate), Some(roof), _) => Some(100.0 * rate / roof.value.0),
            (None, _, Some(moved)) => Some(100.0 * moved / memory),
            _ => None,
        };
        let arithmetic = match measured {
            Some(_) => work.ceiling(of_ceilings),
            None => work.ceiling(sheet),
        };
        let situation = context.situation(launched, seconds, &reached, arithmetic, in_l2);
        let precisions = work.precisions();
        let measured_flop = context.measured.map(|it| it.instructions.flop(&precisions));
        let predicted = context.attainable(launched);
        let predicted_bandwidth = context.attainable_bandwidth(launched, predicted);
        let is_known = work.bytes().is_some() || work.flops().is_some();
        // As of the tensor cores of most GPUs.
        let has_unknown_roof = work.flops().is_some() && arithmetic.is_none();
        let bound = is_known
            .then(|| situation.bound())
            .filter(|bound| !has_unknown_roof || *bound == Bound::Bandwidth);
        let clocks: Vec<f64> = samples.clock_hz.iter().copied().flatten().collect();
        let clock_hz = Summary::of(&clocks).map(|clocks| clocks.median);
        let axes = context.axes.iter().filter(|name| **name != DTYPE);
        let mut axes = axes.map(|name| (*name, launched.value(name).cloned()));
        let mut record = Record {
            first: AxisValues(axes.next().into_iter().collect()),
            ai: work.intensity().map(|it| it.0),
            gflops: rate.map(|rate| rate / 1e9),
            bandwidth: moved.map(|moved| moved / 1e9),
            percent_peak: rate
                .zip(context.peak(work, roofs.peak))
                .map(|(rate, peak)| 100.0 * rate / peak.0),
            kernel: launched.workload.to_owned(),
            dtype: launched.dtype(),
            axes: AxisValues(axes.collect()),
            block: launched.config.block_threads(),
            grid: launched.config.grid.iter().product(),
            blocks_per_sm: launched.grid.per_multiprocessor(),
            mean_ms: time.mean,
            median_ms: time.median,
            min_ms: time.min,
            rms_percent: time.rms_percent,
            limiting_roof: match (roof, moved) {
                (None, Some(_)) if !has_unknown_roof => Some(Limit::Memory),
                (roof, _) => roof.map(|it| it.limit),
            },
            ridge_point: arithmetic.map(|(_, rate)| (rate / reached.memory).0),
            roof_gflops: roof.map(|it| it.value.giga()),
            percent_roof: percent(roof, roofs.memory.0),
            measured_roof_gflops: measured_roof.map(|it| it.value.giga()),
            percent_measured_roof: measured.and_then(|it| percent(measured_roof, it.memory.0)),
            percent_peak_at_clock: clock_hz.and_then(|hz| {
                // The data sheet has the rate of tensor cores for a lower clock, which it does not name.
                if !work.tensor_types().is_empty() {
                    return None;
                }
                let highest = context.properties.gpu.as_ref()?.clock_hz;
                Some(100.0 * rate? / (roofs.fma.0 * hz / highest))
            }),
            bound,
            working_set: if in_l2 { "L2" } else { "memory" },
            cache: launched.cache.name(),
            samples: samples.ms.len(),
            batch: samples.batch,
            outliers: outliers(&samples.ms),
            clock_mhz: clock_hz.map(|hz| hz / 1e6),
            nvml_clock_mhz: samples.conditions.clock_mhz,
            power_watts: samples.conditions.power_watts,
            temperature: samples.conditions.temperature,
            noise_floor_percent: again.and_then(|again| difference(&time, again)),
            flags: Vec::new(),
            gpu: context.properties.gpu.as_ref().map(|gpu| gpu.ordinal),
            device: context.properties.name.clone(),
            checked: context.is_checked,
            counted_flop: counted.map(|it| it.flop),
            counted_bytes: counted.map(|it| it.bytes),
            counted_ai: counted.and_then(Sum::intensity),
            counted_from: counted.map(|it| it.origin),
            not_counted: context.figures.reason(),
            flop_from: rate.and_then(|_| context.figures.origin(context.figures.says_flop)),
            bytes_from: moved.and_then(|_| context.figures.origin(context.figures.says_bytes)),
            dram_bytes: context.measured.map(|it| it.dram_bytes),
            l2_bytes: context.measured.map(|it| it.l2_bytes),
            measured_flop,
            measured_ai: context
                .measured
                .filter(|it| it.dram_bytes > 0.0)
                .and_then(|it| Some(measured_flop? / it.dram_bytes)),
            measured_instructions: InstructionColumns(context.measured.map(|it| it.instructions)),
            dram_over_least: context
                .measured
                .zip(counted)
                .and_then(|(measured, counted)| {
                    (counted.bytes > 0).then(|| measured.dram_bytes / counted.bytes as f64)
                }),
            advice: match (context.properties.is_emulated(), is_known) {
                (true, _) => EMULATED,
                (false, true) if bound.is_none() => {
                    "The roof of its arithmetic is not known here: what bounds it is not, either."
                }
                (false, true) => situation.advice(),
                (false, false) => {
                    "Say what the launch moves and computes: its roofs follow from that."
                }
            },
            predicted_gpu: predicted_bandwidth
                .and(context.prediction)
                .map(|it| it.roofs.gpu.name.clone()),
            predicted_limit: predicted_bandwidth.map(|(limit, _)| limit),
            predicted_bandwidth: predicted_bandwidth.map(|(_, rate)| rate.giga()),
            is_emulated: context.properties.is_emulated(),
            predicted_gflops: predicted.map(|it| it.rate.giga()),
            predicted_ai: predicted.map(|it| it.intensity.0),
            resources: context.resources(),
            samples_ms: samples.ms,
            samples_clock_hz: samples.clock_hz,
            grid_size: launched.grid,
            along: launched.values.first().map(|(name, _)| *name),
            tensor_types: work.tensor_types(),
            arithmetic: arithmetic.map(|(limit, _)| limit),
        };
        let flat = context.peak(work, roofs.fma);
        record.flags = context.flags(&record, flat, samples.conditions);
        Some(record)
    }

    /// The kernel and how it was launched: what a curve of the chart has in common.
    pub fn series(&self) -> Series<'_> {
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

    /// Where it lies on its curve: the name and the value of the workload's first axis.
    pub fn along(&self) -> Option<(&'static str, &Value)> {
        let (name, value) = self
            .all_axes()
            .find(|(name, _)| Some(*name) == self.along)?;
        Some((*name, value.as_ref()?))
    }

    fn all_axes(&self) -> impl Iterator<Item = &(&'static str, Option<Value>)> {
        self.first.0.iter().chain(&self.axes.0)
    }
}

/// How far the medians of two measurements are apart, percent.
fn difference(time: &Summary, again: &Samples) -> Option<f64> {
    let again = Summary::of(&again.ms)?;
    Some(100.0 * (again.median - time.median).abs() / time.median)
}

impl Context<'_> {
    /// What the predicted GPU allows what was counted, or else what the workload says. Overhead takes time, and is no
    /// result.
    fn attainable(&self, launched: &Launched<'_>) -> Option<Attainable> {
        if self.figures.has_unknown() {
            return None;
        }
        let roofs = &self.prediction?.roofs;
        let known = launched.work;
        let counted = self.figures.sum().and_then(|sum| {
            let useful = match self.figures.says_flop {
                true => known.clone(),
                false => known.clone().without(launched.overhead),
            };
            roofs.attainable(&sum.work, &useful)
        });
        counted.or_else(|| roofs.attainable(known, known))
    }

    /// The bytes that move meanwhile, and what limits them; also where nothing is computed.
    fn attainable_bandwidth(
        &self,
        launched: &Launched<'_>,
        attainable: Option<Attainable>,
    ) -> Option<(Limit, BytesPerSec)> {
        if self.figures.has_unknown() {
            return None;
        }
        let roofs = &self.prediction?.roofs;
        if let Some(it) = attainable {
            return Some((it.limit, BytesPerSec(it.rate.0 / it.intensity.0)));
        }
        let counted = self
            .figures
            .sum()
            .and_then(|sum| roofs.bandwidth(&sum.work));
        counted.or_else(|| roofs.bandwidth(launched.work))
    }

    fn resources(&self) -> Option<Resources> {
        let (kernel, config) = self.figures.sum()?.kernel.as_ref()?;
        let Prediction { roofs, report } = self.prediction?;
        Resources::of(report.as_ref()?, kernel, *config, roofs.gpu.capability)
    }

    /// The data sheet's rate for what tensor cores do of the work, where it is known; of other work `lanes`.
    fn peak(&self, work: &Work, lanes: FlopsPerSec) -> Option<FlopsPerSec> {
        if work.tensor_types().is_empty() {
            return Some(lanes);
        }
        let ceiling = work.ceiling(|precision| self.roofs.get(&precision).copied());
        ceiling.map(|(_, rate)| rate)
    }

    /// The data sheet's roofs for the work's type; where nothing is computed, those of any type have
    /// memory's.
    fn roofs(&self, work: &Work) -> Roofs {
        let of_type = work.precision().and_then(|it| self.roofs.get(&it));
        let any = || self.roofs.values().next();
        *of_type.or_else(any).expect("a sweep has roofs")
    }

    fn measured(&self, work: &Work, in_l2: bool) -> Option<Roofs> {
        let precision = work.precision().unwrap_or(Precision::F32);
        self.ceilings?.roofs(precision, in_l2)
    }

    /// Whether the bytes fit into the level 2 cache and stay there from launch to launch.
    fn is_in_l2(&self, launched: &Launched<'_>) -> bool {
        let l2_bytes = self.properties.gpu.as_ref().map_or(0, |gpu| gpu.l2_bytes);
        let fits = |bytes| bytes <= l2_bytes as f64;
        launched.cache == CacheState::Warm && launched.work.bytes().is_some_and(fits)
    }

    fn situation(
        &self,
        launched: &Launched<'_>,
        seconds: f64,
        roofs: &Roofs,
        arithmetic: Option<(Limit, FlopsPerSec)>,
        in_l2: bool,
    ) -> Situation {
        let blocks: u64 = launched.config.grid.iter().product();
        let threads = blocks * launched.config.block_threads();
        let places = u64::from(self.properties.multiprocessors)
            * u64::from(self.properties.limits.threads_per_multiprocessor);
        let bytes = launched.work.bytes().unwrap_or(0.0);
        let computing = match (launched.work.flops(), arithmetic) {
            (Some(flops), Some((_, rate))) => flops / rate.0,
            _ => 0.0,
        };
        Situation {
            bandwidth_share: bytes / roofs.memory.0 / seconds,
            compute_share: computing / seconds,
            arithmetic: arithmetic.map_or(Limit::Fma, |(limit, _)| limit),
            load_bytes: launched.load_bytes,
            in_l2,
            strides: launched.grid.per_multiprocessor().is_some(),
            is_small: threads < places,
        }
    }

    /// `flat` is the arithmetic roof.
    fn flags(
        &self,
        record: &Record,
        flat: Option<FlopsPerSec>,
        conditions: Conditions,
    ) -> Vec<String> {
        let highest = self.properties.gpu.as_ref().map(|gpu| gpu.clock_hz / 1e6);
        let is_slow = |clock: f64| highest.is_some_and(|highest| clock < FULL_CLOCK * highest);
        // Memory's roof is none to data in a cache.
        let percent_roof = match (record.working_set, record.gflops) {
            ("L2", Some(gflops)) => flat.map(|flat| 100.0 * gflops / flat.giga()),
            ("L2", None) => None,
            _ => record.percent_roof,
        };
        let percents = [percent_roof, record.percent_measured_roof];
        let highest_percent = percents.into_iter().flatten().fold(0.0, f64::max);
        let own = [
            ("noisy", record.rms_percent > NOISY_PERCENT),
            ("outliers", record.outliers > 0),
            ("clock", record.clock_mhz.is_some_and(is_slow)),
            ("implausible", highest_percent > PLAUSIBLE_PERCENT),
            // One of them is this.
            (
                "shared",
                conditions.processes.is_some_and(|count| count > 1),
            ),
        ];
        let own = own.into_iter().filter(|(_, is_so)| *is_so);
        own.map(|(name, _)| name.to_owned())
            .chain(conditions.throttled_by)
            .collect()
    }
}

/// Records of one launch that differ in the first axis alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<'a> {
    /// The workload's name.
    pub kernel: &'a str,
    /// The element type.
    pub dtype: Option<&'a str>,
    /// The other axes' values.
    pub axes: Vec<(&'static str, &'a Value)>,
    /// Threads per block.
    pub block: u64,
    /// Blocks in the grid, as asked for.
    pub grid: GridSize,
    /// `warm` or `cold`.
    pub cache: &'static str,
}

impl Series<'_> {
    /// What tells it apart: each part's name and value; kernel and element type have no name.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
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
pub fn by_series(records: &[Record]) -> Vec<(Series<'_>, Vec<&Record>)> {
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
    use super::*;
    use crate::ceilings::host_roofs;
    use crate::driver::{Device, Emulation};
    use crate::embedded::{Gemv, Polynomial, Stream};
    use crate::measure::Instructions;
    use crate::model::{GpuRoofs, Operation, TensorRoofs};
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
        let rows = std::fs::read_to_string(format!("{results}h200-roofline/roofline.json"));
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
            };
            let samples = Samples {
                ms: vec![ms; 4],
                clock_hz: vec![Some(1.98e9); 4],
                batch: 1,
                conditions: Conditions::default(),
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
            };
            let samples = Samples {
                ms: vec![1.0],
                clock_hz: vec![None],
                batch: 1,
                conditions: Conditions::default(),
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
        };
        let samples = Samples {
            ms: vec![1.35],
            clock_hz: vec![None],
            batch: 1,
            conditions: Conditions::default(),
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
        };
        let samples = Samples {
            ms: vec![1.0],
            clock_hz: vec![None],
            batch: 1,
            conditions: Conditions::default(),
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
