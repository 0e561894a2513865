//! Nodes of graphs.

use crate::arguments::{Dim3, In, Out};
use crate::copy::{Parameters, Symbol, Volume};
use crate::device::context;
use crate::driver::{self, Handle};
use crate::inside;
use crate::program::{function, host_of};
use crate::status::Answer;

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    host: usize,
    grid: Dim3,
    block: Dim3,
    dynamic: u32,
    arguments: usize,
    extra: usize,
}

/// `CUDA_KERNEL_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct KernelNode {
    function: Handle,
    grid: Dim3,
    block: Dim3,
    dynamic: u32,
    arguments: usize,
    extra: usize,
    kernel: Handle,
    context: Handle,
}

impl Kernel {
    /// As a program reads it of a node, whose parameters stay there until they are set.
    fn of(node: Handle) -> Answer<Kernel> {
        let mut own = KernelNode::default();
        driver::cuGraphKernelNodeGetParams_v2(node, Out::of(&mut own))?;
        Ok(Kernel {
            host: host_of(own.function)?,
            grid: own.grid,
            block: own.block,
            dynamic: own.dynamic,
            arguments: own.arguments,
            extra: own.extra,
        })
    }

    fn node(self) -> Answer<KernelNode> {
        let Kernel {
            host,
            grid,
            block,
            dynamic,
            arguments,
            extra,
        } = self;
        let function = function(host)?;
        Ok(KernelNode {
            function,
            grid,
            block,
            dynamic,
            arguments,
            extra,
            kernel: 0,
            context: 0,
        })
    }
}

/// `CUDA_MEMSET_NODE_PARAMS`, which `cudaMemsetParams` is laid out as.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Fill {
    to: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// The context that a node of a copy or fill is of.
pub(crate) fn of_node() -> Answer<Handle> {
    context()?;
    let mut current = 0;
    driver::cuCtxGetCurrent(Out::of(&mut current))?;
    Ok(current)
}

/// `cudaGraphNodeParams`, and `CUgraphNodeParams`, which differs from it in kernels and copies.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AnyNode {
    kind: u32,
    reserved: [u32; 3],
    rest: [u64; 30],
}

/// `cudaMemcpyNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyNode {
    flags: u32,
    reserved: [u32; 3],
    parameters: Parameters,
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
struct DriverCopyNode {
    flags: u32,
    reserved: u32,
    context: Handle,
    volume: Volume,
}

/// A kind's description in place of the rest of a node's.
#[repr(C)]
struct Described<T> {
    kind: u32,
    reserved: [u32; 3],
    rest: T,
    /// The whole is no shorter than the driver's.
    _behind: [u64; 30],
}

/// `cudaGraphNodeTypeKernel` and `cudaGraphNodeTypeMemcpy`
const KERNEL: u32 = 0;
const COPY: u32 = 1;

/// Calls the driver with a description of a node as it takes it.
fn with_node(at: Out<AnyNode>, call: impl FnOnce(Out<AnyNode>) -> Answer) -> Answer {
    let kind = In::<u32>::at(at.address()).get()?;
    let rest = at
        .address()
        .wrapping_add(std::mem::offset_of!(AnyNode, rest));
    match kind {
        KERNEL => call_with(kind, In::<Kernel>::at(rest).get()?.node()?, call),
        COPY => {
            let node = DriverCopyNode {
                flags: 0,
                reserved: 0,
                context: of_node()?,
                volume: In::<CopyNode>::at(rest).get()?.parameters.volume()?,
            };
            call_with(kind, node, call)
        }
        _ => call(at),
    }
}

/// Calls the driver with a node of a kind that is described by this.
fn call_with<T>(kind: u32, rest: T, call: impl FnOnce(Out<AnyNode>) -> Answer) -> Answer {
    let mut node = Described {
        kind,
        reserved: [0; 3],
        rest,
        _behind: [0; 30],
    };
    call(Out::at(Out::of(&mut node).address()))
}

