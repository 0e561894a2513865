//! The hardware counters of a GPU.

use super::context::Owned;
use super::{Device, DriverError};

/// Hardware counters of a GPU, which its profiling library reads (CUPTI of CUDA 12.6 or newer).
///
/// ```
/// use ridgepoint_driver::{Counters, Device, DeviceChoice, DriverError, Stream};
///
/// /// Bytes that launches read from the memory of a GPU.
/// fn bytes_read(
///     device: &Device,
///     launch: impl FnMut() -> Result<(), DriverError>,
/// ) -> Result<f64, DriverError> {
///     let mut counters = Counters::new(device, &["dram__bytes_read.sum"])?;
///     println!("{} runs", counters.passes());
///     let values = counters.measure(|| Ok(()), launch)?;
///     Ok(values[0])
/// }
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let error = bytes_read(&device, || {
///     // Launches.
///     stream.synchronize()
/// });
/// // The emulator has no hardware to count; `Device::take_counts` has its counts.
/// assert!(matches!(error, Err(DriverError::Counters(_))));
/// # Ok::<(), DriverError>(())
/// ```
#[derive(Debug)]
pub struct Counters(Owned<cupti::Counters>);

/// The reason why a measurement ended early.
enum Ended<E> {
    Launch(E),
    Counters(cupti::Error),
}

impl<E> From<cupti::Error> for Ended<E> {
    fn from(error: cupti::Error) -> Ended<E> {
        Ended::Counters(error)
    }
}

impl Counters {
    /// Prepares to read metrics, by the names that Nsight Compute has for them. One measures at a time in a
    /// process, and none beside a profiler.
    ///
    /// # Errors
    /// [`DriverError::Counters`]: the device is the emulator; there is no CUPTI, or an older one; the process
    /// may not read counters; the device has no metric of such a name.
    pub fn new(device: &Device, metrics: &[&str]) -> Result<Counters, DriverError> {
        let (Some(gpu), Some(properties)) = (&device.gpu, &device.properties.gpu) else {
            let why = "the emulator has none; its counts are exact".to_owned();
            return Err(DriverError::Counters(cupti::Error::Unusable(why)));
        };
        let context = &gpu.context;
        let owned = context.own(|| {
            // SAFETY: the context is entered, of this device, and kept by what is owned in it.
            let counters = unsafe {
                cupti::Counters::new(context.raw().cast(), properties.ordinal as usize, metrics)
            };
            counters.map_err(DriverError::Counters)
        })?;
        Ok(Counters(owned))
    }

    /// How often [`Counters::measure`] launches: the hardware counts only so much at once.
    pub fn passes(&self) -> usize {
        self.0.outside().passes()
    }

    /// Once per pass calls `prepare`, which is not counted, and `launch`. Both launch and wait for the device.
    /// Gives the metrics' values over all that `launch` did.
    ///
    /// # Errors
    /// Those of `prepare` and `launch`; [`DriverError::Counters`]: the counters cannot be started, read or
    /// turned into values, as where another profiler has taken them.
    pub fn measure<E: From<DriverError>>(
        &mut self,
        mut prepare: impl FnMut() -> Result<(), E>,
        mut launch: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<f64>, E> {
        let counters = self.0.enter_mut()?;
        let measured = counters.measure(
            || prepare().map_err(Ended::Launch),
            || launch().map_err(Ended::Launch),
        );
        measured.map_err(|ended| match ended {
            Ended::Launch(error) => error,
            Ended::Counters(error) => DriverError::Counters(error).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_has_none() {
        let device = Device::emulator(crate::Emulation::default());
        let error = Counters::new(&device, &["dram__bytes_read.sum"]).expect_err("no GPU");
        assert_eq!(
            error.to_string(),
            "cannot read hardware counters: the emulator has none; its counts are exact"
        );
    }
}
