//! Work in streams: done at once, queued behind functions of the host, or added to the graph of a stream that captures.

use std::ffi::c_void;
use std::sync::Arc;

use crate::allocations;
use crate::api;
use crate::capture;
use crate::conditional::{Branch, Conditional};
use crate::copy::Copy;
use crate::event::{Event, Recording};
use crate::executable::{Executable, Extent};
use crate::fill::Fill;
use crate::graph::Graph;
use crate::graph_memory::GraphMemory;
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
    Copy(Arc<Copy>),
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
    /// A graph that is executed.
    Executable(Arc<Executable>),
    /// A node that is a graph; when it is executed it is an [`Executable`].
    Graph(Arc<Graph>),
    /// A node that is several graphs, of which a condition chooses; when it is executed it is a [`Branch`].
    Conditional(Arc<Conditional>),
    Branch(Arc<Branch>),
    /// Nodes that record an event, and wait for where it was recorded last.
    Record(Arc<Event>),
    Await(Arc<Event>),
    /// A stream comes to where an event was recorded in it, or waits until another one has.
    Reach(Arc<Recording>),
    Wait(Arc<Recording>),
    /// A node that allocates memory.
    Allocate(Arc<GraphMemory>),
    /// A node that frees memory of a node's.
    Release(Arc<GraphMemory>),
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
            Work::Graph(_) | Work::Conditional(_) => self.instantiated()?.run(lane),
            Work::Branch(branch) => branch.run(lane),
            Work::Record(event) => {
                event.record_now(lane);
                Ok(())
            }
            Work::Await(event) => {
                event.hold(lane);
                Ok(())
            }
            Work::Allocate(memory) => memory.allocate(),
            Work::Release(memory) => memory.free_in(lane),
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
            Work::Branch(branch) => branch.bodies().iter().any(|it| it.calls_host()),
            _ => false,
        }
    }

    /// Whether it waits for an event that other work reaches.
    pub(crate) fn waits_for(&self, other: &Work) -> bool {
        match self {
            Work::Wait(recording) => other.reaches(recording),
            Work::Await(event) => event.recording().is_some_and(|it| other.reaches(&it)),
            Work::Executable(executable) => executable.any(|it| it.waits_for(other)),
            _ => false,
        }
    }

    /// Whether it reaches an event.
    pub(crate) fn reaches(&self, event: &Arc<Recording>) -> bool {
        match self {
            Work::Reach(recording) => Arc::ptr_eq(recording, event),
            Work::Executable(executable) => executable.any(|it| it.reaches(event)),
            _ => false,
        }
    }

    /// Returns it as it is done later, whatever the program does with its own memory meanwhile.
    pub(crate) fn queued(self) -> Work {
        match self {
            Work::Copy(copy) => Work::Copy(copy.staged()),
            // Who waits for the event from now on waits for this.
            Work::Record(event) => Work::Reach(event.will_be_recorded()),
            Work::Executable(executable) => Work::Executable(executable.queued()),
            other => other,
        }
    }

    /// How large the graphs are within it.
    pub(crate) fn extent(&self) -> Extent {
        let all: Vec<Extent> = match self {
            Work::Executable(executable) => vec![executable.extent()],
            Work::Branch(branch) => branch.bodies().iter().map(|it| it.extent()).collect(),
            _ => self.graphs().iter().map(|it| it.extent()).collect(),
        };
        let join = |all: Extent, one: Extent| Extent {
            nodes: all.nodes.saturating_add(one.nodes),
            depth: all.depth.max(one.depth),
        };
        all.into_iter().fold(Extent::NOTHING, join)
    }

    /// The graphs within a node.
    pub(crate) fn graphs(&self) -> Vec<Arc<Graph>> {
        match self {
            Work::Graph(graph) => vec![Arc::clone(graph)],
            Work::Conditional(conditional) => conditional.bodies().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Ends the graphs within a node that ends.
    pub(crate) fn end_within(&self) {
        self.graphs().iter().for_each(|it| it.end_within());
    }

    /// Returns it as a node of a graph does it, whatever its handles stand for later.
    pub(crate) fn of_node(&self, graph: &Graph) -> Answer<Work> {
        match self {
            Work::Executable(it) => Ok(Work::Graph(graph.within_of(it)?)),
            other => Ok(other.clone()),
        }
    }

    /// Whether a graph that does it is not copied, and executable once at a time: it allocates memory, or has a condition.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(
            self,
            Work::Allocate(_) | Work::Release(_) | Work::Conditional(_) | Work::Branch(_)
        )
    }

    /// Whether a graph that a condition decides about may do it.
    pub(crate) fn can_be_conditional(&self) -> bool {
        let is_of_device = matches!(self, Work::Launch(_) | Work::Copy(_) | Work::Fill(_));
        is_of_device || matches!(self, Work::Graph(_) | Work::Conditional(_) | Work::Nothing)
    }

    /// Returns it as the same node of a copy of its graph does it.
    pub(crate) fn copied_to(&self, copy: &Graph) -> Answer<Work> {
        Ok(match self {
            Work::Graph(graph) => Work::Graph(graph.copy_into(copy)?),
            other => other.clone(),
        })
    }

    /// Returns a node's work as it is executed.
    pub(crate) fn instantiated(&self) -> Answer<Work> {
        Ok(match self {
            Work::Graph(graph) => Work::Executable(Executable::within(graph)?.into()),
            Work::Conditional(it) => Work::Branch(it.instantiated()?.into()),
            other => other.clone(),
        })
    }

    /// Returns it with what a program has set of the node apart from what it does.
    ///
    /// # Errors
    /// Its launch is none with that.
    pub(crate) fn in_place_of(self, before: &Work) -> Answer<Work> {
        match (self, before) {
            (Work::Launch(launch), Work::Launch(before)) => {
                let launch = launch.with_together_of(before);
                launch.check()?;
                Ok(Work::Launch(launch.into()))
            }
            (other, _) => Ok(other),
        }
    }

    /// Refuses a node that is no kernel, copy or fill.
    pub(crate) fn can_be_disabled(&self) -> Answer {
        match self {
            Work::Launch(_) | Work::Copy(_) | Work::Fill(_) => Ok(()),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// As a drawing of a graph names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Work::Launch(_) => "KERNEL",
            Work::Copy(_) => "MEMCPY",
            Work::Fill(_) => "MEMSET",
            Work::Host { .. } | Work::Callback { .. } => "HOST",
            Work::Executable(_) | Work::Graph(_) => "GRAPH",
            Work::Nothing => "EMPTY",
            Work::Wait(_) | Work::Await(_) => "EVENT_WAIT",
            Work::Record(_) | Work::Reach(_) => "EVENT_RECORD",
            Work::Allocate(_) => "MEM_ALLOC",
            Work::Release(_) | Work::Free(_) => "MEM_FREE",
            Work::Conditional(_) | Work::Branch(_) => "CONDITIONAL",
        }
    }

    /// `CUgraphNodeType`
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Work::Launch(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host { .. } | Work::Callback { .. } => 3,
            Work::Executable(_) | Work::Graph(_) => 4,
            Work::Nothing => 5,
            Work::Wait(_) | Work::Await(_) => 6,
            Work::Record(_) | Work::Reach(_) => 7,
            Work::Allocate(_) => 10,
            Work::Release(_) | Work::Free(_) => 11,
            Work::Conditional(_) | Work::Branch(_) => 13,
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
