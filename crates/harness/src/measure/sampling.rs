//! Samples with what is needed to trust them: cold or warm caches, batches of short launches, as many
//! samples as the noise asks for, and the clock at which each ran.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::{Duration, Instant};

use kernels_gpu::ceilings::clock::read_clocks;
use kernels_gpu::ceilings::stream::{Vector, write_u4};

use super::timing::{Interval, time_launches};
use super::{Conditions, Enqueue, HardwareCounters, Measured, Monitor, Runs, Summary};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};

/// Launches shorter than this are timed in batches.
const SHORT_MS: f64 = 0.02;
/// The time of a batch of them.
const BATCH_MS: f64 = 0.1;
const MAX_IN_BATCH: f64 = 100.0;

/// How long a GPU warms up before the first sample. For milliseconds after the arrays of another workload were freed,
/// launches took up to 13 % longer on an H200, perhaps because the driver clears that memory
/// (docs/results/h200-regression).
const WARM_UP: Duration = Duration::from_millis(10);

/// Between two readings of the clocks there have to be so many nanoseconds, because the clock that
/// counts them may be updated once a microsecond only.
const MIN_NS: u64 = 20_000;

/// Contents of the caches when a launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheState {
    /// The data that the launch before has left there.
    Warm,
    /// Other data: as much as twice the level 2 cache was written since.
    Cold,
}

impl CacheState {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            CacheState::Warm => "warm",
            CacheState::Cold => "cold",
        }
    }
}

impl fmt::Display for CacheState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for CacheState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "warm" => Ok(CacheState::Warm),
            "cold" => Ok(CacheState::Cold),
            _ => Err(format!("{text:?} is neither warm nor cold")),
        }
    }
}

/// How many samples there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Launches before the samples, and samples at least. Where launches are asked for, a GPU gets as many before the
    /// first sample as take 10 ms, too.
    pub runs: Runs,
    /// Samples are added until the mean's standard error is at most this percentage of it. `None`
    /// leaves it at `runs`.
    pub noise_percent: Option<f64>,
    /// Samples at most.
    pub most: u32,
}

impl Sampling {
    /// Returns in how many rounds a GPU's samples are taken, each with arrays of its own: what differs between them shows in
    /// one run. Of fewer than 3 samples an outlier would move a round's median, and 2 rounds would say little.
    pub(crate) fn rounds(&self) -> u32 {
        const EACH: u32 = 3;
        const ROUNDS: RangeInclusive<u32> = 3..=4;
        match self.runs.timed / EACH {
            few if few < *ROUNDS.start() => 1,
            many => many.min(*ROUNDS.end()),
        }
    }

    /// Returns the sampling of one of so many rounds, from 0. They share the samples, and are together as quiet as is asked for.
    pub(crate) fn of_round(self, round: u32, rounds: u32) -> Sampling {
        let share = |count: u32| count / rounds + u32::from(round < count % rounds);
        Sampling {
            runs: Runs {
                timed: share(self.runs.timed),
                ..self.runs
            },
            noise_percent: self.noise_percent.map(|it| it * f64::from(rounds).sqrt()),
            most: share(self.most),
        }
    }
}

/// The samples of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Samples {
    /// Milliseconds of a launch, for each sample.
    pub ms: Vec<f64>,
    /// Clock of the multiprocessors while each sample ran, where the device's counters tell.
    pub clock_hz: Vec<Option<f64>>,
    /// Launches of a sample: its time is their mean. Of several rounds, those of the first.
    pub batch: u32,
    /// The management library's values while they ran.
    pub conditions: Conditions,
    /// How many samples each round has taken, in order.
    pub rounds: Vec<u32>,
}

impl Samples {
    /// Adds those of a later round.
    pub(crate) fn append(&mut self, later: Samples) {
        self.ms.extend(later.ms);
        self.clock_hz.extend(later.clock_hz);
        self.rounds.extend(later.rounds);
        self.conditions = later.conditions;
    }

    /// How many samples of each round have a time.
    pub(crate) fn timed_of_rounds(&self) -> Vec<u32> {
        let mut left = self.ms.as_slice();
        let timed = self.rounds.iter().map(|&count| {
            let (round, others) = left.split_at(left.len().min(count as usize));
            left = others;
            round.iter().filter(|ms| is_time(**ms)).count() as u32
        });
        timed.collect()
    }

    /// The times that there are: a clock that does not advance, or goes back, gives none.
    pub(crate) fn timed(&self) -> Vec<f64> {
        let times = self.ms.iter().copied();
        times.filter(|ms| is_time(*ms)).collect()
    }

    /// The clocks of the same samples.
    pub(crate) fn clocks_of_timed(&self) -> Vec<Option<f64>> {
        let all = self.ms.iter().zip(&self.clock_hz);
        all.filter(|(ms, _)| is_time(**ms))
            .map(|(_, hz)| *hz)
            .collect()
    }

