//! The record of a point of the occupancy sweep.

use ::occupancy::Occupancy;
use serde::Serialize;
use serde::ser::SerializeMap;

use super::OccupancyError;
use crate::ceilings::{AT_SPEED, Ceilings, Quantity};
use crate::driver::DeviceProperties;
use crate::measure::{Samples, Summary};
use crate::model::{GpuRoofs, Limit, Precision, Work};
use crate::prediction::Prediction;
use crate::sweep::record::AxisValues;
use crate::sweep::timed::Modelled;
use crate::sweep::{NOISY_PERCENT, PLAUSIBLE_PERCENT};
use crate::table::{Cell, Column, ColumnValue, OCCUPANCY, occupancy_columns, record};
use crate::workload::{Case, Point};

macro_rules! rows {
    ($($row:tt)*) => {
        record! {
            /// One row of an occupancy study.
            pub struct OccupancyRecord of Outcome<'_>, columns OCCUPANCY, {}
            $($row)*
        }
    };
}

occupancy_columns!(rows);

/// The same fields also where nothing is known: rows of a file have the same columns.
impl ColumnValue for Option<InFlight> {
    fn cells(&self, _: &'static Column) -> Vec<Cell> {
        Vec::new()
    }

    fn fields<M: SerializeMap>(&self, name: &'static str, map: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Fields {
            unit: Option<&'static str>,
            needed: Option<f64>,
            provided: Option<f64>,
        }
        let fields = Fields {
            unit: self.map(|it| it.unit),
            needed: self.map(|it| it.needed),
            provided: self.map(|it| it.provided),
        };
        map.serialize_entry(name, &fields)
    }
}

/// A launch of the study, as far as its record depends on it.
pub(super) struct Launched<'a, 'd> {
    pub(super) point: &'a Point<'d>,
    pub(super) case: &'a Case<'d>,
    pub(super) axes: &'a [&'static str],
    pub(super) max_registers: Option<u32>,
    pub(super) registers: Option<u32>,
    pub(super) local_bytes: Option<u32>,
    pub(super) model: &'a Occupancy,
    pub(super) driver_blocks: Option<u32>,
    pub(super) is_checked: bool,
    /// Its predicted time, or why there is none; nothing where it was not asked for.
    pub(super) modelled: Option<Result<Modelled, String>>,
}

/// The resource that limits a launch most, and how much of it the launch takes.
struct Measure {
    unit: &'static str,
    /// Bytes or operations.
    amount: f64,
    /// The same a second at most.
    ceiling: Option<f64>,
}

/// A measured launch of the study, and what the formulas of several columns begin with.
struct Outcome<'a> {
    launched: &'a Launched<'a, 'a>,
    properties: &'a DeviceProperties,
    time: Summary,
    measure: Measure,
    /// Their number, and the share of their places that stays empty, in percent.
    waves: (f64, f64),
    percent_ceiling: Option<f64>,
    in_flight: Option<InFlight>,
    predicted: Option<Predicted>,
}

/// The limits that the roofs of the GPU that an emulator stands for set a launch.
struct Predicted {
    gpu: String,
    limit: Limit,
    /// In the unit of the measure.
    rate: f64,
    seconds: f64,
}

impl Predicted {
    /// `None` of what has neither bytes nor operations.
    fn of(gpu: &GpuRoofs, work: &Work, measure: &Measure) -> Option<Predicted> {
        measure.ceiling?;
        let (limit, seconds) = match gpu.attainable(work, work) {
            Some(it) => (it.limit, it.seconds),
            None => {
                let (limit, rate) = gpu.bandwidth(work)?;
                (limit, work.bytes()? / rate.0)
            }
        };
        Some(Predicted {
            gpu: gpu.gpu.name.clone(),
            limit,
            rate: measure.amount / seconds / 1e9,
            seconds,
        })
    }
}

