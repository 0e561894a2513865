//! Streams and events: work in order, and when it was done.

use std::time::Instant;

use cust::event::{Event as CudaEvent, EventFlags};
use cust::stream::{Stream as CudaStream, StreamFlags};

use super::error::during;
use super::{Device, DriverError};

/// Work that a device does in order. On the emulator each piece is done when it is asked for.
pub struct Stream<'d> {
    pub(super) cuda: Option<CudaStream>,
    _device: &'d Device,
}

impl<'d> Stream<'d> {
    /// A new stream, independent of every other.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(device: &'d Device) -> Result<Self, DriverError> {
        let cuda = match device.gpu {
            Some(_) => Some(
                CudaStream::new(StreamFlags::NON_BLOCKING, None)
                    .map_err(during("create a stream"))?,
            ),
            None => None,
        };
        Ok(Stream {
            cuda,
            _device: device,
        })
    }

    /// Marks this place in the stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(&self) -> Result<Event, DriverError> {
        let Some(stream) = &self.cuda else {
            return Ok(Event(Kind::Host(Instant::now())));
        };
        let event = CudaEvent::new(EventFlags::DEFAULT).map_err(during("create an event"))?;
        event.record(stream).map_err(during("record an event"))?;
        Ok(Event(Kind::Cuda(event)))
    }

    /// Waits for all work of the stream.
    ///
    /// # Errors
    /// The driver's: also those of the kernels that ran.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        match &self.cuda {
            Some(stream) => stream
                .synchronize()
                .map_err(during("run the stream's kernels")),
            None => Ok(()),
        }
    }
}

/// A place in a stream, with the time at which the device came there.
pub struct Event(Kind);

enum Kind {
    Cuda(CudaEvent),
    Host(Instant),
}

impl Event {
    /// Milliseconds from `earlier` to this event: device time on a GPU, to about 0.5 us, and host
    /// time on the emulator. Both must have been reached; [`Stream::synchronize`] sees to that.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Panics
    /// The events are of different kinds of device.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f64, DriverError> {
        match (&self.0, &earlier.0) {
            (Kind::Cuda(end), Kind::Cuda(start)) => end
                .elapsed_time_f32(start)
                .map(f64::from)
                .map_err(during("read an event's time")),
            (Kind::Host(end), Kind::Host(start)) => {
                Ok(end.duration_since(*start).as_secs_f64() * 1e3)
            }
            _ => panic!("one event is a GPU's and the other the emulator's"),
        }
    }
}
