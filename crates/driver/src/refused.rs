//! Operations that did not begin.

use std::error::Error;
use std::fmt;

use super::DriverError;

/// An operation that did not begin, and the host memory that it was given.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Pinned, Refused, Stream};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let mut buffer = device.buffer_zeroed(4)?;
/// stream.capture(|| {
///     let copy = stream.upload(device.pinned(4, 7u32)?, &mut buffer, 0);
///     let refused: Refused<Pinned<u32>> = copy.err().expect("a copy cannot be captured");
///     assert!(matches!(*refused.error, DriverError::Capturing(_)));
///     assert_eq!(refused.host.expect("nothing has it")[..], [7; 4]);
///     Ok(())
/// })?;
/// # Ok::<(), DriverError>(())
/// ```
pub struct Refused<H> {
    /// Why.
    pub error: Box<DriverError>,
    /// The memory. `None` where the device may still use it: then it is never freed.
    pub host: Option<H>,
}

impl<H> Refused<H> {
    /// A refusal that gives the memory back.
    pub(super) fn with(error: DriverError, host: H) -> Refused<H> {
        Refused {
            error: Box::new(error),
            host: Some(host),
        }
    }
}

impl<H> From<Refused<H>> for DriverError {
    fn from(refused: Refused<H>) -> DriverError {
        *refused.error
    }
}

impl<H> fmt::Debug for Refused<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<H> fmt::Display for Refused<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<H> Error for Refused<H> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
