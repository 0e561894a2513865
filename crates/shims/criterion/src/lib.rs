//! Device time for [`criterion`]: what a stream's launches take, between two of its events.
//!
//! A package of its own, so that whoever measures without criterion does not build it.
//!
//! ```
//! use criterion::Criterion;
//! use ridgepoint_criterion::DeviceTime;
//! use ridgepoint_harness::driver::{Emulation, Stream};
//! use ridgepoint_harness::embedded;
//! use ridgepoint_harness::workload::{Bench, Launches};
//!
//! let bench = Bench::emulator(Emulation::default(), &[])?;
//! let stream = Stream::new(bench.device())?;
//! let mut criterion = Criterion::default().with_measurement(DeviceTime::of(&stream));
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let mut criterion = criterion.output_directory(folder.path()).sample_size(10);
//! # criterion = criterion.warm_up_time(std::time::Duration::from_millis(1));
//! # criterion = criterion.measurement_time(std::time::Duration::from_millis(20));
//! let mut group = criterion.benchmark_group("memory");
//! let mut copy = Launches::new(&bench, &embedded::Stream::COPY, &[("n", (1 << 10).into())])?;
//! copy.each(&stream, |launch| {
//!     group.bench_function("copy", |bencher| bencher.iter(|| launch()));
//! })?;
//! group.finish();
//! # Ok::<(), ridgepoint_harness::workload::PointError>(())
//! ```

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use ridgepoint_driver::{Event, Stream};

/// The time between two events of a stream. What is timed puts launches into it, and need not wait for them.
///
/// On a GPU that is the device's time, to about 0.5 us a sample: launches one behind the other, and what the
/// device waits for the next where the host takes longer to launch than the kernel to run, which is a few
/// microseconds. On the emulator, which runs a launch before it returns, it is the host's time.
///
/// Its functions panic where the driver refuses an event, or a launch between them has failed: criterion takes
/// no errors.
#[derive(Clone, Copy)]
pub struct DeviceTime<'s> {
    stream: &'s Stream<'s>,
}

impl<'s> DeviceTime<'s> {
    /// That of what is launched in the stream.
    pub fn of(stream: &'s Stream<'s>) -> DeviceTime<'s> {
        DeviceTime { stream }
    }

    fn now(&self) -> Event<'s> {
        let event = self.stream.record();
        event.unwrap_or_else(|error| panic!("device time: {error}"))
    }
}

impl<'s> Measurement for DeviceTime<'s> {
    type Intermediate = Event<'s>;
    type Value = Duration;

    fn start(&self) -> Event<'s> {
        self.now()
    }

    fn end(&self, start: Event<'s>) -> Duration {
        let end = self.now();
        let waited = end.synchronize();
        let milliseconds = waited.and_then(|()| end.milliseconds_since(&start));
        match milliseconds {
            Ok(milliseconds) => Duration::from_secs_f64(milliseconds / 1e3),
            Err(error) => panic!("device time: {error}"),
        }
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