impl Outcome<'_> {
    /// The rate of the median time.
    fn rate(&self) -> f64 {
        self.measure.rate(self.time.median / 1e3)
    }

    fn modelled(&self) -> Option<&Modelled> {
        self.launched.modelled.as_ref()?.as_ref().ok()
    }

    /// By the roofs or by the model.
    fn predicted_gpu(&self) -> Option<String> {
        let by_model = || {
            let model = self.of_model()?;
            self.properties.is_emulated().then(|| model.gpu.clone())
        };
        let by_roofs = self.predicted.as_ref().map(|it| it.gpu.clone());
        by_roofs.or_else(by_model)
    }

    /// The prediction of the model, not of the roofs.
    fn of_model(&self) -> Option<&Prediction> {
        self.modelled().map(|it| &it.prediction)
    }

    fn modelled_rate(&self) -> Option<f64> {
        let modelled = self.modelled()?;
        let seconds = modelled.prediction.seconds / modelled.times as f64;
        Some(self.measure.rate(seconds))
    }
}

impl Measure {
    /// In its unit.
    fn rate(&self, seconds: f64) -> f64 {
        let rate = self.amount / seconds;
        match self.unit {
            "launches/s" => rate,
            _ => rate / 1e9,
        }
    }
}

impl Launched<'_, '_> {
    pub(super) fn record(
        &self,
        samples: &Samples,
        properties: &DeviceProperties,
        ceilings: &Ceilings,
    ) -> Result<OccupancyRecord, OccupancyError> {
        let is_emulated = properties.is_emulated();
        let stands_for = is_emulated.then(|| GpuRoofs::of_capability(properties.capability()));
        let measure = measure(&self.case.work, stands_for.as_ref(), ceilings)?;
        let time = samples.summary().ok_or(OccupancyError::NoRuns)?;
        let grid = self.case.config.grid.iter().product();
        let outcome = Outcome {
            launched: self,
            properties,
            waves: waves(grid, self.model.blocks, properties.multiprocessors),
            percent_ceiling: measure
                .ceiling
                .map(|ceiling| 100.0 * measure.amount / (time.median / 1e3) / ceiling),
            in_flight: self.in_flight(&measure, properties, ceilings)?,
            predicted: stands_for
                .as_ref()
                .and_then(|gpu| Predicted::of(gpu, &self.case.work, &measure)),
            time,
            measure,
        };
        Ok(OccupancyRecord::of(&outcome))
    }

    fn axes(&self) -> AxisValues {
        let value = |name: &&'static str| {
            let found = self.point.values.iter().find(|(it, _)| it == name);
            (*name, found.map(|(_, value)| value.clone()))
        };
        AxisValues(self.axes.iter().map(value).collect())
    }

    /// Little's law. A thread waits for what it reads, not for what it writes.
    fn in_flight(
        &self,
        measure: &Measure,
        properties: &DeviceProperties,
        ceilings: &Ceilings,
    ) -> Result<Option<InFlight>, OccupancyError> {
        let Some(ceiling) = measure.ceiling else {
            return Ok(None);
        };
        let rate = ceiling / f64::from(properties.multiprocessors);
        let threads = f64::from(self.model.blocks) * self.case.config.block_threads() as f64;
        let work = &self.case.work;
        let of_memory = measure.unit == "GB/s";
        let found = match (of_memory, self.case.loads, self.case.chains) {
            (true, Some((bytes, at_once)), _) => InFlight {
                unit: "bytes",
                needed: memory_latency(work, ceilings)? * rate * AT_SPEED * work.read_share(),
                unloaded: ceilings
                    .unloaded(loaded_latency(work))
                    .map(|latency| latency * rate * AT_SPEED * work.read_share()),
                provided: threads * f64::from(bytes) * f64::from(at_once),
            },
            (false, _, Some(chains)) => InFlight {
                unit: "operations",
                // A multiply-add is two operations of the rate, and one in flight.
                // One on a pair of f16 does both numbers'.
                needed: value_of(ceilings, latency(work))? * rate
                    / work.flops_per_instruction()
                    / work.precision().map_or(1.0, |it| f64::from(it.numbers())),
                unloaded: None,
                provided: threads * f64::from(chains),
            },
            _ => return Ok(None),
        };
        Ok(Some(found))
    }
}

