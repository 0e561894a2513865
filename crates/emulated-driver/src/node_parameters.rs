//! Descriptions of nodes, which a program gives or asks for.

use std::sync::Arc;

use crate::arguments::{In, Out};
use crate::conditional;
use crate::context::current;
use crate::copy::Planes;
use crate::event::Event;
use crate::fill;
use crate::graph::{Graph, Node};
use crate::graph_memory::{self, GraphMemory};
use crate::handles::{Handle, look};
use crate::launch_calls::{Described, Together};
use crate::parameters::{Each, Extra, no_extra};
use crate::pool::Properties;
use crate::status::{Answer, Status};
use crate::work::{HostFunction, Work};

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    each: Each,
    extra: Extra,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode2 {
    first: KernelNode,
    kernel: Handle,
    context: Handle,
}

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostNode {
    function: Option<HostFunction>,
    data: usize,
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyNode {
    flags: u32,
    reserved: u32,
    context: Handle,
    planes: Planes,
}

/// `CUDA_CHILD_GRAPH_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
struct ChildNode {
    graph: Handle,
    ownership: u32,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllocationNode {
    properties: Properties,
    /// Properties of pools alone.
    others: [u64; 9],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: u64,
}

/// The beginning of `CUgraphNodeParams`, behind which lies the description of a node of the kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AnyNode {
    kind: u32,
    reserved: [u32; 3],
}

/// `CUgraphNodeType`, of nodes that are not emulated too.
mod kind {
    pub(super) const KERNEL: u32 = 0;
    pub(super) const COPY: u32 = 1;
    pub(super) const FILL: u32 = 2;
    pub(super) const HOST: u32 = 3;
    pub(super) const GRAPH: u32 = 4;
    pub(super) const NOTHING: u32 = 5;
    pub(super) const AWAIT: u32 = 6;
    pub(super) const RECORD: u32 = 7;
    pub(super) const ALLOCATE: u32 = 10;
    pub(super) const FREE: u32 = 11;
    pub(super) const CONDITIONAL: u32 = 13;
    pub(super) const ALL: std::ops::RangeInclusive<u32> = KERNEL..=CONDITIONAL;
}

impl KernelNode {
    pub(crate) fn work(self) -> Answer<Work> {
        let KernelNode {
            function,
            grid,
            block,
            shared,
            each,
            extra,
        } = self;
        let described = Described {
            function,
            grid,
            block,
            shared,
            each,
            extra,
        };
        let launch = described.launch(Together::NONE)?;
        launch.check_block()?;
        Ok(Work::Launch(launch.into()))
    }

    /// Returns what a node does, with its parameters where they stay until it is changed.
    pub(crate) fn of(node: &Node) -> Answer<KernelNode> {
        let (launch, parameters) = node.tell()?;
        Ok(KernelNode {
            function: launch.handle,
            grid: launch.shape.grid,
            block: launch.shape.block,
            shared: launch.shape.dynamic_shared,
            each: In::of_address(parameters),
            extra: no_extra(),
        })
    }
}

impl KernelNode2 {
    pub(crate) fn work(self) -> Answer<Work> {
        let function = match self.first.function {
            0 => self.kernel,
            function => function,
        };
        KernelNode {
            function,
            ..self.first
        }
        .work()
    }

    /// As [`KernelNode::of`].
    pub(crate) fn of(node: &Node) -> Answer<KernelNode2> {
        Ok(KernelNode2 {
            first: KernelNode::of(node)?,
            kernel: 0,
            context: current()?.handle,
        })
    }
}

impl HostNode {
    pub(crate) fn work(self) -> Answer<Work> {
        let function = self.function.ok_or(Status::INVALID_VALUE)?;
        Ok(Work::Host {
            function,
            data: self.data,
        })
    }

    pub(crate) fn of(node: &Node) -> Answer<HostNode> {
        match node.work() {
            Work::Host { function, data } => Ok(HostNode {
                function: Some(function),
                data,
            }),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

impl AllocationNode {
    /// Returns the node, and the description with the address.
    fn node(self) -> Answer<(Arc<GraphMemory>, AllocationNode)> {
        let context = current()?;
        // Devices of this process reach each other's memory by `cuCtxEnablePeerAccess`.
        if self.properties.device()? != context.device {
            return Err(Status::NOT_SUPPORTED);
        }
        let memory = GraphMemory::new(&context, self.bytes as u64)?;
        let address = memory.start();
        Ok((memory, AllocationNode { address, ..self }))
    }

    pub(crate) fn of(node: &Node) -> Answer<AllocationNode> {
        let Work::Allocate(memory) = node.work() else {
            return Err(Status::INVALID_VALUE);
        };
        Ok(AllocationNode {
            properties: Properties::of_device(memory.device()),
            others: [0; 9],
            access: 0,
            access_count: 0,
            bytes: memory.bytes() as usize,
            address: memory.start(),
        })
    }
}

/// Returns a node that allocates, and writes the address into its description.
pub(crate) fn allocation(node: Out<AllocationNode>) -> Answer<Work> {
    let (memory, told) = node.get()?.node()?;
    node.put(told)?;
    Ok(Work::Allocate(memory))
}

/// Returns a copy that a program describes.
pub(crate) fn copy(planes: Planes) -> Answer<Work> {
    Ok(Work::Copy(planes.copy("a memcpy node")?.into()))
}

pub(crate) fn fill(described: fill::Described) -> Answer<Work> {
    described.fill().map(Work::Fill)
}

pub(crate) fn awaited(event: Handle) -> Answer<Work> {
    look::<Event>(event).map(Work::Await)
}

pub(crate) fn recorded(event: Handle) -> Answer<Work> {
    look::<Event>(event).map(Work::Record)
}

/// Returns a node that is a copy of a graph.
///
/// # Errors
/// It is the graph that the node is for, or as [`Graph::copy_to`].
pub(crate) fn child(graph: &Graph, child: Handle) -> Answer<Work> {
    if graph.handle() == Some(child) {
        return Err(Status::INVALID_VALUE);
    }
    let child = look::<Graph>(child)?;
    child.copy_into(graph).map(Work::Graph)
}

impl AnyNode {
    /// Where the description of the kind is.
    fn rest<T>(at: Out<AnyNode>) -> Out<T> {
        Out::of_address(at.address().wrapping_add(size_of::<AnyNode>()))
    }

    /// Returns the node that a program describes, for a graph; what it is told of the node is written into the description.
    pub(crate) fn work(at: Out<AnyNode>, graph: &Graph) -> Answer<Work> {
        let kind = at.get()?.kind;
        match kind {
            kind::ALLOCATE => allocation(AnyNode::rest(at)),
            kind::FREE => graph_memory::freed_in(graph, AnyNode::rest(at).get()?),
            kind::CONDITIONAL => {
                let rest: Out<conditional::Described> = AnyNode::rest(at);
                let (node, told) = rest.get()?.node(graph)?;
                rest.put(told)?;
                Ok(Work::Conditional(node.into()))
            }
            _ => AnyNode::changeable(at, graph),
        }
    }

    /// Returns what a node of a graph is to do from now on.
    pub(crate) fn changeable(at: Out<AnyNode>, graph: &Graph) -> Answer<Work> {
        match at.get()?.kind {
            kind::KERNEL => AnyNode::rest::<KernelNode2>(at).get()?.work(),
            kind::COPY => copy(AnyNode::rest::<CopyNode>(at).get()?.planes),
            kind::FILL => fill(AnyNode::rest(at).get()?),
            kind::HOST => AnyNode::rest::<HostNode>(at).get()?.work(),
            kind::GRAPH => match AnyNode::rest(at).get()? {
                ChildNode {
                    graph: given,
                    ownership: 0,
                } => child(graph, given),
                _ => Err(Status::NOT_SUPPORTED),
            },
            kind::NOTHING => Ok(Work::Nothing),
            kind::AWAIT => awaited(AnyNode::rest(at).get()?),
            kind::RECORD => recorded(AnyNode::rest(at).get()?),
            // Semaphores of other interfaces, and operations on memory.
            other if kind::ALL.contains(&other) => Err(Status::NOT_SUPPORTED),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}
