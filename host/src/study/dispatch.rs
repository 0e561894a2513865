//! What a launch costs the host, and what each barrier costs a loop.

use kernels_gpu::counter::{BLOCK, count};
use serde::Serialize;
use tracing::trace_span;

use super::rounds::{PerIteration, rounded};
use super::{Rounds, StudyError};
use crate::driver::{Device, DriverError, Prepared, Shape, Stream};

/// What a launch takes, in the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Calls a launch of the kernel that launch something, counted at the driver gate.
    pub launch_calls: f64,
    /// Waits of the host a launch, counted there.
    pub waits: f64,
    /// What ran it.
    pub device: String,
    /// Whether every launch has run.
    pub checked: bool,
}

/// Launches of the smallest kernel, dispatched in each way. The loop of a graph is that of its
/// nodes.
///
/// # Errors
/// The driver's, or a launch has not run.
pub fn dispatch(device: &Device, rounds: Rounds) -> Result<Vec<DispatchRow>, StudyError> {
    Ok(vec![
        measure(device, "a barrier each launch", rounds, |study| {
            study.with_barriers(1)
        })?,
        measure(device, "a barrier each tenth launch", rounds, |study| {
            study.with_barriers(10)
        })?,
        measure(device, "no barrier", rounds, |study| {
            study.with_barriers(u32::MAX)
        })?,
        measure(device, "a graph", rounds, Dispatch::in_graph)?,
    ])
}

/// A counter on a device, and what counts.
struct Dispatch<'d> {
    rounds: Rounds,
    stream: Stream<'d>,
    prepared: Prepared<'d, count>,
    counter: crate::driver::Buffer<u32>,
}

fn measure<'d>(
    device: &'d Device,
    dispatch: &'static str,
    rounds: Rounds,
    run: impl FnOnce(&mut Dispatch<'d>) -> Result<PerIteration, DriverError>,
) -> Result<DispatchRow, StudyError> {
    let _range = trace_span!("dispatch", color = "blue", dispatch).entered();
    let mut study = Dispatch {
        rounds,
        stream: Stream::new(device)?,
        prepared: device.prepare(count::entry(), Shape::blocks(1, BLOCK))?,
        counter: device.buffer_zeroed(1)?,
    };
    let times = run(&mut study)?;
    // Once to warm up, once to count, and the rounds.
    let expected = f64::from(rounds.iterations) * f64::from(rounds.rounds + 2);
    let actual = study.counter.to_vec()?[0].into();
    StudyError::check(format_args!("{dispatch}: launches"), actual, expected, 0.0)?;
    Ok(DispatchRow {
        dispatch,
        launches: rounds.iterations,
        host_us: rounded(times.host_us),
        device_us: rounded(times.device_us),
        complete_us: rounded(times.complete_us),
        launch_calls: times.launches,
        waits: times.waits,
        device: device.facts().name.clone(),
        checked: true,
    })
}

impl Dispatch<'_> {
    /// Waits after every so many launches.
    fn with_barriers(&mut self, each: u32) -> Result<PerIteration, DriverError> {
        let (stream, counter) = (&self.stream, &mut self.counter);
        let run = self.rounds.run(stream, |i| {
            // SAFETY: one block; the stream is waited for before the counter goes.
            unsafe { self.prepared.launch(stream, &(counter.slice_mut(),)) }?;
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
                unsafe { self.prepared.launch(stream, &(counter.slice_mut(),)) }
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