fn latency(work: &Work) -> Quantity {
    let precision = work.precision().unwrap_or(Precision::F32);
    Quantity::fma_latency(precision).unwrap_or(Quantity::FmaF32Latency)
}

/// Returns a load's latency at the rate that counts as speed, where kernels that read and write in this proportion were
/// measured under load; otherwise that of a lone load.
fn memory_latency(work: &Work, ceilings: &Ceilings) -> Result<f64, OccupancyError> {
    match ceilings.get(loaded_latency(work)) {
        Some(latency) => Ok(latency.value),
        None => value_of(ceilings, Quantity::MemoryLatency),
    }
}

/// The latency under load of kernels that read and write in this proportion.
fn loaded_latency(work: &Work) -> Quantity {
    match memory(work) {
        Quantity::MemoryRead => Quantity::LoadedReadLatency,
        Quantity::MemoryTriad => Quantity::LoadedTriadLatency,
        _ => Quantity::LoadedCopyLatency,
    }
}

/// Returns what takes more of the time where nothing waits, the bytes or the operations: under the measured ceilings,
/// and on the emulator under the data sheet of the GPU that it stands for, `stands_for`. How its host's times for
/// either compare says nothing of a kernel, and changes with what else the host does.
fn measure(
    work: &Work,
    stands_for: Option<&GpuRoofs>,
    ceilings: &Ceilings,
) -> Result<Measure, OccupancyError> {
    let memory = match work.bytes() {
        Some(bytes) => Some((bytes, value_of(ceilings, memory(work))?)),
        None => None,
    };
    let arithmetic = match work.ceiling(|precision| ceilings.roofs(precision, false)) {
        Some((_, rate)) => work.flops().map(|it| (it, rate.0)),
        None => None,
    };
    let seconds = |it: Option<(f64, f64)>| it.map_or(0.0, |(amount, rate)| amount / rate);
    let of = |unit, (amount, ceiling)| Measure {
        unit,
        amount,
        ceiling: Some(ceiling),
    };
    let is_of_memory = match stands_for {
        Some(gpu) => gpu.is_bound_by_memory(work),
        None => seconds(memory) >= seconds(arithmetic),
    };
    Ok(match (memory, arithmetic) {
        (Some(it), None) => of("GB/s", it),
        (Some(it), Some(_)) if is_of_memory => of("GB/s", it),
        (_, Some(it)) => of("GFLOP/s", it),
        _ => Measure {
            unit: "launches/s",
            amount: 1.0,
            ceiling: None,
        },
    })
}

/// The ceiling of kernels that read and write in this proportion.
fn memory(work: &Work) -> Quantity {
    /// Between copies, which read a half, and two arrays read for one written.
    const MOSTLY_READ: f64 = 0.6;
    match (work.read_share(), work.flops()) {
        (1.0, _) => Quantity::MemoryRead,
        (0.0, _) => Quantity::MemoryWrite,
        (MOSTLY_READ.., _) => Quantity::MemoryTriad,
        (_, Some(_)) => Quantity::MemoryScale,
        (_, None) => Quantity::MemoryCopy,
    }
}

fn value_of(ceilings: &Ceilings, quantity: Quantity) -> Result<f64, OccupancyError> {
    let found = ceilings.get(quantity).map(|ceiling| ceiling.value);
    found.ok_or(OccupancyError::NoCeiling { quantity })
}

/// The flags of a row with this deviation and rate.
fn flags(rms_percent: f64, percent_ceiling: Option<f64>) -> Vec<&'static str> {
    let flags = [
        ("noisy", rms_percent > NOISY_PERCENT),
        // There is no deviation of no times.
        ("untimed", rms_percent.is_nan()),
        (
            "implausible",
            percent_ceiling.is_some_and(|it| it > PLAUSIBLE_PERCENT),
        ),
    ];
    let flags = flags.into_iter().filter(|(_, is_so)| *is_so);
    flags.map(|(name, _)| name).collect()
}

