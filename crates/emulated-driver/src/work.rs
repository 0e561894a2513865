//! Work in streams: done at once, queued behind functions of the host, or added to the graph of a stream that captures.

use std::ffi::c_void;
use std::sync::Arc;

use crate::allocations;
use crate::api;
use crate::capture;
use crate::copy::Copy;
use crate::event::{Event, Recording};
use crate::fill::Fill;
use crate::graph::{Executable, Extent};
use crate::handles::Handle;
use crate::launch::Launch;
use crate::order::Lane;
use crate::queue;
use crate::recorded;
use crate::status::{Answer, Status};
use crate::stream::Stream;

/// `CUhostFn`
pub(crate) type HostFunction = unsafe extern "C" fn(*mut c_void);
/// `CUstreamCallback`
pub(crate) type StreamCallback = unsafe extern "C" fn(Handle, u32, *mut c_void);

/// Something that a stream does.
#[derive(Clone)]
pub(crate) enum Work {
    Launch(Arc<Launch>),
    Copy(Copy),
    Fill(Fill),
    Host {
        function: HostFunction,
        data: usize,
    },
    Callback {
        function: StreamCallback,
        stream: Handle,
        data: usize,
    },
    /// A graph that is executed; as a node of another one it is nobody else's.
    Executable(Arc<Executable>),
    /// A node that records an event.
    Record(Arc<Event>),
    /// A stream comes to where an event was recorded in it, or waits until another one has.
    Reach(Arc<Recording>),
    Wait(Arc<Recording>),
    /// Memory of a device is freed in the order of a stream.
    Free(u64),
    Nothing,
}

impl Work {
    /// Does it.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        match self {
            Work::Launch(launch) => {
                recorded::work(lane.place, |it| launch.recorded(it), || launch.run(lane))
            }
            Work::Copy(copy) => recorded::work(lane.place, |_| copy.recorded(), || copy.run(lane)),
            Work::Fill(fill) => recorded::work(lane.place, |_| fill.recorded(), || fill.run(lane)),
            &Work::Host { function, data } => {
                // SAFETY: the program has handed both over for this call.
                api::call_host(|| unsafe { function(data as *mut c_void) });
                Ok(())
            }
            &Work::Callback {
                function,
                stream,
                data,
            } => {
                // SAFETY: as above.
                api::call_host(|| unsafe { function(stream, 0, data as *mut c_void) });
                Ok(())
            }
            Work::Executable(executable) => executable.run(lane),
            Work::Record(event) => {
                event.record_now(lane);
                Ok(())
            }
            Work::Reach(recording) => {
                recording.reach(lane);
                Ok(())
            }
            Work::Wait(recording) => {
                recording.hold(lane);
                Ok(())
            }
            &Work::Free(address) => allocations::free_in(lane, address),
            Work::Nothing => Ok(()),
        }
    }

    /// Whether it calls functions of the host.
    pub(crate) fn calls_host(&self) -> bool {
        match self {
            Work::Host { .. } | Work::Callback { .. } => true,
            Work::Executable(executable) => executable.calls_host(),
            _ => false,
        }
    }

    /// Whether it waits for an event that other work reaches.
    pub(crate) fn waits_for(&self, other: &Work) -> bool {
        match self {
            Work::Wait(recording) => other.reaches(recording),
            _ => false,
        }
    }

    /// Whether it reaches an event.
    pub(crate) fn reaches(&self, event: &Arc<Recording>) -> bool {
        matches!(self, Work::Reach(recording) if Arc::ptr_eq(recording, event))
    }

    /// Returns it as it is done later, whatever the program does with its own memory meanwhile.
    pub(crate) fn queued(self) -> Work {
        match self {
            Work::Copy(copy) => Work::Copy(copy.staged()),
            other => other,
        }
    }

    /// How large the graph is that it executes.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Work::Executable(executable) => executable.extent(),
            _ => Extent::NOTHING,
        }
    }

    /// Returns it as a node of a graph does it, whatever its handles stand for later.
    pub(crate) fn of_node(self) -> Work {
        match self {
            Work::Executable(executable) => Work::Executable(Arc::new(executable.as_now())),
            other => other,
        }
    }

    /// Refuses a node that is no kernel, copy or fill.
    pub(crate) fn can_be_disabled(&self) -> Answer {
        match self {
            Work::Launch(_) | Work::Copy(_) | Work::Fill(_) => Ok(()),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// `CUgraphNodeType`
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Work::Launch(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host { .. } | Work::Callback { .. } => 3,
            Work::Executable(_) => 4,
            Work::Nothing => 5,
            Work::Wait(_) => 6,
            Work::Record(_) | Work::Reach(_) => 7,
            Work::Free(_) => 11,
        }
    }
}

/// Puts work into a stream.
pub(crate) fn submit(stream: &Arc<Stream>, work: Work) -> Answer {
    let Some(work) = capture::add(stream, work)? else {
        return Ok(());
    };
    match queue::add(stream, work) {
        Ok(()) => Ok(()),
        Err(work) => work.run(&stream.lane()),
    }
}
