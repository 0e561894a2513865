//! What a measured point comes to.

use serde::Serialize;

use super::{GridSize, Point};
use crate::ceilings::Ceilings;
use crate::driver::DeviceProperties;
use crate::measure::{CacheState, Conditions, Samples, Summary, outliers};
use crate::model::{Bound, FlopsPerSec, Limit, Roofs, Situation};

/// A deviation above this is noisy, percent.
pub const NOISY_PERCENT: f64 = 5.0;
/// A clock below this share of the highest is reduced.
const FULL_CLOCK: f64 = 0.98;
/// A rate above this percentage of its roof, measured or not, is implausible.
pub const PLAUSIBLE_PERCENT: f64 = 102.0;

/// One row of a roofline. The first five fields are the roofline exercise's; its rates are those of
/// the mean time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Degree of the polynomial.
    pub k: u32,
    /// Arithmetic intensity, FLOP/byte.
    pub ai: f64,
    /// 1e9 FLOP/s.
    pub gflops: f64,
    /// 1e9 bytes/s.
    pub bandwidth: f64,
    /// `gflops` as a percentage of the device's peak.
    pub percent_peak: f64,
    /// `power-sum` or `horner`.
    pub kernel: &'static str,
    /// `f32`, `f64` or `f16x2`.
    pub dtype: &'static str,
    /// Elements in a vector, which a thread loads at once.
    pub vector: u32,
    /// Vectors that a thread works on at once.
    pub ilp: u32,
    /// Numbers in all.
    pub n: u64,
    /// Threads a block.
    pub block: u32,
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
    pub limiting_roof: Limit,
    /// The intensity at which memory and arithmetic take the same time, FLOP/byte: of the measured
    /// roofs where they are known.
    pub ridge_point: f64,
    /// What that roof allows at the point's intensity, 1e9 FLOP/s.
    pub roof_gflops: f64,
    /// `gflops` as a percentage of `roof_gflops`.
    pub percent_roof: f64,
    /// The lowest measured roof, where the device's ceilings are known, 1e9 FLOP/s.
    pub measured_roof_gflops: Option<f64>,
    /// `gflops` as a percentage of `measured_roof_gflops`.
    pub percent_measured_roof: Option<f64>,
    /// `gflops` as a percentage of the arithmetic peak at the clock that the samples ran at.
    pub percent_peak_at_clock: Option<f64>,
    /// What the launch waits for.
    pub bound: Bound,
    /// `L2` where x and y fit into the level 2 cache and it is warm, else `memory`.
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
    /// The GPU's number on its machine.
    pub gpu: Option<u32>,
    /// What ran it.
    pub device: String,
    /// Whether every element of the output agreed with the float64 reference.
    pub checked: bool,
    /// One sentence: what to try.
    pub advice: &'static str,
    /// The time of a launch, for each sample, in order.
    pub samples_ms: Vec<f64>,
    /// The clock of each sample.
    pub samples_clock_hz: Vec<Option<f64>>,
    /// The grid as it was asked for, to tell curves apart.
    #[serde(skip)]
    pub grid_size: GridSize,
}

/// What a point is compared with.
pub(super) struct Context<'a> {
    pub(super) facts: &'a DeviceProperties,
    /// Of the data sheet, for the point's precision.
    pub(super) roofs: &'a Roofs,
    pub(super) ceilings: Option<&'a Ceilings>,
}

