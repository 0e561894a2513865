//! Places in a stream, and when the device came there.

use std::marker::PhantomData;
use std::ptr;
use std::time::Instant;

use cust::sys::{self, CUevent, CUresult, CUstream};

use super::DriverError;
use super::error::checked;

/// A place in a stream. An event of [`Stream::record`](super::Stream::record) has the time at which
/// the device came there.
pub struct Event<'d> {
    kind: Kind,
    device: PhantomData<&'d ()>,
}

enum Kind {
    Cuda(CUevent),
    /// On the emulator everything before it is done.
    Host(Instant),
}

/// Whether an event has a time. One without is cheaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    On,
    Off,
}

impl Event<'_> {
    /// An event of the emulator: now.
    pub(super) fn emulated() -> Self {
        Event {
            kind: Kind::Host(Instant::now()),
            device: PhantomData,
        }
    }

    /// A new event in a GPU's stream.
    pub(super) fn record(stream: CUstream, timing: Timing) -> Result<Self, DriverError> {
        const DISABLE_TIMING: u32 = 2;
        let flags = match timing {
            Timing::On => 0,
            Timing::Off => DISABLE_TIMING,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is a place to write to.
        checked("create an event", unsafe {
            sys::cuEventCreate(&mut raw, flags)
        })?;
        let event = Event {
            kind: Kind::Cuda(raw),
            device: PhantomData,
        };
        // SAFETY: both are alive.
        checked("record an event", unsafe {
            sys::cuEventRecord(raw, stream)
        })?;
        Ok(event)
    }

    /// Makes the stream's further work wait for this event.
    pub(super) fn hold(&self, stream: CUstream) -> Result<(), DriverError> {
        match self.kind {
            // SAFETY: both are alive; the driver keeps what it needs of the event.
            Kind::Cuda(raw) => checked("make a stream wait", unsafe {
                sys::cuStreamWaitEvent(stream, raw, 0)
            }),
            Kind::Host(_) => Ok(()),
        }
    }

    /// Whether the device has come here.
    ///
    /// # Errors
    /// The driver's: also those of the work before.
    pub fn is_done(&self) -> Result<bool, DriverError> {
        match self.kind {
            Kind::Cuda(raw) => {
                // SAFETY: the event is alive.
                match unsafe { sys::cuEventQuery(raw) } {
                    CUresult::CUDA_ERROR_NOT_READY => Ok(false),
                    result => checked("ask for an event", result).map(|()| true),
                }
            }
            Kind::Host(_) => Ok(true),
        }
    }

    /// Waits until the device has come here.
    ///
    /// # Errors
    /// The driver's: also those of the work before.
    pub fn wait(&self) -> Result<(), DriverError> {
        match self.kind {
            Kind::Cuda(raw) => {
                // SAFETY: the event is alive.
                checked("wait for an event", unsafe { sys::cuEventSynchronize(raw) })
            }
            Kind::Host(_) => {
                cuda_loader::pass("cuEventSynchronize", || ());
                Ok(())
            }
        }
    }

    /// Milliseconds from `earlier` to this event: device time on a GPU, to about 0.5 us, and host
    /// time on the emulator. Both must have been reached; [`Event::wait`] sees to that.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Panics
    /// The events are of different kinds of device.
    pub fn milliseconds_since(&self, earlier: &Event<'_>) -> Result<f64, DriverError> {
        match (&self.kind, &earlier.kind) {
            (Kind::Cuda(end), Kind::Cuda(start)) => {
                let mut milliseconds = 0.0;
                // SAFETY: both are alive.
                checked("read an event's time", unsafe {
                    sys::cuEventElapsedTime(&mut milliseconds, *start, *end)
                })?;
                Ok(f64::from(milliseconds))
            }
            (Kind::Host(end), Kind::Host(start)) => {
                // Of two places at once either may be the earlier.
                let (end, start) = (*end, *start);
                Ok(end.saturating_duration_since(start).as_secs_f64() * 1e3
                    - start.saturating_duration_since(end).as_secs_f64() * 1e3)
            }
            _ => panic!("one event is a GPU's and the other the emulator's"),
        }
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        if let Kind::Cuda(raw) = self.kind {
            // SAFETY: created here; the driver destroys it once the device has come there.
            unsafe { sys::cuEventDestroy_v2(raw) };
        }
    }
}
