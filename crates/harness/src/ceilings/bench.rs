//! Common code of the measurements of all ceilings.

use super::{Ceiling, Quantity};
use crate::driver::{Device, DriverError, Stream};
use crate::measure::{Runs, Summary};
use crate::study::StudyError;
use crate::workload::{GridSize, Loaded, Point, PointError, Value, Workload};

/// How much work the launches have, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// Elements, `f32`, of each array of the memory kernels, of which there are three.
    pub elements: u64,
    /// Launches of each kernel.
    pub runs: Runs,
    /// Steps of arithmetic of a thread, over all its chains, rounded down to whole lines.
    pub steps: u32,
    /// Loads of a pointer chase.
    pub loads: u32,
    /// Reads of shared memory, shuffles and votes of a thread; of atomic operations fewer.
    pub accesses: u32,
    /// Steps of products on tensor cores, of 128 bytes of each row and column.
    pub tensor_steps: u32,
    /// Bytes that a sweep over the caches reads for each size.
    pub cache_bytes: u64,
    /// Launches, and barriers of a grid or in shared memory, of which one takes too little time to be measured.
    pub launches: u32,
}

impl Effort {
    /// Some seconds on a GPU; less than a second on the emulator.
    pub fn of(device: &Device) -> Effort {
        let runs = |warmup, timed| Runs { warmup, timed };
        if device.properties().is_emulated() {
            Effort {
                elements: 1 << 14,
                runs: runs(0, 1),
                steps: 1024,
                loads: 2000,
                accesses: 256,
                tensor_steps: 1,
                cache_bytes: 1 << 20,
                launches: 20,
            }
        } else {
            Effort {
                elements: 1 << 28,
                runs: runs(3, 10),
                steps: 1 << 18,
                loads: 100_000,
                accesses: 1 << 14,
                tensor_steps: 8192,
                cache_bytes: 4 << 30,
                launches: 1000,
            }
        }
    }
}

/// Why there are no ceilings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A kernel computed something else.
    #[error("{variant}: {reason}")]
    Wrong {
        /// The kernel and its launch.
        variant: String,
        /// The difference between what came out and what should have.
        reason: String,
    },
    /// There is nothing to measure.
    #[error("{what}: {actual} given, at least {least} needed")]
    TooLittle {
        /// The quantity that is too small.
        what: &'static str,
        /// How much was asked for.
        actual: u64,
        /// How much it takes.
        least: u64,
    },
    /// Who watched the progress has ended it.
    #[error("stopped before all was measured")]
    Stopped,
    /// Launches could not be timed.
    #[error("launches: {0}")]
    Launches(Box<StudyError>),
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// The device under test and how it is tested.
pub(crate) struct Bench<'d> {
    pub(crate) device: &'d Device,
    loaded: &'d Loaded,
    stream: Stream<'d>,
    pub(crate) effort: &'d Effort,
}

/// A launch that was timed.
pub(crate) struct Timed {
    variant: String,
    time: Summary,
    samples: usize,
    /// Bytes that it moved.
    bytes: Option<f64>,
    /// Cycles and nanoseconds of it, by the device's own counters.
    pub(crate) counters: Option<[u64; 2]>,
    /// Other counts of the kernel.
    pub(crate) counted: Vec<u64>,
}

impl<'d> Bench<'d> {
    pub(crate) fn new(
        device: &'d Device,
        loaded: &'d Loaded,
        effort: &'d Effort,
    ) -> Result<Self, BenchError> {
        let at_least = |what, actual, least| match actual {
            actual if actual < least => Err(BenchError::TooLittle {
                what,
                actual,
                least,
            }),
            _ => Ok(()),
        };
        at_least("elements", effort.elements, 4)?;
        at_least("timed launches", effort.runs.timed.into(), 1)?;
        at_least("steps of arithmetic", effort.steps.into(), 1)?;
        at_least("steps of products", effort.tensor_steps.into(), 1)?;
        at_least("accesses", effort.accesses.into(), 1)?;
        at_least("loads", effort.loads.into(), 1)?;
        Ok(Bench {
            device,
            loaded,
            stream: Stream::new(device)?,
            effort,
        })
    }

