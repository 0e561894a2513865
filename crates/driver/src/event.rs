//! Places in a stream, and when the device came there.

use std::marker::PhantomData;
use std::ptr;
use std::time::Instant;

use cuda_std::launch::Home;
use cust::stream::Stream as CudaStream;
use cust::sys::{self, CUevent, CUresult, CUstream};

use engine::check;

use super::checking::{self, Order};
use super::context::{Context, Owned};
use super::error::checked;
use super::{DriverError, home};

/// A place in a stream. An event of [`Stream::record`](super::Stream::record) has the time at which
/// the device came there. Any thread may wait for it.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Event, Stream};
///
/// fn milliseconds(begin: &Event<'_>, end: &Event<'_>) -> Result<f64, DriverError> {
///     if !end.is_done()? {
///         end.synchronize()?;
///     }
///     end.milliseconds_since(begin)
/// }
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let begin = stream.record()?;
/// // Launches.
/// let end = stream.record()?;
/// assert!(milliseconds(&begin, &end)? >= 0.0);
/// # Ok::<(), DriverError>(())
/// ```
pub struct Event<'d> {
    kind: Kind,
    home: &'static Home,
    device: PhantomData<&'d ()>,
}

enum Kind {
    Cuda(Owned<Raw>),
    /// On the emulator everything before it is done. What its checks know it by, if they are used.
    Host(Instant, Option<check::Event>),
}

/// The driver's event.
struct Raw(CUevent);

// SAFETY: an event is a handle that any thread may use.
unsafe impl Send for Raw {}
// SAFETY: as above; the driver's functions on events may be called at once.
unsafe impl Sync for Raw {}

/// Whether an event has a time. One without is cheaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    On,
    Off,
}

impl Event<'_> {
    /// An event of an emulated device: now.
    pub(super) fn emulated(home: &'static Home, checked: Option<check::Event>) -> Self {
        Event {
            kind: Kind::Host(Instant::now(), checked),
            home,
            device: PhantomData,
        }
    }

    /// A new event in a stream of this context.
    pub(super) fn record(
        context: &Context,
        stream: CUstream,
        timing: Timing,
    ) -> Result<Self, DriverError> {
        const DISABLE_TIMING: u32 = 2;
        let flags = match timing {
            Timing::On => 0,
            Timing::Off => DISABLE_TIMING,
        };
        let event = context.own(|| {
            let mut raw = ptr::null_mut();
            // SAFETY: `raw` is a place to write to.
            checked("create an event", unsafe {
                sys::cuEventCreate(&mut raw, flags)
            })?;
            Ok(Raw(raw))
        })?;
        // SAFETY: both are alive, and of the context that has just been entered.
        checked("record an event", unsafe {
            sys::cuEventRecord(event.outside().0, stream)
        })?;
        Ok(Event {
            kind: Kind::Cuda(event),
            home: context.home,
            device: PhantomData,
        })
    }

    /// Makes the further work of a GPU's stream, or of an emulated one with this order, wait for this event. `on` is the
    /// stream's device.
    pub(super) fn hold(
        &self,
        on: &'static Home,
        cuda: Option<&Owned<CudaStream>>,
        order: &Order,
    ) -> Result<(), DriverError> {
        const OPERATION: &str = "make a stream wait";
        match (&self.kind, cuda) {
            (Kind::Cuda(event), Some(cuda)) => {
                let stream = cuda.enter()?.as_inner();
                // SAFETY: both are alive; the driver keeps what it needs of the event, which may be
                // another GPU's.
                checked(OPERATION, unsafe {
                    sys::cuStreamWaitEvent(stream, event.outside().0, 0)
                })
            }
            (Kind::Host(_, event), None) => {
                cuda_loader::pass("cuStreamWaitEvent", || order.wait(event.as_ref()));
                Ok(())
            }
            _ => Err(home::other(OPERATION, on, "the event", self.home)),
        }
    }

    /// Whether the device has come here.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]),
    /// or the work before failed: [`DriverError::Panicked`] where a kernel panicked.
    pub fn is_done(&self) -> Result<bool, DriverError> {
        match &self.kind {
            Kind::Cuda(event) => {
                // SAFETY: the event is alive.
                match unsafe { sys::cuEventQuery(event.enter()?.0) } {
                    CUresult::CUDA_ERROR_NOT_READY => Ok(false),
                    result => checked("ask for an event", result).map(|()| true),
                }
            }
            Kind::Host(_, event) => {
                checking::waited(event.as_ref());
                Ok(true)
            }
        }
    }

    /// Waits until the device has come here.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]),
    /// or the work before failed: [`DriverError::Panicked`] where a kernel panicked.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        match &self.kind {
            Kind::Cuda(event) => {
                let Raw(event) = *event.enter()?;
                // SAFETY: the event is alive.
                checked("wait for an event", unsafe {
                    sys::cuEventSynchronize(event)
                })
            }
            Kind::Host(_, event) => {
                cuda_loader::pass("cuEventSynchronize", || checking::waited(event.as_ref()));
                Ok(())
            }
        }
    }

    /// Milliseconds from `earlier` to this event: device time on a GPU, to about 0.5 us, and host
    /// time on the emulator. Both must have been reached; [`Event::synchronize`] sees to that.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]);
    /// [`DriverError::OtherDevice`]: clocks of two devices have nothing in common.
    pub fn milliseconds_since(&self, earlier: &Event<'_>) -> Result<f64, DriverError> {
        const OPERATION: &str = "read the time between events";
        match (&self.kind, &earlier.kind) {
            (Kind::Cuda(end), Kind::Cuda(start)) if self.home == earlier.home => {
                let mut milliseconds = 0.0;
                let (end, start) = (end.enter()?, start.outside());
                // SAFETY: both are alive.
                checked(OPERATION, unsafe {
                    sys::cuEventElapsedTime(&mut milliseconds, start.0, end.0)
                })?;
                Ok(f64::from(milliseconds))
            }
            (Kind::Host(end, _), Kind::Host(start, _)) if self.home == earlier.home => {
                // Of two places at once either may be the earlier.
                let (end, start) = (*end, *start);
                Ok(end.saturating_duration_since(start).as_secs_f64() * 1e3
                    - start.saturating_duration_since(end).as_secs_f64() * 1e3)
            }
            _ => {
                let what = "the earlier event";
                Err(home::other(OPERATION, self.home, what, earlier.home))
            }
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: created here; the driver destroys it once the device has come there.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}
