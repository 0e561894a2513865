//! Nodes of graphs as programs add them, change them and look at them.

use std::sync::Arc;

use crate::arguments::{In, Out};
use crate::capture_calls::of_whole_nodes;
use crate::copy::Planes;
use crate::executable::Executable;
use crate::fill;
use crate::graph::{Graph, Node};
use crate::graph_calls::nodes;
use crate::graph_memory;
use crate::handles::{Handle, look};
use crate::launch_calls::Value;
use crate::node_parameters::{
    AllocationNode, AnyNode, HostNode, KernelNode, KernelNode2, allocation, awaited, child, copy,
    fill, recorded,
};
use crate::status::{Answer, Status};
use crate::work::Work;

/// Adds a node, and gives its handle.
fn add(
    to: Out<Handle>,
    graph: Handle,
    after: (In<Handle>, usize),
    work: impl FnOnce(&Graph) -> Answer<Work>,
) -> Answer {
    to.check()?;
    let graph = look::<Graph>(graph)?;
    let after = nodes(after.0, after.1)?;
    let is_new = |at: usize| !after[..at].iter().any(|it| Arc::ptr_eq(it, &after[at]));
    if !graph.has(&after) || !(0..after.len()).all(is_new) {
        return Err(Status::INVALID_VALUE);
    }
    to.put(graph.add(work(&graph)?, after)?.handle)
}

/// Sets what a node of an executable graph does.
fn set(executable: Handle, node: Handle, work: impl FnOnce() -> Answer<Work>) -> Answer {
    look::<Executable>(executable)?.set(node, work()?)
}

