//! The kernels of `mathematics-kernels`: their PTX, and the errors of the approximations.

use mathematics_kernels::with_approximations;
use ridgepoint_driver::{Device, DriverError, Embedded, LaunchConfig, Stream};

/// The PTX that the kernels were built to.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// Half of the bits of an `f32`: a thread computes the 2^16 arguments that begin with its index.
const THREADS: usize = 1 << 16;

/// The error of one of `ApproxFloat`'s functions.
pub struct Approximation {
    /// The function's name.
    pub name: &'static str,
    /// The greatest error found, in units in the last place, against the function of this library in `f64`.
    pub error: f64,
    /// The greatest that its documentation states.
    pub stated: f64,
}

impl Approximation {
    /// Whether the error is as its documentation states.
    ///
    /// # Errors
    ///
    /// It is greater, or no argument was looked at.
    pub fn is_within(&self) -> Result<(), String> {
        // An approximation is not exact everywhere; NaN is an error, too.
        if self.error > 0.0 && self.error <= self.stated {
            return Ok(());
        }
        Err(format!(
            "{}: an error of {} units in the last place, where its documentation states {}",
            self.name, self.error, self.stated
        ))
    }
}

/// The errors of the approximations on a device, among every `stride`th of the 2^16 arguments of a thread.
///
/// # Errors
///
/// What the driver refuses: memory, or a launch.
pub fn approximations(device: &Device, stride: u32) -> Result<Vec<Approximation>, DriverError> {
    macro_rules! measured {
        ($($name:ident($kernel:ident, $function:ident, $stated:literal),)*) => {
            vec![$({
                let mut out = device.buffer_filled(THREADS, 0.0)?;
                let shape = LaunchConfig::linear(THREADS as u64, 128);
                let prepared = device.prepare(mathematics_kernels::$kernel::entry(), shape)?;
                let stream = Stream::new(device)?;
                // SAFETY: the kernel writes an element per thread, and the buffer has so many.
                unsafe { prepared.launch(&stream, &(stride, out.slice_mut(..))) }?;
                stream.synchronize()?;
                let errors = out.to_vec()?;
                Approximation {
                    name: stringify!($name),
                    error: errors.into_iter().fold(0.0, f64::max),
                    stated: $stated,
                }
            }),*]
        };
    }
    Ok(with_approximations!(measured))
}
