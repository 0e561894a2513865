//! Launches that are captured once and replayed as one.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

use cuda_std::launch::{Home, Signature};
use cust::sys::{self, CUgraph, CUgraphExec, CUgraphNode, CUstreamCaptureMode};

use super::capture::{Captured, Piece};
use super::context::Owned;
use super::error::checked;
use super::{DriverError, Prepared, Stream, home};

/// Launches that were captured from a stream, ready to be put into one all at once: the driver
/// prepares them once, and a replay costs the host one call. One thread has it at a time.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Graph, LaunchConfig, Stream};
///
/// #[kernel]
/// pub fn add(mut y: Output<u32>, value: u32) {
///     for (_, y) in y.own() {
///         *y += value;
///     }
/// }
///
/// # fn main() -> Result<(), DriverError> {
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let mut y = device.buffer_zeroed(100)?;
/// let prepared = device.prepare(add::entry(), LaunchConfig::linear(100, 128))?;
/// // SAFETY: each launch has the buffer alone, which lives until the last replay is done.
/// let mut graph: Graph<'_> = stream.capture(|| unsafe {
///     prepared.launch(&stream, &(y.slice_mut(..), 1))?;
///     prepared.launch(&stream, &(y.slice_mut(..), 10))
/// })?;
/// assert_eq!(graph.launches(), 2);
/// // SAFETY: as above.
/// unsafe {
///     graph.launch(&stream)?;
///     graph.update(1, &prepared, &(y.slice_mut(..), 100))?;
///     graph.launch(&stream)?;
/// }
/// stream.synchronize()?;
/// assert_eq!(y.to_vec()?, [11 + 101; 100]);
/// # Ok(())
/// # }
/// ```
pub struct Graph<'d> {
    kind: Kind,
    home: &'static Home,
    device: PhantomData<&'d ()>,
}

enum Kind {
    Cuda(Owned<Executable>),
    Host(Vec<Piece>),
}

/// The driver's graph.
struct Executable {
    graph: CUgraph,
    executable: CUgraphExec,
    kernels: Vec<CUgraphNode>,
}

// SAFETY: its handles may be used from any thread, by one at a time.
unsafe impl Send for Executable {}

impl<'d> Stream<'d> {
    /// Runs `work` and makes a graph of the launches that it puts into this stream. They do not run
    /// now. Copies cannot be captured.
    ///
    /// ```
    /// use kernels_gpu::elementwise::{BLOCK, scale_f32};
    /// use kernels_gpu::functions::Scale;
    /// use ridgepoint_driver::{Device, DeviceChoice, LaunchConfig, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let x = device.buffer_filled(100, 1.5f32)?;
    /// let mut y = device.buffer_filled(100, f32::NAN)?;
    /// let prepared = device.prepare(scale_f32::entry(), LaunchConfig::linear(25, BLOCK))?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: the buffers have 100 elements, and live until the replay is done.
    /// let graph = stream.capture(|| unsafe {
    ///     prepared.launch(&stream, &(Scale { factor: 2.0 }, x.slice(..), y.slice_mut(..), 100))
    /// })?;
    /// // SAFETY: as above.
    /// unsafe { graph.launch(&stream) }?;
    /// stream.synchronize()?;
    /// assert_eq!(y.to_vec()?, [3.0; 100]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// Those of `work`: [`DriverError::Capturing`], where it waited for the stream or asked for something
    /// else that cannot be captured, such as another capture of this stream. Or the driver refuses
    /// ([`DriverError::Call`], [`DriverError::Cuda`]). The capture is over in any case.
    pub fn capture(
        &self,
        work: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<Graph<'d>, DriverError> {
        self.refuse_capture("capture")?;
        let capture = Capture::begin(self)?;
        let worked = work();
        let graph = capture.end().map(|kind| Graph {
            kind,
            home: self.device.home,
            device: PhantomData,
        });
        // What `work` says went wrong came first.
        worked.and(graph)
    }

    /// Refuses what waits, while this thread captures any stream.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Stream};
    ///
    /// /// Waits for the host's own work, too.
    /// fn finish(stream: &Stream<'_>) -> Result<(), DriverError> {
    ///     stream.refuse_capture_by_thread("wait for all work")?;
    ///     // The host's own work.
    ///     stream.synchronize()
    /// }
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let (captured, other) = (Stream::new(&device)?, Stream::new(&device)?);
    /// finish(&other)?;
    /// let error = captured.capture(|| finish(&other)).err().expect("refused");
    /// assert_eq!(error.to_string(), "a wait for all work cannot be captured into a graph");
    /// # Ok::<(), DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: this thread captures this stream or another.
    pub fn refuse_capture_by_thread(&self, operation: &'static str) -> Result<(), DriverError> {
        match CAPTURES.get() {
            0 => Ok(()),
            _ => Err(DriverError::Capturing(operation)),
        }
    }

    /// Refuses what cannot be captured.
    pub(super) fn refuse_capture(&self, operation: &'static str) -> Result<(), DriverError> {
        match *self.captured.borrow() {
            Some(_) => Err(DriverError::Capturing(operation)),
            None => Ok(()),
        }
    }
}

thread_local! {
    /// How many streams this thread captures.
    static CAPTURES: Cell<u32> = const { Cell::new(0) };
}

/// A stream that captures, until this is gone: also where the work panics.
struct Capture<'s, 'd>(&'s Stream<'d>);