impl Record {
    /// The record of a point whose output was found right. `None` if there are no samples.
    pub(super) fn new(
        point: &Point,
        samples: Samples,
        again: Option<&Samples>,
        context: &Context<'_>,
    ) -> Option<Record> {
        const MS_PER_S: f64 = 1e3;
        let time = Summary::of(&samples.ms)?;
        let seconds = time.mean / MS_PER_S;
        let rate = FlopsPerSec(point.flops() / seconds);
        let roof = context
            .roofs
            .limiting(point.intensity(), point.arithmetic());
        let in_l2 = context.is_in_l2(point);
        let measured = context
            .ceilings
            .and_then(|it| it.roofs(point.precision, in_l2));
        let measured_roof =
            measured.map(|roofs| roofs.limiting(point.intensity(), point.arithmetic()).value);
        let reached = measured.unwrap_or(*context.roofs);
        let situation = context.situation(point, seconds, &reached, in_l2);
        let clocks: Vec<f64> = samples.clock_hz.iter().copied().flatten().collect();
        let clock_hz = Summary::of(&clocks).map(|clocks| clocks.median);
        let mut record = Record {
            k: point.k,
            ai: point.intensity().0,
            gflops: rate.giga(),
            bandwidth: point.bytes() / seconds / 1e9,
            percent_peak: 100.0 * rate.0 / context.roofs.peak.0,
            kernel: point.kernel(),
            dtype: point.precision.name(),
            vector: point.vector,
            ilp: point.ilp,
            n: point.n,
            block: point.block,
            grid: point.shape(context.facts).grid[0],
            blocks_per_sm: point.grid.per_multiprocessor(),
            mean_ms: time.mean,
            median_ms: time.median,
            min_ms: time.min,
            rms_percent: time.rms_percent,
            limiting_roof: roof.limit,
            ridge_point: reached.ridge_point(point.arithmetic()).0,
            roof_gflops: roof.value.giga(),
            percent_roof: 100.0 * rate.0 / roof.value.0,
            measured_roof_gflops: measured_roof.map(FlopsPerSec::giga),
            percent_measured_roof: measured_roof.map(|roof| 100.0 * rate.0 / roof.0),
            percent_peak_at_clock: clock_hz.and_then(|hz| {
                let highest = context.facts.gpu.as_ref()?.clock_hz;
                Some(100.0 * rate.0 / (context.roofs.fma.0 * hz / highest))
            }),
            bound: situation.bound(),
            working_set: if in_l2 { "L2" } else { "memory" },
            cache: point.cache.name(),
            samples: samples.ms.len(),
            batch: samples.batch,
            outliers: outliers(&samples.ms),
            clock_mhz: clock_hz.map(|hz| hz / 1e6),
            nvml_clock_mhz: samples.conditions.clock_mhz,
            power_watts: samples.conditions.power_watts,
            temperature: samples.conditions.temperature,
            noise_floor_percent: again.and_then(|again| difference(&time, again)),
            flags: Vec::new(),
            gpu: context.facts.gpu.as_ref().map(|gpu| gpu.ordinal),
            device: context.facts.name.clone(),
            checked: true,
            advice: situation.advice(),
            samples_ms: samples.ms,
            samples_clock_hz: samples.clock_hz,
            grid_size: point.grid,
        };
        record.flags = context.flags(&record, samples.conditions);
        Some(record)
    }

    /// The kernel and how it was launched: what a curve of the chart has in common.
    pub fn series(&self) -> Series {
        Series {
            kernel: self.kernel,
            dtype: self.dtype,
            vector: self.vector,
            ilp: self.ilp,
            n: self.n,
            block: self.block,
            grid: self.grid_size,
            cache: self.cache,
        }
    }
}

/// How far the medians of two measurements are apart, percent.
fn difference(time: &Summary, again: &Samples) -> Option<f64> {
    let again = Summary::of(&again.ms)?;
    Some(100.0 * (again.median - time.median).abs() / time.median)
}

impl Context<'_> {
    /// Whether x and y fit into the level 2 cache and stay there from launch to launch.
    fn is_in_l2(&self, point: &Point) -> bool {
        let l2_bytes = self.facts.gpu.as_ref().map_or(0, |gpu| gpu.l2_bytes);
        point.cache == CacheState::Warm && point.bytes() <= l2_bytes as f64
    }

    fn situation(&self, point: &Point, seconds: f64, roofs: &Roofs, in_l2: bool) -> Situation {
        let threads = point.shape(self.facts);
        let threads = threads.grid[0] * threads.block_threads();
        let places = u64::from(self.facts.multiprocessors)
            * u64::from(self.facts.limits.threads_per_multiprocessor);
        Situation {
            bandwidth_share: point.bytes() / roofs.memory.0 / seconds,
            compute_share: point.flops() / roofs.ceiling(point.arithmetic()).0 / seconds,
            arithmetic: point.arithmetic(),
            load_bytes: point.vector * point.precision.numbers() * point.precision.bytes(),
            in_l2,
            strides: point.grid.per_multiprocessor().is_some(),
            is_small: threads < places,
        }
    }

    fn flags(&self, record: &Record, conditions: Conditions) -> Vec<String> {
        let highest = self.facts.gpu.as_ref().map(|gpu| gpu.clock_hz / 1e6);
        let is_slow = |clock: f64| highest.is_some_and(|highest| clock < FULL_CLOCK * highest);
        // Memory's roof is none to data in a cache.
        let percent_roof = match record.working_set {
            "L2" => 100.0 * record.gflops / self.roofs.fma.giga(),
            _ => record.percent_roof,
        };
        let highest_percent = percent_roof.max(record.percent_measured_roof.unwrap_or(0.0));
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

/// Records that differ in `k` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// `power-sum` or `horner`.
    pub kernel: &'static str,
    /// `f32`, `f64` or `f16x2`.
    pub dtype: &'static str,
    /// Elements in a vector.
    pub vector: u32,
    /// Vectors a thread.
    pub ilp: u32,
    /// Numbers in all.
    pub n: u64,
    /// Threads a block.
    pub block: u32,
    /// Blocks in the grid, as asked for.
    pub grid: GridSize,
    /// `warm` or `cold`.
    pub cache: &'static str,
}

