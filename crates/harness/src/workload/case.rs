//! A launch at a point, complete, and what is measured of it.

use std::path::PathBuf;

use super::PointError;
use super::held::{Run, With};
use crate::driver::{Device, DriverError, LaunchConfig, Stream};
use crate::measure::{
    self, CacheState, HardwareCounters, Measured, Runs, Sampler, Samples, Sampling,
};
use crate::model::{Operation, Precision, Work};

/// A point's launch, complete: what it works on, moves, computes, and should write.
pub struct Case<'d> {
    pub(super) run: Result<Box<dyn Run + 'd>, DriverError>,
    pub(crate) kernel: &'static str,
    pub(crate) config: LaunchConfig,
    pub(crate) work: Work,
    pub(crate) overhead: Work,
    pub(super) memory: Option<u64>,
    /// Bytes of a load, and how many are under way.
    pub(crate) loads: Option<(u32, u32)>,
    pub(crate) chains: Option<u32>,
    /// The device that has the kernel.
    pub(crate) device: &'d Device,
    pub(crate) has_clusters: bool,
    /// The file that the kernel is from; `None` of the bench's own kernels.
    pub(crate) file: Option<PathBuf>,
}

impl<'d> Case<'d> {
    /// The launch reads so many elements from memory, each once.
    #[must_use]
    pub fn reads<T>(self, elements: usize) -> Self {
        let bytes = elements as f64 * size_of::<T>() as f64;
        Case {
            work: self.work.reads(bytes),
            ..self
        }
    }

    /// The launch writes so many elements to memory.
    #[must_use]
    pub fn writes<T>(self, elements: usize) -> Self {
        let bytes = elements as f64 * size_of::<T>() as f64;
        Case {
            work: self.work.writes(bytes),
            ..self
        }
    }

    /// All threads together execute so many operations of a kind, on numbers of a type.
    #[must_use]
    pub fn operations(self, precision: Precision, operation: Operation, count: usize) -> Self {
        Case {
            work: self.work.operations(precision, operation, count as f64),
            ..self
        }
    }

    /// Sets the launch's work beside its useful work: halos that two blocks compute, a reduction's tree, vectors that
    /// are not full. Rates and intensities leave it out; what is counted is compared with both together.
    #[must_use]
    pub fn overhead(self, work: Work) -> Self {
        Case {
            overhead: self.overhead.and(work),
            ..self
        }
    }

    /// Bytes that the arrays take, where they are not what the launch reads and writes.
    #[must_use]
    pub fn allocates(self, bytes: u64) -> Self {
        Case {
            memory: Some(bytes),
            ..self
        }
    }

    /// A thread loads so many bytes with one instruction, and has so many such loads under way at once.
    #[must_use]
    pub fn loads(self, bytes: u32, at_once: u32) -> Self {
        Case {
            loads: Some((bytes, at_once)),
            ..self
        }
    }

    /// So many operations of a thread do not wait for each other.
    #[must_use]
    pub fn chains(self, count: u32) -> Self {
        Case {
            chains: Some(count),
            ..self
        }
    }

    /// Bytes that the arrays take, as far as that is known.
    pub(crate) fn memory(&self) -> u64 {
        let moved = || self.work.bytes().unwrap_or(0.0) as u64;
        self.memory.unwrap_or_else(moved)
    }

    /// Allocates, takes samples, and compares. Whether there was something to compare with comes with
    /// the samples.
    pub(crate) fn sample(
        &mut self,
        sampler: &mut Sampler<'_>,
        cache: CacheState,
        sampling: Sampling,
    ) -> Result<(Samples, bool), PointError> {
        let samples = self.round(sampler, cache, sampling)?;
        Ok((samples, self.compare()?))
    }

    /// Allocates, and takes samples.
    pub(crate) fn round(
        &mut self,
        sampler: &mut Sampler<'_>,
        cache: CacheState,
        sampling: Sampling,
    ) -> Result<Samples, DriverError> {
        let mut samples = None;
        self.allocated()?.launch(&mut |launch| {
            // SAFETY: who made the case vouches for what it launches, and `sample` waits for it.
            samples = Some(unsafe { sampler.sample(launch, cache, sampling) }?);
            Ok(())
        })?;
        Ok(samples.expect("`launch` calls what it is given"))
    }

    /// Compares what the last round wrote. `false` where there is nothing to compare with.
    pub(crate) fn compare(&mut self) -> Result<bool, PointError> {
        self.run_mut().check()
    }

    /// Allocates, and has the hardware count a launch.
    pub(crate) fn count(
        &mut self,
        sampler: &mut Sampler<'_>,
        counters: &mut HardwareCounters,
        cache: CacheState,
    ) -> Result<Measured, DriverError> {
        let mut measured = None;
        self.allocated()?.launch(&mut |launch| {
            // SAFETY: who made the case vouches for what it launches, and `count` waits for it.
            measured = Some(unsafe { sampler.count(counters, launch, cache) }?);
            Ok(())
        })?;
        Ok(measured.expect("`launch` calls what it is given"))
    }

    /// Allocates, and gives `with` what puts a launch into a stream.
    pub(super) fn launch(&mut self, with: &mut With<'_>) -> Result<(), DriverError> {
        self.allocated()?.launch(with)
    }

    /// Allocates, launches once, compares, and frees. Whether there was something to compare with.
    pub(crate) fn check(&mut self) -> Result<bool, PointError> {
        let stream = Stream::new(self.device)?;
        self.time(
            &stream,
            Runs {
                warmup: 1,
                timed: 0,
            },
        )?;
        let is_checked = self.run_mut().check();
        self.release();
        is_checked
    }

    /// Allocates, and times each of so many launches: milliseconds.
    pub(crate) fn time(&mut self, stream: &Stream<'_>, runs: Runs) -> Result<Vec<f64>, PointError> {
        stream.refuse_capture_by_thread("launch a workload")?;
        stream.finish_copies()?;
        let mut times = Vec::new();
        self.allocated()?.launch(&mut |launch| {
            // SAFETY: who made the case vouches for what it launches.
            let timed = unsafe { measure::time_launches(stream, launch, runs) };
            if timed.is_err() {
                // Launches may be under way. The first error is the one that counts.
                let _ = stream.synchronize();
            }
            times = timed?;
            Ok(())
        })?;
        Ok(times)
    }

    /// Compares what the launches wrote, and says what the kernel has counted.
    pub(crate) fn counted(&mut self) -> Result<Option<Vec<u64>>, PointError> {
        let run = self.run_mut();
        run.check()?;
        run.counters()
    }

    fn allocated(&mut self) -> Result<&mut (dyn Run + 'd), DriverError> {
        let run = self.run_mut();
        run.allocate()?;
        Ok(run)
    }

    fn run_mut(&mut self) -> &mut (dyn Run + 'd) {
        let run = self.run.as_mut().expect("`refused` was asked first");
        run.as_mut()
    }

    /// Frees the arrays.
    pub(crate) fn release(&mut self) {
        if let Ok(run) = &mut self.run {
            run.release();
        }
    }

    /// The case with what its arrays say of bytes and operations, where the workload asks them.
    pub(crate) fn settled(mut self) -> Result<Self, DriverError> {
        if let Ok(run) = &mut self.run
            && let Some(work) = run.work()?
        {
            self.work = self.work.and(work);
        }
        Ok(self)
    }

    /// Takes out why the device does not allow the launch.
    pub(crate) fn refused(self) -> Result<Self, DriverError> {
        match self.run {
            Err(error) => Err(error),
            Ok(_) => Ok(self),
        }
    }
}