/// Bytes or operations that have to be in flight in a multiprocessor, and those that a launch has in flight there: J.
/// Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InFlight {
    /// `bytes` or `operations`.
    pub unit: &'static str,
    /// Measured latency times measured rate: of bytes with which 95 % of the rate are reached.
    pub needed: f64,
    /// Resident threads times what each has under way.
    pub provided: f64,
    /// Need if a load took as long as in a stream with next to nothing in flight, where that was measured.
    #[serde(skip)]
    pub unloaded: Option<f64>,
}

/// Waves, and the share of their places that stays empty, in percent.
fn waves(grid: u64, resident_blocks: u32, multiprocessors: u32) -> (f64, f64) {
    let places = u64::from(resident_blocks) * u64::from(multiprocessors);
    let whole = grid.div_ceil(places.max(1)) * places;
    let empty = whole.saturating_sub(grid) as f64;
    (
        grid as f64 / places.max(1) as f64,
        100.0 * empty / whole.max(1) as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::{flags, measure, waves};
    use crate::ceilings::{Ceiling, Ceilings, Key, Quantity, Unit};
    use crate::model::{GpuRoofs, Operation, Precision, Work};

    /// A device of this bandwidth and rate of multiply-adds.
    fn ceilings(bandwidth: f64, fma: f64) -> Ceilings {
        let ceiling = |quantity, unit, value| Ceiling {
            quantity,
            unit,
            value,
            datasheet: None,
            variant: String::new(),
            median_ms: 1.0,
            rms_percent: None,
            clock_hz: None,
            cycles: None,
            device: String::new(),
        };
        let memory = [Quantity::MemoryScale, Quantity::MemoryCopy];
        let memory = memory.map(|it| ceiling(it, Unit::BytesPerSec, bandwidth));
        let arithmetic = ceiling(Quantity::FmaF32, Unit::FlopsPerSec, fma);
        Ceilings {
            key: Key {
                device: String::new(),
                multiprocessors: 1,
                cuda_version: (0, 0),
                ridgepoint: String::new(),
            },
            emulated: true,
            began: String::new(),
            n: 1,
            ceilings: memory.into_iter().chain([arithmetic]).collect(),
            working_sets: Vec::new(),
            under_load: Vec::new(),
            busy: Vec::new(),
        }
    }

    #[test]
    fn the_emulators_rows_are_of_what_a_gpu_would_wait_for() {
        let h200 = GpuRoofs::named("h200").expect("known");
        let work = |count| {
            let bytes = Work::default().reads(4e4).writes(4e4);
            bytes.operations(Precision::F32, Operation::Fma, count)
        };
        let unit = |count, gpu: Option<&GpuRoofs>, ceilings: &Ceilings| {
            let measure = measure(&work(count), gpu, ceilings);
            measure.expect("both are measured").unit
        };
        // A host whose memory is the slower, and one that is slow at arithmetic.
        for ceilings in [ceilings(1e9, 1e9), ceilings(1e9, 1e6)] {
            assert_eq!(unit(2.5e4, Some(&h200), &ceilings), "GB/s");
            assert_eq!(unit(2.5e6, Some(&h200), &ceilings), "GFLOP/s");
        }
        assert_eq!(unit(2.5e4, None, &ceilings(1e9, 1e9)), "GB/s");
        assert_eq!(unit(2.5e4, None, &ceilings(1e9, 1e6)), "GFLOP/s");
    }

    #[test]
    fn a_rate_above_its_ceiling_is_flagged() {
        assert!(flags(1.0, Some(101.9)).is_empty());
        assert_eq!(flags(f64::NAN, Some(f64::NAN)), ["untimed"]);
        assert_eq!(flags(6.0, Some(210.8)), ["noisy", "implausible"]);
    }

    #[test]
    fn a_block_more_than_a_wave_leaves_the_second_nearly_empty() {
        assert_eq!(waves(264, 2, 132), (1.0, 0.0));
        let (count, tail) = waves(265, 2, 132);
        assert!((count - 1.0038).abs() < 1e-4 && (tail - 100.0 * 263.0 / 528.0).abs() < 1e-9);
        assert_eq!(waves(66, 1, 132), (0.5, 50.0));
    }
}