    /// Whether a sample has no time.
    pub(crate) fn lacks_times(&self) -> bool {
        self.ms.iter().any(|ms| !is_time(*ms))
    }

    /// The statistics of the times, of which none is a number where there are none. `None` if there are no samples.
    pub(crate) fn summary(&self) -> Option<Summary> {
        Summary::of(&self.timed()).or_else(|| self.lacks_times().then_some(Summary::UNKNOWN))
    }
}

fn is_time(ms: f64) -> bool {
    ms > 0.0 && ms.is_finite()
}

/// Takes samples on one device.
pub struct Sampler<'d> {
    device: &'d Device,
    stream: Stream<'d>,
    monitor: Monitor,
    /// Reads the clocks; `None` on the emulator, whose clocks are the host's.
    probe: Option<Prepared<'d, read_clocks>>,
    /// Readings of each multiprocessor, slot behind slot.
    clocks: DeviceBuffer<[u64; 2]>,
    slots: u32,
    /// Writes to memory what pushes everything else out of the caches.
    flush: Prepared<'d, write_u4>,
    flushed: DeviceBuffer<Vector>,
}

impl<'d> Sampler<'d> {
    /// A sampler that takes up to `samples` samples between two looks at them.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]: there is no memory for the readings of the clocks, or, on a GPU, for
    /// what empties its caches; [`DriverError::NoKernel`]: the PTX of the GPU lacks the kernels that do
    /// either; or the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn new(device: &'d Device, samples: u32) -> Result<Self, DriverError> {
        const CACHES: u64 = 2;
        const BLOCK: u32 = 256;
        const EACH: u64 = 4;
        let l2_bytes = device
            .properties()
            .gpu
            .as_ref()
            .map_or(0, |gpu| gpu.l2_bytes);
        let vectors = (CACHES * l2_bytes)
            .div_ceil(size_of::<Vector>() as u64)
            .max(1);
        let slots = samples + 1;
        let places = places(device);
        let readings = (slots * places) as usize;
        let probe = || {
            device.prepare(
                read_clocks::entry(),
                LaunchConfig::blocks(places.into(), 32),
            )
        };
        let flush = LaunchConfig::linear(vectors.div_ceil(EACH), BLOCK);
        Ok(Sampler {
            device,
            stream: Stream::new(device)?,
            monitor: Monitor::new(device.properties()),
            probe: (!device.properties().is_emulated())
                .then(probe)
                .transpose()?,
            clocks: device.buffer_filled(readings, [u64::MAX; 2])?,
            slots,
            flush: device.prepare(write_u4::entry(), flush)?,
            flushed: device.buffer_filled(vectors as usize, [0.0; 4])?,
        })
    }

    /// Samples of what `launch` puts into a stream.
    ///
    /// All launches of `runs` are queued before the first result is read, so the device is busy when
    /// a sample begins and its time is the kernels', without the host's.
    ///
    /// # Safety
    /// The work that `launch` puts into the stream keeps its contracts, as for
    /// [`Prepared::launch`](crate::driver::Prepared::launch), until this function has returned: by then the stream is
    /// synchronised.
    ///
    /// # Errors
    /// Errors of `launch`; [`DriverError::Capturing`]: this thread captures a stream; as [`Stream::synchronize`], where
    /// a kernel has failed.
    pub unsafe fn sample(
        &mut self,
        launch: &mut Enqueue<'_>,
        cache: CacheState,
        sampling: Sampling,
    ) -> Result<Samples, DriverError> {
        // Nothing waits for a capture: what has begun would go on without its arrays.
        self.stream.refuse_capture_by_thread("take samples")?;
        let samples = self.samples(launch, cache, sampling);
        if samples.is_err() {
            // Launches may be under way. The first error is the one that counts.
            let _ = self.stream.synchronize();
        }
        samples
    }

    /// Returns the hardware's counts of one launch, with caches as for samples.
    ///
    /// # Safety
    /// As for [`Sampler::sample`].
    ///
    /// # Errors
    /// Errors of `launch`; [`DriverError::Counters`]: the counters cannot be read; as [`Stream::synchronize`], where a
    /// kernel has failed.
    pub unsafe fn count(
        &mut self,
        counters: &mut HardwareCounters,
        launch: &mut Enqueue<'_>,
        cache: CacheState,
    ) -> Result<Measured, DriverError> {
        self.stream.finish_copies()?;
        // What warm caches hold is another launch's.
        launch(&self.stream)?;
        let (stream, flush, flushed) = (&self.stream, &self.flush, &mut self.flushed);
        let prepare = || {
            if cache == CacheState::Cold {
                empty_caches(flush, flushed, stream)?;
            }
            stream.synchronize()
        };
        let measured = counters.measure(prepare, || {
            launch(stream)?;
            stream.synchronize()
        });
        if measured.is_err() {
            // Launches may be under way. The first error is the one that counts.
            let _ = stream.synchronize();
        }
        measured
    }

    fn samples(
        &mut self,
        launch: &mut Enqueue<'_>,
        cache: CacheState,
        sampling: Sampling,
    ) -> Result<Samples, DriverError> {
        self.stream.finish_copies()?;
        if sampling.runs.warmup > 0 {
            self.warm_up(launch)?;
        }
        let batch = match cache {
            CacheState::Warm => self.batch(launch)?,
            CacheState::Cold => 1,
        };
        let mut samples = Samples {
            ms: Vec::new(),
            clock_hz: Vec::new(),
            batch,
            conditions: Conditions::default(),
            rounds: Vec::new(),
        };
        loop {
            let taken = samples.ms.len() as u32;
            let left = sampling.most.saturating_sub(taken);
            let count = sampling.runs.timed.min(self.slots - 1);
            let count = if taken == 0 { count } else { count.min(left) };
            self.take(launch, cache, sampling.runs.warmup, count, &mut samples)?;
            if count == 0 || is_enough(&samples.ms, sampling) {
                samples.rounds.push(samples.ms.len() as u32);
                return Ok(samples);
            }
        }
    }

    /// Launches until what the device did before no longer shows.
    fn warm_up(&self, launch: &mut Enqueue<'_>) -> Result<(), DriverError> {
        if self.device.properties().is_emulated() {
            return Ok(());
        }
        let begin = Instant::now();
        while begin.elapsed() < WARM_UP {
            launch(&self.stream)?;
            self.stream.synchronize()?;
        }
        Ok(())
    }

    /// How many launches a sample needs to be no short time.
    fn batch(&self, launch: &mut Enqueue<'_>) -> Result<u32, DriverError> {
        if self.device.properties().is_emulated() {
            return Ok(1);
        }
        // The first launch of a kernel may wait for its code.
        const ONE: Runs = Runs {
            warmup: 1,
            timed: 1,
        };
        // SAFETY: `sample`'s contract.
        let ms = unsafe { time_launches(&self.stream, launch, ONE) }?[0];
        Ok(if ms < SHORT_MS {
            (BATCH_MS / ms).ceil().clamp(1.0, MAX_IN_BATCH) as u32
        } else {
            1
        })
    }

    fn take(
        &mut self,
        launch: &mut Enqueue<'_>,
        cache: CacheState,
        warmup: u32,
        count: u32,
        samples: &mut Samples,
    ) -> Result<(), DriverError> {
        let mut timed = Vec::with_capacity(count as usize);
        self.clocks.poison()?;
        // Right before the samples, so that the device is busy when the first begins.
        for _ in 0..warmup {
            launch(&self.stream)?;
        }
        self.read_clocks(0)?;
        for sample in 0..count {
            if cache == CacheState::Cold {
                empty_caches(&self.flush, &mut self.flushed, &self.stream)?;
            }
            let stream = &self.stream;
            let batch = || (0..samples.batch).try_for_each(|_| launch(stream));
            timed.push(Interval::of(stream, batch)?);
            self.read_clocks(sample + 1)?;
        }
        samples.conditions = self.monitor.now();
        self.stream.synchronize()?;
        for sample in &timed {
            let ms = sample.milliseconds()? / f64::from(samples.batch);
            samples.ms.push(ms);
        }
        samples.clock_hz.extend(self.clock_rates(count)?);
        Ok(())
    }

    /// Has each multiprocessor's clock written to a slot.
    fn read_clocks(&mut self, slot: u32) -> Result<(), DriverError> {
        let Some(probe) = &self.probe else {
            return Ok(());
        };
        let arguments = (self.clocks.slice_mut(..), places(self.device), slot);
        // SAFETY: there are readings for all slots, which `take` has poisoned, and the buffer lives as
        // long as the stream.
        unsafe { probe.launch(&self.stream, &arguments) }
    }

    /// The clock between each two slots.
    fn clock_rates(&self, count: u32) -> Result<Vec<Option<f64>>, DriverError> {
        let places = places(self.device) as usize;
        let readings = self.clocks.to_vec()?;
        let slots: Vec<&[[u64; 2]]> = readings.chunks(places).collect();
        let pairs = slots.windows(2).take(count as usize);
        Ok(pairs.map(|pair| clock_rate(pair[0], pair[1])).collect())
    }
}

