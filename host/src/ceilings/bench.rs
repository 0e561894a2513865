//! What the measurements of all ceilings share.

use cuda_std::launch::{Entry, Signature};

use super::{Ceiling, Quantity};
use crate::driver::{Device, DriverError, LaunchConfig, Stream};
use crate::measure::{self, Runs, Summary};
use crate::study::StudyError;

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
    /// Bytes that a sweep over the caches reads for each size.
    pub cache_bytes: u64,
    /// Launches, and barriers, of which one takes too little time to be measured.
    pub launches: u32,
}

impl Effort {
    /// Some seconds on a GPU; less than a second on the emulator.
    pub fn of(device: &Device) -> Effort {
        let runs = |warmup, timed| Runs { warmup, timed };
        if device.properties().is_emulated() {
            Effort {
                elements: 1 << 14,
                runs: runs(0, 2),
                steps: 1024,
                loads: 2000,
                cache_bytes: 1 << 20,
                launches: 20,
            }
        } else {
            Effort {
                elements: 1 << 28,
                runs: runs(3, 10),
                steps: 1 << 18,
                loads: 100_000,
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
    #[error("{variant}: {what} is {actual}, not {expected}")]
    Wrong {
        /// The kernel and its launch.
        variant: String,
        /// What was compared.
        what: &'static str,
        /// What came out.
        actual: String,
        /// What should have.
        expected: String,
    },
    /// There is nothing to measure.
    #[error("{what}: {actual} given, at least {least} needed")]
    TooLittle {
        /// What there is too little of.
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
    pub(crate) stream: Stream<'d>,
    pub(crate) effort: &'d Effort,
}

/// A launch that was timed.
pub(crate) struct Timed {
    pub(crate) variant: String,
    pub(crate) time: Summary,
    samples: usize,
    device: String,
}

impl<'d> Bench<'d> {
    pub(crate) fn new(device: &'d Device, effort: &'d Effort) -> Result<Self, BenchError> {
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
        at_least("loads", effort.loads.into(), 1)?;
        Ok(Bench {
            device,
            stream: Stream::new(device)?,
            effort,
        })
    }

    /// So many blocks a multiprocessor.
    pub(crate) fn per_multiprocessor(&self, blocks: u32, threads: u32) -> LaunchConfig {
        let multiprocessors = u64::from(self.device.properties().multiprocessors);
        LaunchConfig::blocks(u64::from(blocks) * multiprocessors, threads)
    }

    /// Times the kernel.
    ///
    /// # Safety
    /// As for [`measure::time`].
    pub(crate) unsafe fn time<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: LaunchConfig,
        arguments: &S::Arguments<'_>,
    ) -> Result<Timed, BenchError> {
        let prepared = self.device.prepare(entry, shape)?;
        // SAFETY: the caller's contract.
        let samples =
            unsafe { measure::time(&prepared, &self.stream, arguments, self.effort.runs) }?;
        self.timed(entry.name(), shape, &samples)
    }

    /// The statistics of a launch's times.
    pub(crate) fn timed(
        &self,
        name: &str,
        shape: LaunchConfig,
        samples: &[f64],
    ) -> Result<Timed, BenchError> {
        let time = Summary::of(samples).ok_or(BenchError::TooLittle {
            what: "timed launches",
            actual: 0,
            least: 1,
        })?;
        Ok(Timed {
            variant: format!("{name}, {} blocks of {}", shape.grid[0], shape.block[0]),
            time,
            samples: samples.len(),
            device: self.device.properties().name.clone(),
        })
    }
}

impl Timed {
    /// The ceiling of a rate, of which the launch did `amount`: bytes or operations.
    pub(crate) fn rate(self, quantity: Quantity, amount: f64, bench: &Bench<'_>) -> Ceiling {
        Ceiling {
            value: amount / (self.time.median / 1e3),
            datasheet: quantity.datasheet(bench.device.properties()),
            ..self.with(quantity, 0.0)
        }
    }

    /// The ceiling of a latency: a thread did `count` of something one after the other, while the
    /// device counted cycles and nanoseconds.
    pub(crate) fn latency(
        self,
        quantity: Quantity,
        counters: [u64; 2],
        count: f64,
        bench: &Bench<'_>,
    ) -> Ceiling {
        /// The emulator's cycles are nanoseconds.
        const EMULATED_HZ: f64 = 1e9;
        let cycles = counters[0] as f64 / count;
        let clock_hz = clock_of(counters);
        let gpu = bench.device.properties().gpu.as_ref();
        let highest = gpu.map_or(EMULATED_HZ, |gpu| gpu.clock_hz);
        Ceiling {
            clock_hz,
            cycles: Some(cycles),
            ..self.with(quantity, cycles / clock_hz.unwrap_or(highest))
        }
    }

    /// A ceiling with this value and nothing else known.
    fn with(self, quantity: Quantity, value: f64) -> Ceiling {
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
            device: self.device,
        }
    }

    /// Fails where what the launch wrote is not what it should be.
    pub(crate) fn check<T: PartialEq + std::fmt::Debug>(
        &self,
        what: &'static str,
        actual: T,
        expected: T,
    ) -> Result<(), BenchError> {
        if actual == expected {
            return Ok(());
        }
        Err(BenchError::Wrong {
            variant: self.variant.clone(),
            what,
            actual: format!("{actual:?}"),
            expected: format!("{expected:?}"),
        })
    }
}

/// The clock that made so many cycles in so many nanoseconds, where these are enough: the counter of
/// the latter may tick once a microsecond.
pub(crate) fn clock_of([cycles, nanoseconds]: [u64; 2]) -> Option<f64> {
    const LEAST_NS: u64 = 20_000;
    const NANOSECONDS: f64 = 1e9;
    (nanoseconds >= LEAST_NS).then(|| cycles as f64 / nanoseconds as f64 * NANOSECONDS)
}

/// The ceiling with the greatest value.
pub(crate) fn highest(ceilings: impl IntoIterator<Item = Ceiling>) -> Option<Ceiling> {
    ceilings
        .into_iter()
        .max_by(|a, b| a.value.total_cmp(&b.value))
}