    /// Times a workload's launch at these values of its axes, and compares what it wrote.
    pub(crate) fn measure(
        &self,
        workload: &dyn Workload,
        values: &[(&'static str, Value)],
        block: u32,
        grid: GridSize,
    ) -> Result<Timed, BenchError> {
        let point = Point {
            block,
            grid,
            ..Point::new(self.device, self.loaded, workload, values.to_vec())
        };
        let refused = |variant: &str, error| match error {
            PointError::Driver(error) => BenchError::Driver(error),
            PointError::Refused(reason) => BenchError::Wrong {
                variant: variant.to_owned(),
                reason,
            },
        };
        let case = workload.case(&point);
        let mut case = case
            .map_err(|error| refused(workload.name(), error))?
            .refused()?;
        let (blocks, threads) = (case.config.grid[0], case.config.block[0]);
        let variant = match blocks {
            1 => format!("{}, 1 block of {threads}", case.kernel),
            _ => format!("{}, {blocks} blocks of {threads}", case.kernel),
        };
        let measured = case.time(&self.stream, self.effort.runs);
        let measured = measured.and_then(|times| Ok((times, case.counted()?)));
        let (times, counted) = measured.map_err(|error| refused(&variant, error))?;
        let (counters, counted) = match counted.as_deref() {
            Some(&[cycles, nanoseconds, ref more @ ..]) => (Some([cycles, nanoseconds]), more),
            _ => (None, [].as_slice()),
        };
        Ok(Timed {
            variant,
            time: Summary::of(&times).expect("`new` saw that there are timed launches"),
            samples: times.len(),
            bytes: case.work.bytes(),
            counters,
            counted: counted.to_vec(),
        })
    }
}

impl Timed {
    /// Of its launches.
    pub(crate) fn shortest_seconds(&self) -> f64 {
        self.time.min / 1e3
    }

    /// The ceiling of a rate, in bytes that the launch moved.
    pub(crate) fn bytes_per_second(self, quantity: Quantity, bench: &Bench<'_>) -> Ceiling {
        let bytes = self.bytes.unwrap_or(0.0);
        self.rate(quantity, bytes, bench)
    }

    /// The ceiling of a rate, of which the launch did `amount`: bytes or operations.
    pub(crate) fn rate(self, quantity: Quantity, amount: f64, bench: &Bench<'_>) -> Ceiling {
        Ceiling {
            value: amount / (self.time.median / 1e3),
            datasheet: quantity.datasheet(bench.device.properties()),
            ..self.with(quantity, 0.0, bench)
        }
    }

    /// The ceiling of a latency: a thread did `count` of something one after the other, while the
    /// device counted cycles and nanoseconds.
    pub(crate) fn latency(self, quantity: Quantity, count: f64, bench: &Bench<'_>) -> Ceiling {
        let cycles = self.counters.unwrap_or_default()[0] as f64 / count;
        self.of_cycles(quantity, cycles, bench)
    }

    /// The ceiling of a latency of so many cycles, of the clock that the device counted.
    pub(crate) fn of_cycles(self, quantity: Quantity, cycles: f64, bench: &Bench<'_>) -> Ceiling {
        /// The emulator's cycles are nanoseconds.
        const EMULATED_HZ: f64 = 1e9;
        let clock_hz = clock_of(self.counters.unwrap_or_default());
        let gpu = bench.device.properties().gpu.as_ref();
        let highest = gpu.map_or(EMULATED_HZ, |gpu| gpu.clock_hz);
        Ceiling {
            clock_hz,
            cycles: Some(cycles),
            ..self.with(quantity, cycles / clock_hz.unwrap_or(highest), bench)
        }
    }

    /// Bytes per second that it moved.
    pub(crate) fn bytes_rate(&self) -> f64 {
        self.bytes.unwrap_or(0.0) / (self.time.median / 1e3)
    }

    /// The ceiling of a time, which is so many seconds.
    pub(crate) fn of_time(self, quantity: Quantity, seconds: f64, bench: &Bench<'_>) -> Ceiling {
        self.with(quantity, seconds, bench)
    }

    /// A ceiling with this value and nothing else known.
    fn with(self, quantity: Quantity, value: f64, bench: &Bench<'_>) -> Ceiling {
        Ceiling {
            quantity,
            unit: quantity.unit(),
            value,
            datasheet: None,
            variant: self.variant,
            median_ms: self.time.median,
            // One sample deviates from nothing.
            rms_percent: (self.samples > 1).then_some(self.time.rms_percent),
            clock_hz: None,
            cycles: None,
            device: bench.device.properties().name.clone(),
        }
    }
}

/// The clock that made so many cycles in so many nanoseconds, where these are enough: the counter of
/// the latter may tick once a microsecond.
pub(crate) fn clock_of([cycles, nanoseconds]: [u64; 2]) -> Option<f64> {
    const MIN_NS: u64 = 20_000;
    const NANOSECONDS: f64 = 1e9;
    (nanoseconds >= MIN_NS).then(|| cycles as f64 / nanoseconds as f64 * NANOSECONDS)
}

/// The ceiling with the greatest value.
pub(crate) fn highest(ceilings: impl IntoIterator<Item = Ceiling>) -> Option<Ceiling> {
    ceilings
        .into_iter()
        .max_by(|a, b| a.value.total_cmp(&b.value))
}