/// Fills the caches with what nobody reads: a sampler's, whose buffer lives as long as its stream.
fn empty_caches(
    flush: &Prepared<'_, write_u4>,
    flushed: &mut DeviceBuffer<Vector>,
    stream: &Stream<'_>,
) -> Result<(), DriverError> {
    let vectors = flushed.len() as u64;
    // SAFETY: the buffer has so many vectors, and lives as long as the stream.
    unsafe { flush.launch(stream, &(flushed.slice_mut(..), vectors)) }
}

/// Room for the readings of so many multiprocessors: their numbers may have gaps.
pub(crate) fn places(device: &Device) -> u32 {
    2 * device.properties().multiprocessors
}

/// The median of the multiprocessors' clocks between two readings, in Hz. A place that no block wrote
/// has all bits set.
fn clock_rate(before: &[[u64; 2]], after: &[[u64; 2]]) -> Option<f64> {
    const NANOSECONDS: f64 = 1e9;
    let rates: Vec<f64> = before
        .iter()
        .zip(after)
        .filter(|(before, after)| before[0] != u64::MAX && after[0] != u64::MAX)
        .filter_map(|(before, after)| {
            let cycles = after[0].checked_sub(before[0])?;
            let nanoseconds = after[1].checked_sub(before[1])?;
            (nanoseconds >= MIN_NS).then(|| cycles as f64 / nanoseconds as f64 * NANOSECONDS)
        })
        .collect();
    Summary::of(&rates).map(|rates| rates.median)
}

