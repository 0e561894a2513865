//! Streams: work in order.

use std::cell::RefCell;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cust::stream::{Stream as CudaStream, StreamFlags};
use cust::sys::CUstream;

use super::capture::{Captured, Piece};
use super::checking::Order;
use super::context::Owned;
use super::error::during;
use super::event::Timing;
use super::host_work::{self, HostWork, Work};
use super::trace::Recorder;
use super::{Device, DriverError, Event};

/// Work that a device does in order. On the emulator each piece is done when it is asked for.
///
/// One thread has it at a time: it can be moved to another, and several streams, each of a thread,
/// can be of one device.
pub struct Stream<'d> {
    /// `None` is the emulator's.
    pub(super) cuda: Option<Owned<CudaStream>>,
    pub(super) device: &'d Device,
    /// Its number, for traces.
    number: u32,
    /// The stream as the emulator's checks know it.
    pub(super) order: Order,
    /// The launches that [`Stream::capture`] has collected so far.
    pub(super) captured: RefCell<Option<Captured>>,
}

// SAFETY: its handle may be used from any thread, by one at a time. A capture must end on the thread
// that began it: `capture` borrows the stream until then, so that it cannot be moved.
unsafe impl Send for Stream<'_> {}

impl<'d> Stream<'d> {
    /// A new stream, independent of every other.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn new(device: &'d Device) -> Result<Self, DriverError> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let create =
            || CudaStream::new(StreamFlags::NON_BLOCKING, None).map_err(during("create a stream"));
        let cuda = match &device.gpu {
            Some(gpu) => Some(gpu.context.own(create)?),
            None => None,
        };
        let stream = Stream {
            cuda,
            device,
            number: COUNT.fetch_add(1, Ordering::Relaxed),
            order: Order::default(),
            captured: RefCell::new(None),
        };
        if let (Some(trace), Some(cuda)) = (&device.trace, &stream.cuda) {
            trace.add_stream(stream.number, cuda.outside().as_inner());
        }
        Ok(stream)
    }

    /// Marks this place in the stream, with its time.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// let start = stream.record()?;
    /// // Launches, which the host does not wait for.
    /// let end = stream.record()?;
    /// end.synchronize()?;
    /// assert!(end.milliseconds_since(&start)? >= 0.0);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn record(&self) -> Result<Event<'d>, DriverError> {
        self.record_with(Timing::On)
    }

    /// Marks this place in the stream, for others to wait for.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let (first, second) = (Stream::new(&device)?, Stream::new(&device)?);
    /// // Launches in `first`.
    /// let written = first.mark()?;
    /// second.wait_event(&written)?;
    /// // Launches in `second`, which read what those have written.
    /// second.synchronize()?;
    /// assert!(written.is_done()?);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn mark(&self) -> Result<Event<'d>, DriverError> {
        self.record_with(Timing::Off)
    }

    fn record_with(&self, timing: Timing) -> Result<Event<'d>, DriverError> {
        match &self.cuda {
            Some(cuda) => self.event(cuda, timing),
            None => Ok(cuda_loader::pass("cuEventRecord", || {
                Event::emulated(self.device.home, self.order.record())
            })),
        }
    }

    fn event<'e>(
        &self,
        cuda: &Owned<CudaStream>,
        timing: Timing,
    ) -> Result<Event<'e>, DriverError> {
        let stream = cuda.outside().as_inner();
        Event::record(cuda.context(), stream, timing)
    }

    /// Holds what comes next in this stream until the device has come to `event`, which may be of
    /// another stream, and of another GPU. The host does not wait.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let (upload, compute) = (Stream::new(&device)?, Stream::new(&device)?);
    /// let mut buffer = device.buffer_zeroed(4)?;
    /// let copy = upload.upload(device.pinned(4, 1u32)?, &mut buffer, 0)?;
    /// // Kernels in `compute` find what was copied.
    /// compute.wait_event(copy.done())?;
    /// # drop(copy);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]);
    /// [`DriverError::OtherDevice`]: one of the two is a GPU's and the other the emulator's.
    pub fn wait_event(&self, event: &Event<'_>) -> Result<(), DriverError> {
        event.hold(self.device.home, self.cuda.as_ref(), &self.order)
    }

    /// Waits for all work of the stream.
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures. On a GPU also: the driver refuses
    /// ([`DriverError::Call`], [`DriverError::Cuda`]), or a kernel that ran has failed, where it panicked
    /// with [`DriverError::Panicked`]. The emulator's kernels fail at their launch.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.refuse_capture("wait for the stream")?;
        match &self.cuda {
            Some(stream) => stream
                .enter()?
                .synchronize()
                .map_err(during("run the stream's kernels")),
            None => {
                cuda_loader::pass("cuStreamSynchronize", || self.order.synchronized());
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
        match &self.cuda {
            Some(cuda) => cuda_loader::unrecorded(|| self.event(cuda, Timing::On)),
            None => Ok(Event::emulated(self.device.home, None)),
        }
    }

    /// The driver's stream, with the calling thread in its context, or `None` on the emulator.
    pub(super) fn enter(&self) -> Result<Option<CUstream>, DriverError> {
        match &self.cuda {
            Some(cuda) => Ok(Some(cuda.enter()?.as_inner())),
            None => Ok(None),
        }
    }
}

impl Stream<'_> {
    /// Has the host do `work` when the stream, which is an emulated device's, comes to it: now, or at each replay of the
    /// graph that captures it. It takes the place of what a library puts into a GPU's stream.
    ///
    /// [`HostWork`] has an example that reaches memory.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// let error = stream.host_work(|_| Err("no data".into())).expect_err("it has failed");
    /// assert!(matches!(&error, DriverError::HostWork(why) if why.to_string() == "no data"));
    /// # Ok::<(), DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::HostWork`]: the work failed, at a replay as the error of
    /// [`Graph::launch`](super::Graph::launch); [`DriverError::NotEmulated`]: the stream is a GPU's.
    pub fn host_work(
        &self,
        work: impl Fn(&HostWork<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Result<(), DriverError> {
        if self.enter()?.is_some() {
            return Err(DriverError::NotEmulated("work of the host"));
        }
        let work: Work = Arc::new(work);
        if let Some(captured) = &mut *self.captured.borrow_mut() {
            captured.add(Piece::Work(work));
            return Ok(());
        }
        host_work::run(&work, &self.order)
    }
}
