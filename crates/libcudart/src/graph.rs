//! Graphs.

use crate::absent;
use crate::arguments::{Dim3, In, Out};
use crate::copy::{Parameters, Volume};
use crate::device::context;
use crate::driver::{self, Handle};
use crate::inside;
use crate::program::function;
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
#[derive(Clone, Copy)]
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
fn of_node() -> Answer<Handle> {
    context()?;
    let mut current = 0;
    driver::cuCtxGetCurrent(Out::of(&mut current))?;
    Ok(current)
}

fn instantiate(to: Out<Handle>, graph: Handle, flags: u64) -> Answer {
    context()?;
    driver::cuGraphInstantiateWithFlags(to, graph, flags)
}

runtime! {
    fn cudaGraphCreate(to: Out<Handle>, flags: u32) [cuGraphCreate]
    fn cudaGraphDestroy(graph: Handle) [cuGraphDestroy]
    // Before CUDA 12 the third argument was a place for the node that is in error.
    fn cudaGraphInstantiate(to: Out<Handle>, graph: Handle, flags: u64) {
        instantiate(to, graph, if inside::major() >= 12 { flags } else { 0 })
    }
    fn cudaGraphInstantiateWithFlags(to: Out<Handle>, graph: Handle, flags: u64) { instantiate(to, graph, flags) }
    fn cudaGraphExecDestroy(graph: Handle) [cuGraphExecDestroy]
    fn cudaGraphLaunch | cudaGraphLaunch_ptsz(graph: Handle, stream: Handle) [cuGraphLaunch]
    fn cudaGraphUpload | cudaGraphUpload_ptsz(graph: Handle, stream: Handle) [cuGraphUpload]
    fn cudaGraphGetNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) [cuGraphGetNodes]
    fn cudaGraphGetRootNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) [cuGraphGetRootNodes]
    fn cudaGraphNodeGetType(node: Handle, to: Out<u32>) [cuGraphNodeGetType]
    // With a fourth list, of what the edges carry, since CUDA 13.
    fn cudaGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, fourth: usize, fifth: usize) {
        context()?;
        let count = if inside::major() >= 13 { fifth } else { fourth };
        driver::cuGraphAddDependencies(graph, from, to, count)
    }
    fn cudaGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, edges: In<u64>, count: usize)
        [cuGraphAddDependencies_v2]
    fn cudaGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, fourth: usize, fifth: usize) {
        context()?;
        let count = if inside::major() >= 13 { fifth } else { fourth };
        driver::cuGraphRemoveDependencies(graph, from, to, count)
    }
    fn cudaGraphRemoveDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, edges: In<u64>, count: usize)
        [cuGraphRemoveDependencies_v2]
    // With a place for what the edges carry in front of the last, since CUDA 13; so are the next two.
    fn cudaGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, fourth: usize, fifth: usize) {
        context()?;
        match inside::major() {
            13.. => driver::cuGraphGetEdges_v2(graph, from, to, Out::at(fourth), Out::at(fifth)),
            _ => driver::cuGraphGetEdges(graph, from, to, Out::at(fourth)),
        }
    }
    fn cudaGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, edges: Out<u64>, count: Out<usize>)
        [cuGraphGetEdges_v2]
    fn cudaGraphNodeGetDependencies(node: Handle, to: Out<Handle>, third: usize, fourth: usize) {
        context()?;
        match inside::major() {
            13.. => driver::cuGraphNodeGetDependencies_v2(node, to, Out::at(third), Out::at(fourth)),
            _ => driver::cuGraphNodeGetDependencies(node, to, Out::at(third)),
        }
    }
    fn cudaGraphNodeGetDependencies_v2(node: Handle, to: Out<Handle>, edges: Out<u64>, count: Out<usize>)
        [cuGraphNodeGetDependencies_v2]
    fn cudaGraphNodeGetDependentNodes(node: Handle, to: Out<Handle>, third: usize, fourth: usize) {
        context()?;
        match inside::major() {
            13.. => driver::cuGraphNodeGetDependentNodes_v2(node, to, Out::at(third), Out::at(fourth)),
            _ => driver::cuGraphNodeGetDependentNodes(node, to, Out::at(third)),
        }
    }
    fn cudaGraphNodeGetDependentNodes_v2(node: Handle, to: Out<Handle>, edges: Out<u64>, count: Out<usize>)
        [cuGraphNodeGetDependentNodes_v2]
    fn cudaGraphDestroyNode(node: Handle) [cuGraphDestroyNode]
    fn cudaGraphClone(to: Out<Handle>, graph: Handle) [cuGraphClone]
    fn cudaGraphNodeFindInClone(to: Out<Handle>, node: Handle, clone: Handle) [cuGraphNodeFindInClone]
    fn cudaGraphNodeGetEnabled(graph: Handle, node: Handle, to: Out<u32>) [cuGraphNodeGetEnabled]
    fn cudaGraphNodeSetEnabled(graph: Handle, node: Handle, is_enabled: u32) [cuGraphNodeSetEnabled]
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
    fn cudaGraphInstantiateWithParams | cudaGraphInstantiateWithParams_ptsz(
        to: Out<Handle>, graph: Handle, how: Out<[u64; 4]>,
    )
        [cuGraphInstantiateWithParams]
    // Before CUDA 12 the third argument was a place for a node, and a fourth for the result.
    fn cudaGraphExecUpdate(graph: Handle, from: Handle, result: Out<[u64; 3]>) {
        context()?;
        match inside::major() {
            12.. => driver::cuGraphExecUpdate_v2(graph, from, result),
            _ => absent::refuse("cudaGraphExecUpdate of CUDA 11"),
        }
    }
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
}