/// Whether the samples are as many as there may be, or quiet enough.
fn is_enough(ms: &[f64], sampling: Sampling) -> bool {
    let (Some(wanted), Some(summary)) = (sampling.noise_percent, Summary::of(ms)) else {
        return true;
    };
    let standard_error = summary.rms_percent / (ms.len() as f64).sqrt();
    standard_error <= wanted || ms.len() as u32 >= sampling.most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_that_of_the_multiprocessors_in_the_middle() {
        let absent = [u64::MAX; 2];
        let before = [[1000, 5000], [70_000, 5000], absent, [9, 5000]];
        let at = |cycles: u64| [cycles + 198_000, 105_000];
        let after = [at(1000), at(70_000), [5, 105_000], [99_009, 105_000]];
        assert_eq!(clock_rate(&before, &after), Some(1.98e9));
        let soon = before.map(|[cycles, ns]| [cycles.wrapping_add(10), ns.wrapping_add(10)]);
        assert_eq!(clock_rate(&before, &soon), None, "too short a time");
        assert_eq!(
            clock_rate(&after, &before),
            None,
            "clocks do not run backwards"
        );
    }

    #[test]
    fn rounds_share_the_samples() {
        let sampling = |timed| Sampling {
            runs: Runs { warmup: 3, timed },
            noise_percent: Some(1.0),
            most: 2 * timed,
        };
        let of = |timed: u32| {
            let (all, rounds) = (sampling(timed), sampling(timed).rounds());
            let each = (0..rounds).map(|round| all.of_round(round, rounds));
            let counts: Vec<u32> = each.clone().map(|it| it.runs.timed).collect();
            assert_eq!(each.map(|it| it.most).sum::<u32>(), 2 * timed);
            counts
        };
        assert_eq!(of(20), [5, 5, 5, 5]);
        assert_eq!(of(10), [4, 3, 3]);
        assert_eq!(of(17), [5, 4, 4, 4]);
        assert_eq!(of(8), [8]);
        assert_eq!(of(102), [26, 26, 25, 25]);
        assert_eq!(of(3), [3]);
        // Half the error of all four together, in each.
        assert_eq!(sampling(20).of_round(0, 4).noise_percent, Some(2.0));
    }

    #[test]
    fn a_sample_without_a_time_is_none_of_its_round() {
        let round = |ms: &[f64]| Samples {
            ms: ms.to_vec(),
            clock_hz: vec![None; ms.len()],
            batch: 1,
            conditions: Conditions::default(),
            rounds: vec![ms.len() as u32],
        };
        let mut samples = round(&[1.0, 0.0, 1.0]);
        samples.append(round(&[2.0, 2.0]));
        assert_eq!(samples.timed(), [1.0, 1.0, 2.0, 2.0]);
        assert_eq!(samples.timed_of_rounds(), [2, 2]);
    }

    #[test]
    fn noise_asks_for_more_samples_up_to_the_most() {
        let sampling = |noise_percent| Sampling {
            runs: Runs {
                warmup: 0,
                timed: 4,
            },
            noise_percent,
            most: 8,
        };
        let noisy = [1.0, 2.0, 1.0, 2.0];
        assert!(is_enough(&noisy, sampling(None)));
        assert!(!is_enough(&noisy, sampling(Some(1.0))));
        assert!(is_enough(&noisy, sampling(Some(50.0))));
        assert!(is_enough(&[noisy, noisy].concat(), sampling(Some(1.0))));
    }
}