runtime! {
    // With a list of what the edges carry in front of the count, since CUDA 13.
    fn cudaGraphAddNode(to: Out<Handle>, graph: Handle, before: In<Handle>, fourth: usize, fifth: usize, sixth: usize) {
        context()?;
        let (edges, count, node) = if inside::major() >= 13 { (fourth, fifth, sixth) } else { (0, fourth, fifth) };
        with_node(Out::at(node), |it| driver::cuGraphAddNode_v2(to, graph, before, In::at(edges), count, it))
    }
    fn cudaGraphAddNode_v2(to: Out<Handle>, graph: Handle, before: In<Handle>, edges: In<u64>, count: usize, node: Out<AnyNode>) {
        context()?;
        with_node(node, |it| driver::cuGraphAddNode_v2(to, graph, before, edges, count, it))
    }
    fn cudaGraphNodeSetParams(node: Handle, parameters: Out<AnyNode>) {
        context()?;
        with_node(parameters, |it| driver::cuGraphNodeSetParams(node, it))
    }
    fn cudaGraphExecNodeSetParams(graph: Handle, node: Handle, parameters: Out<AnyNode>) {
        context()?;
        with_node(parameters, |it| driver::cuGraphExecNodeSetParams(graph, node, it))
    }
    fn cudaGraphHostNodeSetParams(node: Handle, host: In<[usize; 2]>) [cuGraphHostNodeSetParams]
    fn cudaGraphMemsetNodeSetParams(node: Handle, fill: In<Fill>) [cuGraphMemsetNodeSetParams]
    fn cudaGraphMemcpyNodeSetParams(node: Handle, parameters: In<Parameters>) {
        let volume = parameters.get()?.volume()?;
        driver::cuGraphMemcpyNodeSetParams(node, In::of(&volume))
    }
    fn cudaGraphMemcpyNodeSetParams1D(node: Handle, target: u64, source: u64, bytes: usize, kind: u32) {
        let volume = Volume::line(target, source, bytes, kind)?;
        driver::cuGraphMemcpyNodeSetParams(node, In::of(&volume))
    }
    fn cudaGraphAddEmptyNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize) [cuGraphAddEmptyNode]
    fn cudaGraphAddChildGraphNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, child: Handle)
        [cuGraphAddChildGraphNode]
    fn cudaGraphAddHostNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, host: In<[usize; 2]>)
        [cuGraphAddHostNode]
    fn cudaGraphAddKernelNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, kernel: In<Kernel>) {
        let node = kernel.get()?.node()?;
        driver::cuGraphAddKernelNode_v2(to, graph, before, count, In::of(&node))
    }
    fn cudaGraphExecKernelNodeSetParams(graph: Handle, node: Handle, kernel: In<Kernel>) {
        let parameters = kernel.get()?.node()?;
        driver::cuGraphExecKernelNodeSetParams_v2(graph, node, In::of(&parameters))
    }
    fn cudaGraphKernelNodeSetParams(node: Handle, kernel: In<Kernel>) {
        let parameters = kernel.get()?.node()?;
        driver::cuGraphKernelNodeSetParams_v2(node, In::of(&parameters))
    }
    fn cudaGraphAddEventRecordNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, event: Handle)
        [cuGraphAddEventRecordNode]
    fn cudaGraphExecHostNodeSetParams(graph: Handle, node: Handle, host: In<[usize; 2]>) [cuGraphExecHostNodeSetParams]
    fn cudaGraphExecMemcpyNodeSetParams(graph: Handle, node: Handle, parameters: In<Parameters>) {
        let volume = parameters.get()?.volume()?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, In::of(&volume), of_node()?)
    }
    fn cudaGraphExecMemcpyNodeSetParams1D(
        graph: Handle, node: Handle, target: u64, source: u64, bytes: usize, kind: u32,
    ) {
        let volume = Volume::line(target, source, bytes, kind)?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, In::of(&volume), of_node()?)
    }
    fn cudaGraphExecMemsetNodeSetParams(graph: Handle, node: Handle, fill: In<Fill>) {
        driver::cuGraphExecMemsetNodeSetParams(graph, node, fill, of_node()?)
    }
    fn cudaGraphAddMemcpyNode(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, parameters: In<Parameters>,
    ) {
        let volume = parameters.get()?.volume()?;
        driver::cuGraphAddMemcpyNode(to, graph, before, count, In::of(&volume), of_node()?)
    }
    fn cudaGraphAddMemcpyNode1D(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, target: u64, source: u64, bytes: usize, kind: u32,
    ) {
        let volume = Volume::line(target, source, bytes, kind)?;
        driver::cuGraphAddMemcpyNode(to, graph, before, count, In::of(&volume), of_node()?)
    }
    fn cudaGraphAddMemsetNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, fill: In<Fill>) {
        driver::cuGraphAddMemsetNode(to, graph, before, count, fill, of_node()?)
    }
    fn cudaGraphKernelNodeGetParams(node: Handle, to: Out<Kernel>) { context()?; to.put(Kernel::of(node)?) }
    fn cudaGraphKernelNodeSetAttribute(node: Handle, id: u32, value: usize) [cuGraphKernelNodeSetAttribute]
    fn cudaGraphKernelNodeGetAttribute(node: Handle, id: u32, to: usize) [cuGraphKernelNodeGetAttribute]
    fn cudaGraphKernelNodeCopyAttributes(to: Handle, from: Handle) [cuGraphKernelNodeCopyAttributes]
    fn cudaGraphMemcpyNodeGetParams(node: Handle, to: Out<Parameters>) {
        context()?;
        let mut volume = Volume::default();
        driver::cuGraphMemcpyNodeGetParams(node, Out::of(&mut volume))?;
        to.put(Parameters::of(&volume)?)
    }
    fn cudaGraphMemsetNodeGetParams(node: Handle, to: Out<Fill>) [cuGraphMemsetNodeGetParams]
    fn cudaGraphHostNodeGetParams(node: Handle, to: Out<[usize; 2]>) [cuGraphHostNodeGetParams]
    fn cudaGraphChildGraphNodeGetGraph(node: Handle, to: Out<Handle>) [cuGraphChildGraphNodeGetGraph]
    fn cudaGraphExecChildGraphNodeSetParams(graph: Handle, node: Handle, child: Handle) [cuGraphExecChildGraphNodeSetParams]
    fn cudaGraphEventRecordNodeGetEvent(node: Handle, to: Out<Handle>) [cuGraphEventRecordNodeGetEvent]
    fn cudaGraphEventRecordNodeSetEvent(node: Handle, event: Handle) [cuGraphEventRecordNodeSetEvent]
    fn cudaGraphExecEventRecordNodeSetEvent(graph: Handle, node: Handle, event: Handle) [cuGraphExecEventRecordNodeSetEvent]
    fn cudaGraphAddEventWaitNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, event: Handle)
        [cuGraphAddEventWaitNode]
    fn cudaGraphEventWaitNodeGetEvent(node: Handle, to: Out<Handle>) [cuGraphEventWaitNodeGetEvent]
    fn cudaGraphEventWaitNodeSetEvent(node: Handle, event: Handle) [cuGraphEventWaitNodeSetEvent]
    fn cudaGraphExecEventWaitNodeSetEvent(graph: Handle, node: Handle, event: Handle) [cuGraphExecEventWaitNodeSetEvent]
    fn cudaGraphAddMemAllocNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, memory: usize)
        [cuGraphAddMemAllocNode]
    fn cudaGraphMemAllocNodeGetParams(node: Handle, to: usize) [cuGraphMemAllocNodeGetParams]
    fn cudaGraphAddMemFreeNode(to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, address: u64)
        [cuGraphAddMemFreeNode]
    fn cudaGraphMemFreeNodeGetParams(node: Handle, to: Out<u64>) [cuGraphMemFreeNodeGetParams]
    fn cudaGraphAddMemcpyNodeToSymbol(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, host: usize, source: u64, bytes: usize, offset: usize,
        kind: u32,
    ) {
        let volume = Volume::to_symbol(Symbol { host, offset }, source, bytes, kind)?;
        driver::cuGraphAddMemcpyNode(to, graph, before, count, In::of(&volume), of_node()?)
    }
    fn cudaGraphAddMemcpyNodeFromSymbol(
        to: Out<Handle>, graph: Handle, before: In<Handle>, count: usize, target: u64, host: usize, bytes: usize, offset: usize,
        kind: u32,
    ) {
        let volume = Volume::from_symbol(target, Symbol { host, offset }, bytes, kind)?;
        driver::cuGraphAddMemcpyNode(to, graph, before, count, In::of(&volume), of_node()?)
    }
    fn cudaGraphMemcpyNodeSetParamsToSymbol(node: Handle, host: usize, source: u64, bytes: usize, offset: usize, kind: u32) {
        let volume = Volume::to_symbol(Symbol { host, offset }, source, bytes, kind)?;
        driver::cuGraphMemcpyNodeSetParams(node, In::of(&volume))
    }
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(node: Handle, target: u64, host: usize, bytes: usize, offset: usize, kind: u32) {
        let volume = Volume::from_symbol(target, Symbol { host, offset }, bytes, kind)?;
        driver::cuGraphMemcpyNodeSetParams(node, In::of(&volume))
    }
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        graph: Handle, node: Handle, host: usize, source: u64, bytes: usize, offset: usize, kind: u32,
    ) {
        let volume = Volume::to_symbol(Symbol { host, offset }, source, bytes, kind)?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, In::of(&volume), of_node()?)
    }
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        graph: Handle, node: Handle, target: u64, host: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        let volume = Volume::from_symbol(target, Symbol { host, offset }, bytes, kind)?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, In::of(&volume), of_node()?)
    }
}
