//! A loop, timed on the host and on the device: what the studies of launches, norms and pipelines measure with.

use std::ops::ControlFlow;
use std::time::Instant;

use tracing::trace_span;

use crate::driver::trace::captured;
use crate::driver::{Calls, DriverError, Stream};
use crate::measure::{Interval, Summary};

/// How often a loop runs.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_harness::driver::{Device, Emulation, LaunchConfig, Stream};
/// use ridgepoint_harness::study::Rounds;
///
/// #[kernel]
/// pub fn double(mut values: Output<f32>) {
///     for (_, value) in values.own() {
///         *value *= 2.0;
///     }
/// }
///
/// let device = Device::emulator(Emulation::default());
/// let stream = Stream::new(&device)?;
/// let prepared = device.prepare(double::entry(), LaunchConfig::blocks(1, 32))?;
/// let mut values = device.buffer_filled(32, 1f32)?;
/// let rounds = Rounds { rounds: 3, iterations: 10 };
/// let each = rounds.run(&stream, |_| {
///     // SAFETY: the buffer lives, and nothing else reaches it, until the stream has been waited for.
///     unsafe { prepared.launch(&stream, &(values.slice_mut(..),)) }?;
///     stream.synchronize()
/// })?;
/// assert_eq!((each.launches, each.waits), (1.0, 1.0));
/// // Microseconds of the host an iteration, the wait included.
/// assert!(each.host_us > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Times that the loop is timed; the medians count.
    pub rounds: u32,
    /// Iterations of the loop.
    pub iterations: u32,
}

/// The time of a loop's iteration, in the median of the rounds, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PerIteration {
    /// Until the host was through with the loop.
    pub host_us: f64,
    /// Until the device was, on its own clock.
    pub device_us: f64,
    /// Until the host knew that the device was.
    pub complete_us: f64,
    /// Launches at the driver gate.
    pub launches: f64,
    /// Copies there.
    pub copies: f64,
    /// Waits there.
    pub waits: f64,
}

impl Rounds {
    /// Runs the loop once to warm up and to count its calls of the driver, and then for the times. An iteration
    /// is given its number. What it puts into other streams, it also has `stream` wait for, or waits for itself.
    ///
    /// # Errors
    /// Errors of `iterate`; work may be under way then. As [`Stream::record`] and [`Stream::synchronize`], where a
    /// kernel has failed.
    pub fn run(
        self,
        stream: &Stream<'_>,
        iterate: impl FnMut(u32) -> Result<(), DriverError>,
    ) -> Result<PerIteration, DriverError> {
        let times = self.run_while(&mut || ControlFlow::Continue(()), stream, iterate)?;
        Ok(times.unwrap_or_else(|| unreachable!("nobody asks for an end")))
    }

    /// As [`Rounds::run`], for as long as `go_on` says so, which is asked before each round: `None` if it has ended the loop.
    ///
    /// # Errors
    /// As [`Rounds::run`].
    pub(super) fn run_while(
        self,
        go_on: &mut GoOn<'_>,
        stream: &Stream<'_>,
        mut iterate: impl FnMut(u32) -> Result<(), DriverError>,
    ) -> Result<Option<PerIteration>, DriverError> {
        let mut all = || (0..self.iterations).try_for_each(&mut iterate);
        let (result, calls) =
            trace_span!("warm up", color = "gray").in_scope(|| Calls::during(&mut all));
        result?;
        let mut rounds = Vec::with_capacity(self.rounds as usize);
        captured(|| {
            (0..self.rounds).try_for_each(|round| {
                stream.synchronize()?;
                if go_on().is_break() {
                    return Ok(());
                }
                let _range = trace_span!("round", color = "green", payload = round).entered();
                rounds.push(Round::of(stream, &mut all)?);
                Ok::<_, DriverError>(())
            })
        })?;
        if rounds.len() < self.rounds as usize {
            return Ok(None);
        }
        let each = |time: fn(&Round) -> f64| {
            let samples: Vec<f64> = rounds.iter().map(time).collect();
            let median = Summary::of(&samples).map_or(f64::NAN, |summary| summary.median);
            median / f64::from(self.iterations)
        };
        let of_calls = |count: usize| count as f64 / f64::from(self.iterations);
        Ok(Some(PerIteration {
            host_us: each(|it| it.host_us),
            device_us: each(|it| it.device_us),
            complete_us: each(|it| it.complete_us),
            launches: of_calls(calls.launches()),
            copies: of_calls(calls.copies()),
            waits: of_calls(calls.waits()),
        }))
    }

    /// How often the loop runs in all.
    pub(super) fn passes(self) -> u32 {
        1 + self.rounds
    }
}

/// Says whether a measurement goes on.
pub(super) type GoOn<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// A loop's times in microseconds, as [`PerIteration`] has them of an iteration.
struct Round {
    host_us: f64,
    device_us: f64,
    complete_us: f64,
}

impl Round {
    fn of(
        stream: &Stream<'_>,
        all: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<Round, DriverError> {
        let mut began = Instant::now();
        let mut host_us = 0.0;
        let microseconds = |began: Instant| began.elapsed().as_secs_f64() * 1e6;
        let interval = Interval::of(stream, || {
            began = Instant::now();
            all()?;
            host_us = microseconds(began);
            Ok(())
        })?;
        stream.synchronize()?;
        let complete_us = microseconds(began);
        Ok(Round {
            host_us,
            device_us: interval.milliseconds()? * 1e3,
            complete_us,
        })
    }
}

/// A time to four digits behind the point, as it is written.
pub(super) fn rounded(microseconds: f64) -> f64 {
    (microseconds * 1e4).round() / 1e4
}