impl<'s, 'd> Capture<'s, 'd> {
    fn begin(stream: &'s Stream<'d>) -> Result<Self, DriverError> {
        if let Some(raw) = stream.enter()? {
            // SAFETY: the stream is alive.
            checked("begin a capture", unsafe {
                sys::cuStreamBeginCapture_v2(
                    raw,
                    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                )
            })?;
        }
        stream.captured.replace(Some(Captured::default()));
        CAPTURES.set(CAPTURES.get() + 1);
        Ok(Capture(stream))
    }

    fn end(self) -> Result<Kind, DriverError> {
        let captured = self.0.captured.take().expect("begun, and ended here alone");
        captured.end(self.0)
    }
}

impl Drop for Capture<'_, '_> {
    fn drop(&mut self) {
        CAPTURES.set(CAPTURES.get() - 1);
        if let Some(captured) = self.0.captured.take() {
            // Nobody is there to be told of an error.
            let _ = captured.end(self.0);
        }
    }
}

impl Captured {
    /// Ends the stream's capture, and makes it ready to be launched.
    fn end(self, stream: &Stream<'_>) -> Result<Kind, DriverError> {
        let Some(cuda) = &stream.cuda else {
            return Ok(Kind::Host(self.pieces));
        };
        let stream = cuda.enter()?.as_inner();
        let mut graph = ptr::null_mut();
        // SAFETY: the stream captures, and `graph` is a place to write to.
        checked("end a capture", unsafe {
            sys::cuStreamEndCapture(stream, &mut graph)
        })?;
        let executable = cuda
            .context()
            .own(|| Executable::new(graph, self.kernels))?;
        Ok(Kind::Cuda(executable))
    }
}

impl Executable {
    fn new(graph: CUgraph, kernels: Vec<CUgraphNode>) -> Result<Executable, DriverError> {
        let mut executable = ptr::null_mut();
        // SAFETY: the graph is new, and `executable` a place to write to.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
        checked("make a graph executable", result).inspect_err(|_| {
            // SAFETY: nothing else has it.
            unsafe { sys::cuGraphDestroy(graph) };
        })?;
        Ok(Executable {
            graph,
            executable,
            kernels,
        })
    }
}

impl Graph<'_> {
    /// How many launches there are.
    pub fn launches(&self) -> usize {
        match &self.kind {
            Kind::Cuda(graph) => graph.outside().kernels.len(),
            Kind::Host(pieces) => {
                let launches = pieces.iter().filter(|it| matches!(it, Piece::Launch(_)));
                launches.count()
            }
        }
    }

    /// Puts all its launches into the stream.
    ///
    /// # Safety
    /// As for each [`Prepared::launch`] that was captured.
    ///
    /// # Errors
    /// [`DriverError::OtherDevice`]: the graph is of another device than the stream;
    /// [`DriverError::Capturing`]: the stream captures. On a GPU also: the driver refuses
    /// ([`DriverError::Call`], [`DriverError::Cuda`]). On the emulator also, as for [`Prepared::launch`]:
    /// [`DriverError::Emulated`], [`DriverError::Engine`], [`DriverError::WithoutPtx`].
    pub unsafe fn launch(&self, stream: &Stream<'_>) -> Result<(), DriverError> {
        home::same(LAUNCH, stream.device.home, "the graph", self.home)?;
        stream.refuse_capture("launch of a graph")?;
        stream.traced("graph", 0, || match (&self.kind, stream.enter()?) {
            // SAFETY: both are alive; the caller vouches for the rest.
            (Kind::Cuda(graph), Some(stream)) => checked(LAUNCH, unsafe {
                sys::cuGraphLaunch(graph.outside().executable, stream)
            }),
            (Kind::Host(pieces), None) => cuda_loader::pass("cuGraphLaunch", || {
                // SAFETY: the caller vouches for each.
                pieces
                    .iter()
                    .try_for_each(|piece| unsafe { piece.run(&stream.order) })
            }),
            _ => unreachable!("of one device, both are a GPU's or both the emulator's"),
        })
    }

    /// Gives launch number `launch`, counted from 0 in the order of the capture, other arguments and
    /// another shape. Replays that are in a stream already keep theirs.
    ///
    /// # Safety
    /// As for [`Graph::launch`], with the new arguments.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`]): `prepared` is another kernel than was captured;
    /// [`DriverError::OtherDevice`]: `prepared` or an argument is of another device.
    ///
    /// # Panics
    /// There is no such launch.
    pub unsafe fn update<S: Signature>(
        &mut self,
        launch: usize,
        prepared: &Prepared<'_, S>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        const OPERATION: &str = "update a graph";
        home::same(OPERATION, self.home, "the kernel", prepared.home)?;
        match &mut self.kind {
            Kind::Cuda(graph) => prepared.with_node(arguments, |node| {
                let graph = graph.enter()?;
                let kernel = graph.kernels[launch];
                // SAFETY: the node is one of the graph's; the driver copies the parameters.
                checked(OPERATION, unsafe {
                    sys::cuGraphExecKernelNodeSetParams(graph.executable, kernel, node)
                })
            }),
            Kind::Host(pieces) => {
                let mut launches = pieces.iter_mut().filter_map(Piece::launch);
                let captured = launches.nth(launch).expect("a launch of this number");
                // SAFETY: the caller vouches for the arguments.
                *captured = unsafe { prepared.replay(arguments) }?;
                Ok(())
            }
        }
    }
}

const LAUNCH: &str = "launch a graph";

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: created here; the driver keeps what a launch under way needs.
        unsafe {
            sys::cuGraphExecDestroy(self.executable);
            sys::cuGraphDestroy(self.graph);
        }
    }
}
