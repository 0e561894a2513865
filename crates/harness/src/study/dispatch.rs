//! The cost of a launch for the host, and of each barrier for a loop.

use std::ops::ControlFlow;

use kernels_gpu::counter::{BLOCK, count};
use serde::Serialize;
use tracing::trace_span;

use super::rounds::{PerIteration, rounded};
use super::{Rounds, StudyError};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};

/// The times of a launch, in the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DispatchRow {
    /// How the launches are dispatched.
    pub dispatch: &'static str,
    /// Launches of the kernel in the loop.
    pub launches: u32,
    /// Microseconds of the host a launch, its waits included.
    pub host_us: f64,
    /// Microseconds of the device a launch, idle time included.
    pub device_us: f64,
    /// Microseconds a launch until the host knew that all were done.
    pub complete_us: f64,
    /// Calls per launch of the kernel that launch something, counted at the driver gate.
    pub launch_calls: f64,
    /// Waits of the host a launch, counted there.
    pub waits: f64,
    /// The device that ran it.
    pub device: String,
    /// Whether every launch has run.
    pub checked: bool,
}

/// Launches of the smallest kernel, dispatched in each way. The loop of a graph is that of its
/// nodes. All go into one stream, and nothing is copied before the last: once a second stream has had
/// work, a graph's nodes take longer for as long as the context lives. Therefore the rows are checked
/// together, and given back together: all, or those before `go_on`, asked after each, broke off.
///
/// # Errors
/// [`StudyError::Wrong`]: fewer launches ran than were asked for; [`StudyError::Driver`]: the device has no
/// such kernel, refuses a launch, or captures none.
pub fn dispatch(
    device: &Device,
    rounds: Rounds,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<DispatchRow>, StudyError> {
    let mut study = Dispatch {
        device,
        rounds,
        stream: Stream::new(device)?,
        prepared: device.prepare(count::entry(), LaunchConfig::blocks(1, BLOCK))?,
        counter: device.buffer_zeroed(1)?,
    };
    let ways: [(&'static str, Way<'_>); 4] = [
        ("a barrier each launch", |study| study.with_barriers(1)),
        ("a barrier each tenth launch", |study| {
            study.with_barriers(10)
        }),
        ("no barrier", |study| study.with_barriers(u32::MAX)),
        ("a graph", Dispatch::in_graph),
    ];
    let mut rows = Vec::new();
    for (name, way) in ways {
        rows.push(study.measure(name, way)?);
        if go_on().is_break() {
            break;
        }
    }
    let each = f64::from(rounds.iterations) * f64::from(rounds.passes());
    let (actual, expected) = (study.counter.to_vec()?[0], each * rows.len() as f64);
    StudyError::check("launches", actual.into(), expected, 0.0)?;
    Ok(rows)
}

/// A counter on a device, and what counts.
struct Dispatch<'d> {
    device: &'d Device,
    rounds: Rounds,
    stream: Stream<'d>,
    prepared: Prepared<'d, count>,
    counter: DeviceBuffer<u32>,
}

/// A way to dispatch the launches of a loop.
type Way<'d> = fn(&mut Dispatch<'d>) -> Result<PerIteration, DriverError>;

impl Dispatch<'_> {
    fn measure(
        &mut self,
        dispatch: &'static str,
        run: impl FnOnce(&mut Self) -> Result<PerIteration, DriverError>,
    ) -> Result<DispatchRow, StudyError> {
        let _range = trace_span!("dispatch", color = "blue", dispatch).entered();
        let times = run(self)?;
        Ok(DispatchRow {
            dispatch,
            launches: self.rounds.iterations,
            host_us: rounded(times.host_us),
            device_us: rounded(times.device_us),
            complete_us: rounded(times.complete_us),
            launch_calls: times.launches,
            waits: times.waits,
            device: self.device.properties().name.clone(),
            checked: true,
        })
    }

    /// Waits after every so many launches.
    fn with_barriers(&mut self, each: u32) -> Result<PerIteration, DriverError> {
        let (stream, counter) = (&self.stream, &mut self.counter);
        let run = self.rounds.run(stream, |i| {
            // SAFETY: one block; the stream is waited for before the counter goes.
            unsafe { self.prepared.launch(stream, &(counter.slice_mut(..),)) }?;
            match (i + 1) % each {
                0 => stream.synchronize(),
                _ => Ok(()),
            }
        });
        self.finish(run)
    }

    fn in_graph(&mut self) -> Result<PerIteration, DriverError> {
        let (stream, counter) = (&self.stream, &mut self.counter);
        let graph = stream.capture(|| {
            (0..self.rounds.iterations).try_for_each(|_| {
                // SAFETY: as in `with_barriers`.
                unsafe { self.prepared.launch(stream, &(counter.slice_mut(..),)) }
            })
        })?;
        let run = self.rounds.run(stream, |i| match i {
            // SAFETY: as above.
            0 => unsafe { graph.launch(stream) },
            _ => Ok(()),
        });
        self.finish(run)
    }

    /// Waits also where something went wrong.
    fn finish(&self, run: Result<PerIteration, DriverError>) -> Result<PerIteration, DriverError> {
        self.stream.synchronize()?;
        run
    }
}
