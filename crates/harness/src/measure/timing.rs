//! Times launches between two events each.

use cuda_std::launch::Signature;

use crate::driver::{DriverError, Prepared, Stream};

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
    let mut events = Vec::with_capacity(runs.timed as usize);
    for _ in 0..runs.timed {
        let start = stream.record()?;
        launch(stream)?;
        events.push((start, stream.record()?));
    }
    stream.synchronize()?;
    events
        .iter()
        .map(|(start, end)| end.milliseconds_since(start))
        .collect()
}
