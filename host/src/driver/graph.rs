//! Launches that are captured once and replayed as one.

use std::marker::PhantomData;
use std::ptr;

use cuda_std::launch::Signature;
use cust::sys::{self, CUgraph, CUgraphExec, CUgraphNode, CUstream, CUstreamCaptureMode};

use super::error::checked;
use super::replay::Replay;
use super::{DriverError, Prepared, Stream};

/// The launches that a stream has been asked for since its capture began.
pub(super) enum Captured {
    Cuda(Vec<CUgraphNode>),
    Host(Vec<Replay>),
}

/// Launches that were captured from a stream, ready to be put into one all at once: the driver
/// prepares them once, and a replay costs the host one call.
pub struct Graph<'d> {
    kind: Kind,
    device: PhantomData<&'d ()>,
}

enum Kind {
    Cuda {
        graph: CUgraph,
        executable: CUgraphExec,
        kernels: Vec<CUgraphNode>,
    },
    Host(Vec<Replay>),
}

impl<'d> Stream<'d> {
    /// Runs `work` and makes a graph of the launches that it puts into this stream. They do not run
    /// now. Copies cannot be captured.
    ///
    /// ```
    /// use kernels_gpu::elementwise::{BLOCK, scale_f32};
    /// use kernels_gpu::functions::Scale;
    /// use ridgepoint::driver::{Device, DeviceChoice, Shape, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu)?;
    /// let x = device.buffer_filled(100, 1.5f32)?;
    /// let mut y = device.buffer_filled(100, f32::NAN)?;
    /// let prepared = device.prepare(scale_f32::entry(), Shape::linear(25, BLOCK))?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: the buffers have 100 elements, and live until the replay is done.
    /// let graph = stream.capture(|| unsafe {
    ///     prepared.launch(&stream, &(Scale { factor: 2.0 }, x.slice(), y.slice_mut(), 100))
    /// })?;
    /// // SAFETY: as above.
    /// unsafe { graph.launch(&stream) }?;
    /// stream.synchronize()?;
    /// assert_eq!(y.to_vec()?, [3.0; 100]);
    /// # Ok::<(), ridgepoint::driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// Those of `work`, or the driver's: `work` waited for the stream, or asked for something that
    /// cannot be captured.
    pub fn capture(
        &self,
        work: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<Graph<'d>, DriverError> {
        if let Some(stream) = self.raw() {
            // SAFETY: the stream is alive.
            checked("begin a capture", unsafe {
                sys::cuStreamBeginCapture_v2(
                    stream,
                    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                )
            })?;
        }
        let empty = match self.raw() {
            Some(_) => Captured::Cuda(Vec::new()),
            None => Captured::Host(Vec::new()),
        };
        self.captured.replace(Some(empty));
        let worked = work();
        let kind = match (self.captured.take(), self.raw()) {
            (Some(Captured::Cuda(kernels)), Some(stream)) => Kind::end(stream, kernels),
            (Some(Captured::Host(replays)), _) => Ok(Kind::Host(replays)),
            _ => unreachable!("a capture inside a capture is refused by the driver"),
        };
        let graph = kind.map(|kind| Graph {
            kind,
            device: PhantomData,
        });
        // The capture is over in any case; what `work` says went wrong came first.
        worked.and(graph)
    }

    /// Refuses what cannot be captured.
    pub(super) fn refuse_capture(&self, operation: &'static str) -> Result<(), DriverError> {
        match *self.captured.borrow() {
            Some(_) => Err(DriverError::Capturing(operation)),
            None => Ok(()),
        }
    }
}

impl Captured {
    /// Remembers the launch that has just been put into the capturing stream.
    pub(super) fn add_last_of(&mut self, stream: CUstream) -> Result<(), DriverError> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut dependencies, mut count) = (ptr::null(), 0);
        // SAFETY: the stream is alive, and all others are places to write to or null.
        checked("look at a capture", unsafe {
            sys::cuStreamGetCaptureInfo_v2(
                stream,
                &mut status,
                ptr::null_mut(),
                ptr::null_mut(),
                &mut dependencies,
                &mut count,
            )
        })?;
        // What comes next depends on the launch alone.
        if let (Captured::Cuda(kernels), 1) = (self, count) {
            // SAFETY: the driver says that there is one, which lives as long as the capture.
            kernels.push(unsafe { *dependencies });
        }
        Ok(())
    }
}

impl Kind {
    fn end(stream: CUstream, kernels: Vec<CUgraphNode>) -> Result<Kind, DriverError> {
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream captures, and `graph` is a place to write to.
        checked("end a capture", unsafe {
            sys::cuStreamEndCapture(stream, &mut graph)
        })?;
        // SAFETY: the graph is new, and `executable` a place to write to.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
        checked("make a graph executable", result).inspect_err(|_| {
            // SAFETY: nothing else has it.
            unsafe { sys::cuGraphDestroy(graph) };
        })?;
        Ok(Kind::Cuda {
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
            Kind::Cuda { kernels, .. } => kernels.len(),
            Kind::Host(replays) => replays.len(),
        }
    }

    /// Puts all its launches into the stream.
    ///
    /// # Safety
    /// As for each [`Prepared::launch`] that was captured.
    ///
    /// # Errors
    /// The driver's, or what a thread did on the emulator.
    ///
    /// # Panics
    /// The stream is of another kind of device.
    pub unsafe fn launch(&self, stream: &Stream<'_>) -> Result<(), DriverError> {
        stream.traced("graph", 0, || match (&self.kind, stream.raw()) {
            // SAFETY: both are alive; the caller vouches for the rest.
            (Kind::Cuda { executable, .. }, Some(stream)) => checked("launch a graph", unsafe {
                sys::cuGraphLaunch(*executable, stream)
            }),
            (Kind::Host(replays), None) => cuda_loader::pass("cuGraphLaunch", || {
                // SAFETY: the caller vouches for each.
                replays
                    .iter()
                    .try_for_each(|replay| unsafe { replay.run() })
            }),
            _ => panic!("a graph of one device, launched on another"),
        })
    }

    /// Gives launch number `launch`, counted from 0 in the order of the capture, other arguments and
    /// another shape. Replays that are in a stream already keep theirs.
    ///
    /// # Safety
    /// As for [`Graph::launch`], with the new arguments.
    ///
    /// # Errors
    /// The driver's: `prepared` is another kernel than was captured.
    ///
    /// # Panics
    /// There is no such launch, or `prepared` is of another kind of device.
    pub unsafe fn update<S: Signature>(
        &mut self,
        launch: usize,
        prepared: &Prepared<'_, S>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        match &mut self.kind {
            Kind::Cuda {
                executable,
                kernels,
                ..
            } => prepared.with_node(arguments, |node| {
                // SAFETY: the node is one of the graph's; the driver copies the parameters.
                checked("update a graph", unsafe {
                    sys::cuGraphExecKernelNodeSetParams(*executable, kernels[launch], node)
                })
            }),
            Kind::Host(replays) => {
                // SAFETY: the caller vouches for the arguments.
                replays[launch] = unsafe { prepared.replay(arguments) };
                Ok(())
            }
        }
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if let Kind::Cuda {
            graph, executable, ..
        } = self.kind
        {
            // SAFETY: created here; the driver keeps what a launch under way needs.
            unsafe {
                sys::cuGraphExecDestroy(executable);
                sys::cuGraphDestroy(graph);
            }
        }
    }
}
