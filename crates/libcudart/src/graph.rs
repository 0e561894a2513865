//! Graphs.

use crate::arguments::{In, Out, Text};
use crate::device::context;
use crate::driver::{self, Handle};
use crate::graph_node::of_node;
use crate::inside;
use crate::status::Answer;

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
    fn cudaGraphInstantiateWithParams | cudaGraphInstantiateWithParams_ptsz(
        to: Out<Handle>, graph: Handle, how: Out<[u64; 4]>,
    )
        [cuGraphInstantiateWithParams]
    // Before CUDA 12 the third argument was a place for a node, and a fourth for the result.
    fn cudaGraphExecUpdate(graph: Handle, from: Handle, third: usize, fourth: usize) {
        context()?;
        match inside::major() {
            12.. => driver::cuGraphExecUpdate_v2(graph, from, Out::at(third)),
            _ => driver::cuGraphExecUpdate(graph, from, Out::at(third), Out::at(fourth)),
        }
    }
    fn cudaGraphExecGetFlags(graph: Handle, to: Out<u64>) [cuGraphExecGetFlags]
    fn cudaGraphDebugDotPrint(graph: Handle, path: Text, flags: u32) [cuGraphDebugDotPrint]
    fn cudaGraphConditionalHandleCreate(to: Out<u64>, graph: Handle, first: u32, flags: u32) {
        driver::cuGraphConditionalHandleCreate(to, graph, of_node()?, first, flags)
    }
    fn cudaDeviceGetGraphMemAttribute(device: i32, which: u32, to: Out<u64>) [cuDeviceGetGraphMemAttribute]
    fn cudaDeviceSetGraphMemAttribute(device: i32, which: u32, value: Out<u64>) [cuDeviceSetGraphMemAttribute]
    fn cudaDeviceGraphMemTrim(device: i32) [cuDeviceGraphMemTrim]
    fn cudaUserObjectCreate(to: Out<Handle>, object: usize, function: usize, count: u32, flags: u32) [cuUserObjectCreate]
    fn cudaUserObjectRetain(object: Handle, count: u32) [cuUserObjectRetain]
    fn cudaUserObjectRelease(object: Handle, count: u32) [cuUserObjectRelease]
    fn cudaGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) [cuGraphRetainUserObject]
    fn cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) [cuGraphReleaseUserObject]
}
