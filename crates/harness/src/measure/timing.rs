//! Times launches between two events each.

use cuda_std::launch::Signature;

use crate::driver::{DriverError, Event, Prepared, Stream};

/// How often to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Launches before the timed ones.
    pub warmup: u32,
    /// Timed launches.
    pub timed: u32,
}

/// Milliseconds of each timed launch.
///
/// All launches are queued before the first result is read, so the device is busy when a start
/// event is recorded and the time between two events is the kernel's, without the host's.
///
/// # Safety
/// As for [`Prepared::launch`]; the stream is synchronised on success.
///
/// # Errors
/// As [`Prepared::launch`], [`Stream::record`] and [`Stream::synchronize`]: the launch is refused, or a
/// thread of the kernel failed.
pub unsafe fn time<S: Signature>(
    prepared: &Prepared<'_, S>,
    stream: &Stream<'_>,
    arguments: &S::Arguments<'_>,
    runs: Runs,
) -> Result<Vec<f64>, DriverError> {
    // SAFETY: the caller's contract is that of `launch`.
    let mut launch = |stream: &Stream<'_>| unsafe { prepared.launch(stream, arguments) };
    // SAFETY: the caller's contract.
    unsafe { time_launches(stream, &mut launch, runs) }
}

/// Puts a sample's work into a stream.
pub type Enqueue<'a> = dyn FnMut(&Stream<'_>) -> Result<(), DriverError> + 'a;

/// As [`time`], of whatever `launch` puts into the stream.
///
/// # Safety
/// That keeps its contracts until the stream has been synchronised, which it is on success.
pub(crate) unsafe fn time_launches(
    stream: &Stream<'_>,
    launch: &mut Enqueue<'_>,
    runs: Runs,
) -> Result<Vec<f64>, DriverError> {
    for _ in 0..runs.warmup {
        launch(stream)?;
    }
    let timed = (0..runs.timed).map(|_| Interval::of(stream, || launch(stream)));
    let timed: Vec<Interval<'_>> = timed.collect::<Result<_, _>>()?;
    stream.synchronize()?;
    timed.iter().map(Interval::milliseconds).collect()
}

/// The device's time from before some work of a stream until after it: every figure that its clock gives is one.
pub(crate) struct Interval<'d> {
    start: Event<'d>,
    end: Event<'d>,
}

impl<'d> Interval<'d> {
    /// That of what `work` puts into the stream.
    pub(crate) fn of(
        stream: &Stream<'d>,
        work: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<Self, DriverError> {
        let start = stream.record()?;
        work()?;
        let end = stream.record()?;
        Ok(Interval { start, end })
    }

    /// How long it was, once the stream has been synchronised.
    pub(crate) fn milliseconds(&self) -> Result<f64, DriverError> {
        self.end.milliseconds_since(&self.start)
    }
}