/// Groups records by series, in order of first appearance.
pub fn by_series(records: &[Record]) -> Vec<(Series, Vec<&Record>)> {
    let mut groups: Vec<(Series, Vec<&Record>)> = Vec::new();
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
    use crate::driver::Device;
    use crate::measure::host_roofs;
    use crate::model::{BytesPerSec, Precision};
    use kernels_gpu::polynomial::Form;

    const POINT: Point = Point {
        form: Form::Horner,
        precision: Precision::F32,
        vector: 4,
        ilp: 1,
        n: 1 << 26,
        block: 256,
        grid: GridSize::Full,
        cache: CacheState::Warm,
        k: 1,
    };

    fn record(point: &Point, ms: &[f64], clock_hz: f64) -> Record {
        record_under(Conditions::default(), point, ms, clock_hz)
    }

    fn record_under(conditions: Conditions, point: &Point, ms: &[f64], clock_hz: f64) -> Record {
        let facts = crate::model::h200();
        let roofs = Roofs::of(&facts, point.precision).expect("known");
        let context = Context {
            facts: &facts,
            roofs: &roofs,
            ceilings: None,
        };
        let samples = Samples {
            ms: ms.to_vec(),
            clock_hz: vec![Some(clock_hz); ms.len()],
            batch: 1,
            conditions,
        };
        Record::new(point, samples.clone(), Some(&samples), &context).expect("samples")
    }

    #[test]
    fn a_good_row_has_no_flags() {
        let row = record(&POINT, &[0.128, 0.1281, 0.128, 0.1279], 1.98e9);
        assert_eq!((row.flags.len(), row.bound), (0, Bound::Bandwidth));
        assert_eq!(
            (row.working_set, row.noise_floor_percent),
            ("memory", Some(0.0))
        );
        assert!(
            row.percent_peak_at_clock
                .is_some_and(|it| (it - row.percent_peak).abs() < 0.1)
        );
    }

    #[test]
    fn slow_clocks_slow_samples_and_impossible_rates_are_flagged() {
        let slow = record(&POINT, &[0.128, 0.128, 0.128, 0.128], 1.5e9);
        assert_eq!(slow.flags, ["clock"]);
        let at_clock = slow.percent_peak_at_clock.expect("a clock");
        assert!((at_clock / slow.percent_peak - 1.98 / 1.5 * 67.0 / 66.9).abs() < 0.01);
        let one = record(&POINT, &[0.128, 0.128, 0.128, 0.128, 0.128, 0.25], 1.98e9);
        assert_eq!(one.flags, ["noisy", "outliers"]);
        let wrong = record(&POINT, &[0.05; 4], 1.98e9);
        assert_eq!(wrong.flags, ["implausible"]);
    }

    #[test]
    fn another_process_on_the_gpu_is_flagged() {
        let beside = |processes| {
            let conditions = Conditions {
                processes,
                ..Conditions::default()
            };
            record_under(conditions, &POINT, &[0.128; 4], 1.98e9).flags
        };
        assert_eq!(beside(Some(2)), ["shared"]);
        assert!(beside(Some(1)).is_empty() && beside(None).is_empty());
    }

    #[test]
    fn data_in_the_level_2_cache_are_said_to_be_there() {
        let small = Point {
            n: 1 << 20,
            ..POINT
        };
        let row = record(&small, &[0.001; 4], 1.98e9);
        assert_eq!((row.working_set, row.flags.len()), ("L2", 0));
        let cold = Point {
            cache: CacheState::Cold,
            ..small
        };
        assert_eq!(record(&cold, &[0.003; 4], 1.98e9).working_set, "memory");
    }

    #[test]
    fn no_figure_is_nan_where_nothing_is_known() {
        let emulator = Device::emulator(Default::default());
        let roofs = Roofs {
            memory: BytesPerSec(1e9),
            ..host_roofs(Precision::F32).expect("memory")
        };
        let context = Context {
            facts: emulator.properties(),
            roofs: &roofs,
            ceilings: None,
        };
        let samples = Samples {
            ms: vec![1.0],
            clock_hz: vec![None],
            batch: 1,
            conditions: Conditions::default(),
        };
        let row = Record::new(&POINT, samples, None, &context).expect("a sample");
        assert_eq!((row.clock_mhz, row.percent_peak_at_clock), (None, None));
        let figures = [
            row.gflops,
            row.bandwidth,
            row.percent_peak,
            row.percent_roof,
        ];
        assert!(figures.iter().all(|it| it.is_finite()) && row.rms_percent == 0.0);
    }
}
