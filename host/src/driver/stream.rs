//! Streams: work in order.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use cust::stream::{Stream as CudaStream, StreamFlags};
use cust::sys::CUstream;

use super::error::during;
use super::event::Timing;
use super::graph::Captured;
use super::trace::Recorder;
use super::{Device, DriverError, Event};

/// Work that a device does in order. On the emulator each piece is done when it is asked for.
pub struct Stream<'d> {
    pub(super) cuda: Option<CudaStream>,
    pub(super) device: &'d Device,
    /// Its number, for traces.
    number: u32,
    /// What [`Stream::capture`] has collected so far.
    pub(super) captured: RefCell<Option<Captured>>,
}

impl<'d> Stream<'d> {
    /// A new stream, independent of every other.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(device: &'d Device) -> Result<Self, DriverError> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let cuda = match device.gpu {
            Some(_) => Some(
                CudaStream::new(StreamFlags::NON_BLOCKING, None)
                    .map_err(during("create a stream"))?,
            ),
            None => None,
        };
        let stream = Stream {
            cuda,
            device,
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            captured: RefCell::new(None),
        };
        if let (Some(trace), Some(raw)) = (&device.trace, stream.raw()) {
            trace.add_stream(stream.number, raw);
        }
        Ok(stream)
    }

    /// Marks this place in the stream, with its time.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(&self) -> Result<Event<'d>, DriverError> {
        self.record_with(Timing::On)
    }

    /// Marks this place in the stream, for others to wait for.
    ///
    /// # Errors
    /// The driver's.
    pub fn mark(&self) -> Result<Event<'d>, DriverError> {
        self.record_with(Timing::Off)
    }

    fn record_with(&self, timing: Timing) -> Result<Event<'d>, DriverError> {
        match self.raw() {
            Some(stream) => Event::record(stream, timing),
            None => Ok(cuda_loader::pass("cuEventRecord", Event::emulated)),
        }
    }

    /// Holds what comes next in this stream until the device has come to `event`, which may be of
    /// another stream. The host does not wait.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait(&self, event: &Event<'_>) -> Result<(), DriverError> {
        match self.raw() {
            Some(stream) => event.hold(stream),
            None => {
                cuda_loader::pass("cuStreamWaitEvent", || ());
                Ok(())
            }
        }
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
            None => {
                cuda_loader::pass("cuStreamSynchronize", || ());
                Ok(())
            }
        }
    }

    /// Runs `operation`, which puts one piece of work into this stream, and has it in the trace where
    /// there is one that goes by events.
    pub(super) fn traced(
        &self,
        name: &'static str,
        bytes: usize,
        operation: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let Some(Recorder::Events(notes)) = &self.device.trace else {
            return operation();
        };
        if self.captured.borrow().is_some() {
            return operation();
        }
        let start = self.timed()?;
        operation()?;
        notes.add(self.number, name, bytes as u64, start, self.timed()?);
        Ok(())
    }

    /// An event that may outlive the stream: the device keeps it.
    fn timed(&self) -> Result<Event<'static>, DriverError> {
        match self.raw() {
            Some(stream) => cuda_loader::unrecorded(|| Event::record(stream, Timing::On)),
            None => Ok(Event::emulated()),
        }
    }

    /// The driver's stream, or `None` on the emulator.
    pub(super) fn raw(&self) -> Option<CUstream> {
        self.cuda.as_ref().map(CudaStream::as_inner)
    }
}
