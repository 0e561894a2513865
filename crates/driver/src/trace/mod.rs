//! When each piece of work began on the device and ended, for timelines.
//!
//! Between [`begin`] and [`take`], the work of every device that is opened is noted: a GPU's by CUPTI
//! where there is a session of it, and otherwise with events. At other times nothing is noted, and
//! nothing costs.
//!
//! ```
//! use ridgepoint_driver::trace::{self, Launch, Recorded, Session, Span};
//! use ridgepoint_driver::{Device, DeviceChoice, DriverError, Stream};
//!
//! fn line(span: &Span) -> String {
//!     let shape = |launch: &Launch| format!(", {:?} blocks", launch.grid);
//!     let shape = span.launch.as_ref().map(shape).unwrap_or_default();
//!     format!("stream {}: {}{shape}, {:?}", span.stream, span.name, span.took)
//! }
//!
//! // There is none without a GPU.
//! let session: Option<Session> = trace::cupti().ok();
//! trace::begin(session);
//! let device = Device::open(&DeviceChoice::Cpu, &[])?;
//! let stream = Stream::new(&device)?;
//! let mut buffer = device.buffer_zeroed(4)?;
//! // A profiler that was told to captures this alone.
//! trace::captured(|| stream.write(&[1u32, 2], &mut buffer, 0))?;
//! drop(stream);
//! drop(buffer);
//! drop(device);
//!
//! let recorded: Recorded = trace::take();
//! let [copy] = &recorded.spans[..] else { panic!("{recorded:?}") };
//! assert_eq!((&copy.name[..], copy.bytes, recorded.has_gpu), ("copy to the device", 8, false));
//! println!("{}", line(copy));
//! # Ok::<(), DriverError>(())
//! ```

mod notes;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cuda_std::launch::Home;
use cupti::{Activity, Direction, StreamId, Work};
pub use cupti::{Launch, Session};
use cust::sys::{self, CUstream};

use super::DriverError;
use super::context::Context;
pub(super) use notes::Notes;

/// The names of copies in errors and traces.
pub(super) const TO_DEVICE: &str = "copy to the device";
pub(super) const FROM_DEVICE: &str = "copy from the device";

/// A piece of work of a device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// The number of its stream, from 1 on; 0 is that of calls which name none.
    pub stream: u32,
    /// The kernel, or the kind of copy.
    pub name: Cow<'static, str>,
    /// Bytes that it copies; 0 of a kernel.
    pub bytes: u64,
    /// How a kernel was launched, where CUPTI says it.
    pub launch: Option<Launch>,
    /// When the device began it or, with events, when its stream had come to it.
    pub began: Instant,
    /// From then until it was done.
    pub took: Duration,
}

/// The part of a trace that devices made.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Their work, by its beginnings.
    pub spans: Vec<Span>,
    /// How many more there were, of which CUPTI has no times.
    pub lost: usize,
    /// Whether a GPU was among them.
    pub has_gpu: bool,
}

/// The trace that goes on.
struct Running {
    session: Option<Session>,
    /// Our numbers of the streams.
    streams: HashMap<StreamId, u32>,
    recorded: Recorded,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session of CUPTI, for [`begin`].
///
/// # Errors
/// [`DriverError::NoDriver`]; [`DriverError::Cupti`]: there is none, or it refuses, as when another profiler
/// is attached.
pub fn cupti() -> Result<Session, DriverError> {
    cuda_loader::driver().map_err(|error| DriverError::NoDriver(error.clone()))?;
    Session::begin().map_err(DriverError::Cupti)
}

/// Traces the devices that are opened from now on: GPUs with events where there is no session.
pub fn begin(session: Option<Session>) {
    *running() = Some(Running {
        session,
        streams: HashMap::new(),
        recorded: Recorded::default(),
    });
}

/// Ends the trace, and returns what there is of all devices that have been closed since.
pub fn take() -> Recorded {
    let Some(Running {
        session,
        streams,
        mut recorded,
    }) = running().take()
    else {
        return Recorded::default();
    };
    if let Some(session) = session {
        let collected = session.end();
        recorded.lost = collected.lost;
        let spans = collected.activities.into_iter();
        recorded
            .spans
            .extend(spans.map(|activity| span(activity, &streams)));
    }
    recorded.spans.sort_by_key(|span| span.began);
    recorded
}

fn span(activity: Activity, streams: &HashMap<StreamId, u32>) -> Span {
    let (name, bytes, launch) = match activity.work {
        Work::Kernel { name, launch } => (name.into(), 0, Some(launch)),
        Work::Copy { direction, bytes } => (copy(direction).into(), bytes, None),
        Work::Fill { bytes } => ("fill".into(), bytes, None),
    };
    Span {
        stream: streams.get(&activity.stream).copied().unwrap_or(0),
        name,
        bytes,
        launch,
        began: activity.began,
        took: activity.took,
    }
}

/// Returns the name of the copy.
fn copy(direction: Direction) -> &'static str {
    match direction {
        Direction::ToDevice => TO_DEVICE,
        Direction::FromDevice => FROM_DEVICE,
        Direction::Other => "copy on the device",
    }
}

/// How one device is traced.
#[derive(Debug)]
pub(super) enum Recorder {
    /// By CUPTI, which needs to know the streams alone.
    Cupti(Flush),
    /// By events around each piece of work.
    Events(Notes),
}

impl Recorder {
    /// A recorder for a device that is just opened, if there is a trace. `gpu` is a GPU's context.
    pub(super) fn begin(home: &'static Home, gpu: Option<&Context>) -> Option<Recorder> {
        let mut running = running();
        let trace = running.as_mut()?;
        trace.recorded.has_gpu |= gpu.is_some();
        match gpu {
            Some(context) if trace.session.is_some() => {
                Some(Recorder::Cupti(Flush(context.clone())))
            }
            _ => Notes::begin(home, gpu).map(Recorder::Events),
        }
    }

    /// Tells which number a GPU's stream has in the trace. Where CUPTI does not know it, that is 0.
    pub(super) fn add_stream(&self, number: u32, stream: CUstream) {
        let (Recorder::Cupti(Flush(context)), Some(trace)) = (self, &mut *running()) else {
            return;
        };
        if let Some(session) = &trace.session {
            // SAFETY: the context is the device's, in which the caller has made the stream.
            let id = unsafe { session.stream_id(context.raw().cast(), stream.cast()) };
            trace.streams.extend(id.map(|id| (id, number)));
        }
    }
}

/// Dropped, it fetches CUPTI's records, which go with the context.
#[derive(Debug)]
pub(super) struct Flush(Context);

impl Drop for Flush {
    fn drop(&mut self) {
        if self.0.enter().is_ok() {
            // SAFETY: it takes nothing. After an error there are the records of what was done.
            cuda_loader::unrecorded(|| unsafe { sys::cuCtxSynchronize() });
        }
        if let Some(session) = running().as_ref().and_then(|trace| trace.session.as_ref()) {
            session.flush();
        }
    }
}

/// Runs `work` in the range that profilers capture with `--capture-range=cudaProfilerApi`.
pub fn captured<R>(work: impl FnOnce() -> R) -> R {
    let is_there = cuda_loader::driver().is_ok();
    // SAFETY: both take nothing; without a profiler, or a context, they answer an error or do
    // nothing, which is all the same here.
    unsafe {
        if is_there {
            sys::cuProfilerStart();
        }
        let result = work();
        if is_there {
            sys::cuProfilerStop();
        }
        result
    }
}
