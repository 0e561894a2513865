//! A workload at one point, for other harnesses than this library's.

use std::time::Duration;

use super::{Bench, Case, Point, PointError, Value, Workload};
use crate::measure::{CacheState, Runs, Sampler, Sampling};

/// A workload at one point, whose launches are timed by the device.
///
/// ```
/// use ridgepoint_harness::driver::Emulation;
/// use ridgepoint_harness::embedded::Stream;
/// use ridgepoint_harness::workload::{Bench, Timed};
///
/// let bench = Bench::emulator(Emulation::default(), &[])?;
/// let mut copy = Timed::new(&bench, &Stream::COPY, &[("n", (1 << 10).into())])?;
/// assert!(!copy.time(3)?.is_zero());
/// # Ok::<(), ridgepoint_harness::workload::PointError>(())
/// ```
///
/// That is what `criterion`'s `iter_custom` takes: `ridgepoint::kernels::bench` has an example.
pub struct Timed<'d> {
    case: Case<'d>,
    sampler: Sampler<'d>,
}

impl<'d> Timed<'d> {
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
    ) -> Result<Timed<'d>, PointError> {
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
        Ok(Timed {
            case: workload.case(&point)?.refused()?,
            sampler: Sampler::new(bench.own(), Timed::AT_ONCE)?,
        })
    }

    /// Samples between two waits.
    const AT_ONCE: u32 = 1000;

    /// The device's time for so many launches, after one that is not counted. What they wrote is compared
    /// with the workload's reference.
    ///
    /// # Errors
    /// [`PointError::Refused`]: an element is not the reference of the workload; [`PointError::Driver`]:
    /// the device refuses a launch, or the kernel failed.
    pub fn time(&mut self, launches: u64) -> Result<Duration, PointError> {
        let mut left = launches;
        let mut all = Duration::ZERO;
        while left > 0 {
            let timed = left.min(Timed::AT_ONCE.into()) as u32;
            let sampling = Sampling {
                runs: Runs { warmup: 1, timed },
                noise_percent: None,
                most: timed,
            };
            let (samples, _) = self
                .case
                .sample(&mut self.sampler, CacheState::Warm, sampling)?;
            all += samples
                .ms
                .iter()
                .map(|ms| Duration::from_secs_f64(ms / 1e3))
                .sum::<Duration>();
            left -= u64::from(timed);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;
    use crate::embedded::Polynomial;

    #[test]
    fn a_point_is_timed_launch_by_launch() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let values = [("n", Value::Whole(64)), ("k", Value::Whole(3))];
        let mut timed = Timed::new(&bench, &Polynomial::HORNER, &values).expect("small");
        let (none, some) = (timed.time(0), timed.time(2500));
        assert_eq!(none.expect("nothing"), Duration::ZERO);
        assert!(some.expect("it runs") > Duration::ZERO);
        let unknown = Timed::new(&bench, &Polynomial::HORNER, &[("m", Value::Whole(1))]);
        let none = Timed::new(&bench, &Polynomial::HORNER, &[("k", Value::Whole(0))]);
        assert!(none.is_err_and(|error| error.to_string().contains("from 1 to 2^20")));
        assert!(unknown.is_err_and(|error| error.to_string().contains("no axis \"m\"")));
    }
}