/// Gives the event of a node.
fn event(node: Handle, to: Out<Handle>, is_meant: impl Fn(&Work) -> bool) -> Answer {
    let work = look::<Node>(node)?.work();
    match &work {
        Work::Await(event) | Work::Record(event) if is_meant(&work) => to.put(event.handle),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Gives the graph that a node is, which stays the node's.
fn graph_of(node: Handle) -> Answer<Arc<Graph>> {
    match look::<Node>(node)?.work() {
        Work::Graph(graph) => Ok(graph),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Has a node do what a description says.
fn set_any(node: Handle, at: Out<AnyNode>) -> Answer {
    let node = look::<Node>(node)?;
    let graph = node.graph().ok_or(Status::INVALID_VALUE)?;
    node.set_work(AnyNode::changeable(at, &graph)?)
}

fn set_any_executed(executable: Handle, node: Handle, at: Out<AnyNode>) -> Answer {
    let executable = look::<Executable>(executable)?;
    match AnyNode::changeable(at, &Graph::within(0))? {
        Work::Graph(graph) => executable.set_child(node, &graph),
        work => executable.set(node, work),
    }
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuGraphAddNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: Out<AnyNode>) {
            add(to, graph, (after, count), |it| AnyNode::work(node, it))
        }
        fn cuGraphAddNode_v2(to: Out<Handle>, graph: Handle, after: In<Handle>, edges: In<u64>, count: usize, node: Out<AnyNode>) {
            of_whole_nodes(edges, count)?;
            add(to, graph, (after, count), |it| AnyNode::work(node, it))
        }
        fn cuGraphNodeSetParams(node: Handle, to: Out<AnyNode>) { set_any(node, to) }
        fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, to: Out<AnyNode>) { set_any_executed(executable, node, to) }

        fn cuGraphAddKernelNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<KernelNode>) {
            add(to, graph, (after, count), |_| node.get()?.work())
        }
        fn cuGraphAddKernelNode_v2(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<KernelNode2>) {
            add(to, graph, (after, count), |_| node.get()?.work())
        }
        fn cuGraphKernelNodeGetParams(node: Handle, to: Out<KernelNode>) { to.put(KernelNode::of(&*look(node)?)?) }
        fn cuGraphKernelNodeGetParams_v2(node: Handle, to: Out<KernelNode2>) { to.put(KernelNode2::of(&*look(node)?)?) }
        fn cuGraphKernelNodeSetParams(node: Handle, to: In<KernelNode>) { look::<Node>(node)?.set_work(to.get()?.work()?) }
        fn cuGraphKernelNodeSetParams_v2(node: Handle, to: In<KernelNode2>) { look::<Node>(node)?.set_work(to.get()?.work()?) }
        fn cuGraphExecKernelNodeSetParams(executable: Handle, node: Handle, to: In<KernelNode>) {
            set(executable, node, || to.get()?.work())
        }
        fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, to: In<KernelNode2>) {
            set(executable, node, || to.get()?.work())
        }
        fn cuGraphKernelNodeSetAttribute(node: Handle, id: u32, value: In<u8>) { look::<Node>(node)?.set_attribute(id, Value::read(id, value)?) }
        fn cuGraphKernelNodeGetAttribute(node: Handle, id: u32, to: Out<u8>) { look::<Node>(node)?.attribute(id)?.write(to) }
        fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) { look::<Node>(to)?.copy_attributes(&*look(from)?) }

        fn cuGraphAddMemcpyNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, planes: In<Planes>, _context: Handle) {
            add(to, graph, (after, count), |_| copy(planes.get()?))
        }
        fn cuGraphMemcpyNodeGetParams(node: Handle, to: Out<Planes>) {
            match look::<Node>(node)?.work() { Work::Copy(copy) => to.put(copy.described()), _ => Err(Status::INVALID_VALUE) }
        }
        fn cuGraphMemcpyNodeSetParams(node: Handle, to: In<Planes>) { look::<Node>(node)?.set_work(copy(to.get()?)?) }
        fn cuGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, to: In<Planes>, _context: Handle) {
            set(executable, node, || copy(to.get()?))
        }

        fn cuGraphAddMemsetNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, it: In<fill::Described>, _context: Handle) {
            add(to, graph, (after, count), |_| fill(it.get()?))
        }
        fn cuGraphMemsetNodeGetParams(node: Handle, to: Out<fill::Described>) {
            match look::<Node>(node)?.work() { Work::Fill(fill) => to.put(fill.described()), _ => Err(Status::INVALID_VALUE) }
        }
        fn cuGraphMemsetNodeSetParams(node: Handle, to: In<fill::Described>) { look::<Node>(node)?.set_work(fill(to.get()?)?) }
        fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, to: In<fill::Described>, _context: Handle) {
            set(executable, node, || fill(to.get()?))
        }

        fn cuGraphAddHostNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<HostNode>) {
            add(to, graph, (after, count), |_| node.get()?.work())
        }
        fn cuGraphHostNodeGetParams(node: Handle, to: Out<HostNode>) { to.put(HostNode::of(&*look(node)?)?) }
        fn cuGraphHostNodeSetParams(node: Handle, to: In<HostNode>) { look::<Node>(node)?.set_work(to.get()?.work()?) }
        fn cuGraphExecHostNodeSetParams(executable: Handle, node: Handle, to: In<HostNode>) {
            set(executable, node, || to.get()?.work())
        }

        fn cuGraphAddEmptyNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize) {
            add(to, graph, (after, count), |_| Ok(Work::Nothing))
        }
        fn cuGraphAddChildGraphNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, of: Handle) {
            add(to, graph, (after, count), |it| child(it, of))
        }
        fn cuGraphChildGraphNodeGetGraph(node: Handle, to: Out<Handle>) { to.put(graph_of(node)?.known()) }
        fn cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, of: Handle) {
            look::<Executable>(executable)?.set_child(node, &*look(of)?)
        }

        fn cuGraphAddEventRecordNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, of: Handle) {
            add(to, graph, (after, count), |_| recorded(of))
        }
        fn cuGraphEventRecordNodeGetEvent(node: Handle, to: Out<Handle>) { event(node, to, |it| matches!(it, Work::Record(_))) }
        fn cuGraphEventRecordNodeSetEvent(node: Handle, of: Handle) { look::<Node>(node)?.set_work(recorded(of)?) }
        fn cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, of: Handle) { set(executable, node, || recorded(of)) }
        fn cuGraphAddEventWaitNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, of: Handle) {
            add(to, graph, (after, count), |_| awaited(of))
        }
        fn cuGraphEventWaitNodeGetEvent(node: Handle, to: Out<Handle>) { event(node, to, |it| matches!(it, Work::Await(_))) }
        fn cuGraphEventWaitNodeSetEvent(node: Handle, of: Handle) { look::<Node>(node)?.set_work(awaited(of)?) }
        fn cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, of: Handle) { set(executable, node, || awaited(of)) }

        fn cuGraphAddMemAllocNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: Out<AllocationNode>) {
            add(to, graph, (after, count), |_| allocation(node))
        }
        fn cuGraphMemAllocNodeGetParams(node: Handle, to: Out<AllocationNode>) { to.put(AllocationNode::of(&*look(node)?)?) }
        fn cuGraphAddMemFreeNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, address: u64) {
            add(to, graph, (after, count), |it| graph_memory::freed_in(it, address))
        }
        fn cuGraphMemFreeNodeGetParams(node: Handle, to: Out<u64>) {
            match look::<Node>(node)?.work() { Work::Release(memory) => to.put(memory.start()), _ => Err(Status::INVALID_VALUE) }
        }
    }
}
