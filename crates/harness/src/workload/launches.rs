//! A workload at one point, for other harnesses than this library's.

use super::{Bench, Case, Point, PointError, Value, Workload};
use crate::driver::{DriverError, Stream};

/// A workload at one point, whose launches somebody else times.
///
/// ```
/// use ridgepoint_harness::driver::{self, Emulation};
/// use ridgepoint_harness::embedded::Stream;
/// use ridgepoint_harness::workload::{Bench, Launches};
///
/// let bench = Bench::emulator(Emulation::default(), &[])?;
/// let stream = driver::Stream::new(bench.device())?;
/// let mut copy = Launches::new(&bench, &Stream::COPY, &[("n", (1 << 10).into())])?;
/// copy.each(&stream, |launch| {
///     let start = stream.record().expect("an event");
///     (0..3).for_each(|_| launch());
///     let end = stream.record().expect("an event");
///     end.synchronize().expect("the launches work");
///     assert!(end.milliseconds_since(&start).expect("both were reached") > 0.0);
/// })?;
/// # Ok::<(), ridgepoint_harness::workload::PointError>(())
/// ```
///
/// The package `ridgepoint-criterion` has the device's time for `criterion`.
pub struct Launches<'d> {
    case: Case<'d>,
}

impl<'d> Launches<'d> {
    /// The workload at these values of its axes, and at the first of its own of the others.
    ///
    /// # Errors
    /// [`PointError::Refused`]: there is no such axis, the axis does not take the value, or the workload
    /// refuses the point; [`PointError::Driver`]: there is too little memory, or the device does not allow
    /// the launch.
    pub fn new(
        bench: &'d Bench,
        workload: &dyn Workload,
        values: &[(&str, Value)],
    ) -> Result<Launches<'d>, PointError> {
        let axes = workload.axes();
        let name = workload.name();
        let is_axis = |wanted: &str| axes.iter().any(|axis| axis.name() == wanted);
        if let Some((unknown, _)) = values.iter().find(|(axis, _)| !is_axis(axis)) {
            return Err(format!("workload {name} has no axis {unknown:?}").into());
        }
        for axis in &axes {
            let mut given = values.iter().filter(|(name, _)| *name == axis.name());
            given.try_for_each(|(_, value)| axis.accepts(value))?;
        }
        let is_emulated = bench.device().properties().is_emulated();
        let values = axes.iter().filter_map(|axis| {
            let given = values.iter().find(|(name, _)| *name == axis.name());
            let value = given.map(|(_, value)| value);
            let value = value.or_else(|| axis.defaults(is_emulated).first())?;
            Some((axis.name(), value.clone()))
        });
        let point = Point::new(bench.device(), &bench.loaded, workload, values.collect());
        Ok(Launches {
            case: workload.case(&point)?.refused()?,
        })
    }

    /// Allocates the arrays, and gives `run` a function that puts one launch into the stream, to be called
    /// any number of times. Then it waits for the stream, and compares what the launches wrote with the
    /// workload's reference. After an error the function does nothing.
    ///
    /// # Errors
    /// [`PointError::Refused`]: `run` launched nothing, or an element is not the reference of the workload;
    /// [`PointError::Driver`]: the stream is another device's or its thread captures, the device refuses a
    /// launch, or the kernel failed.
    pub fn each(
        &mut self,
        stream: &Stream<'_>,
        run: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<(), PointError> {
        stream.refuse_capture_by_thread("launch a workload")?;
        stream.finish_copies()?;
        let mut run = Some(run);
        let mut launches = 0u64;
        self.case.launch(&mut |launch| {
            // Also where `run` panics: the arrays go then.
            let waits = Waits(stream);
            let mut result: Result<(), DriverError> = Ok(());
            let mut one = || {
                if result.is_ok() {
                    result = launch(stream);
                    launches += 1;
                }
            };
            if let Some(run) = run.take() {
                run(&mut one);
            }
            drop(waits);
            result.and_then(|()| stream.synchronize())
        })?;
        if launches == 0 {
            return Err("nothing was launched".into());
        }
        self.case.counted().map(|_| ())
    }
}

/// Waits for a stream when it goes.
struct Waits<'s, 'd>(&'s Stream<'d>);

impl Drop for Waits<'_, '_> {
    fn drop(&mut self) {
        // The caller that made it asks again, and is told.
        let _ = self.0.synchronize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Emulation, LaunchConfig};
    use crate::embedded::Polynomial;
    use crate::workload::from_fn;
    use kernels_gpu::ceilings::stream::write_u1;

    #[test]
    fn the_launches_of_a_point_are_somebody_elses_to_time() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let stream = Stream::new(bench.device()).expect("a stream");
        let values = [("n", Value::Whole(64)), ("k", Value::Whole(3))];
        let mut point = Launches::new(&bench, &Polynomial::HORNER, &values).expect("small");
        let ran = point.each(&stream, |launch| (0..2500).for_each(|_| launch()));
        ran.expect("a right result");
        let none = point.each(&stream, |_| {});
        assert!(none.is_err_and(|error| error.to_string() == "nothing was launched"));
        let unknown = Launches::new(&bench, &Polynomial::HORNER, &[("m", Value::Whole(1))]);
        let none = Launches::new(&bench, &Polynomial::HORNER, &[("k", Value::Whole(0))]);
        assert!(none.is_err_and(|error| error.to_string().contains("from 1 to 2^20")));
        assert!(unknown.is_err_and(|error| error.to_string().contains("no axis \"m\"")));
    }

    #[test]
    fn what_goes_wrong_is_said() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let stream = Stream::new(bench.device()).expect("a stream");
        let wrong = from_fn("ones", [], |at| {
            let arrays = at
                .launch(write_u1::entry(), LaunchConfig::blocks(1, 32))
                .arrays(|device| device.buffer_filled(32, [0f32; 4]))
                .check(|_| Err("all is wrong".into()));
            // SAFETY: there are 32 vectors.
            Ok(unsafe { arrays.arguments_unchecked(|y| (y.slice_mut(..), 32)) })
        });
        let mut point = Launches::new(&bench, &wrong, &[]).expect("a launch");
        let error = point.each(&stream, |launch| launch()).expect_err("wrong");
        assert_eq!(error.to_string(), "all is wrong");
        let other = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let elsewhere = Stream::new(other.device()).expect("a stream");
        let error = point.each(&elsewhere, |launch| launch());
        assert!(error.is_err(), "a stream of another emulator");
    }
}
