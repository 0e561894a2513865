//! Graphs as programs make them, node by node, and launch them.

use std::sync::Arc;

use crate::arguments::{In, Out};
use crate::capture;
use crate::context::current;
use crate::copy::Planes;
use crate::event::Event;
use crate::fill;
use crate::graph::{Executable, Graph, Node};
use crate::handles::{Handle, end, keep, keep_shared, look};
use crate::launch_calls::{Described, Together};
use crate::parameters::{Each, Extra};
use crate::status::{Answer, Status};
use crate::stream;
use crate::work::{HostFunction, Work, submit};

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

impl KernelNode {
    fn work(self) -> Answer<Work> {
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
        Ok(Work::Launch(described.launch(Together::NONE)?.into()))
    }
}

impl KernelNode2 {
    fn work(self) -> Answer<Work> {
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
}

impl HostNode {
    fn work(self) -> Answer<Work> {
        let function = self.function.ok_or(Status::INVALID_VALUE)?;
        Ok(Work::Host {
            function,
            data: self.data,
        })
    }
}

/// The nodes of handles.
pub(crate) fn nodes(handles: In<Handle>, count: usize) -> Answer<Vec<Arc<Node>>> {
    handles.all(count)?.into_iter().map(look).collect()
}

/// Adds a node, and gives its handle.
fn add(to: Out<Handle>, graph: Handle, after: (In<Handle>, usize), work: Answer<Work>) -> Answer {
    to.check()?;
    let graph = look::<Graph>(graph)?;
    let after = nodes(after.0, after.1)?;
    let is_new = |at: usize| !after[..at].iter().any(|it| Arc::ptr_eq(it, &after[at]));
    if !graph.has(&after) || !(0..after.len()).all(is_new) {
        return Err(Status::INVALID_VALUE);
    }
    to.put(graph.add(work?, after).handle)
}

/// Goes through edges, of which each has both ends in the graph, until one is refused.
fn for_edges(
    graph: Handle,
    ends: (In<Handle>, In<Handle>),
    count: usize,
    mut act: impl FnMut(Arc<Node>, Arc<Node>) -> Answer,
) -> Answer {
    let graph = look::<Graph>(graph)?;
    for (from, to) in nodes(ends.0, count)?.into_iter().zip(nodes(ends.1, count)?) {
        if !graph.has(&[Arc::clone(&from), Arc::clone(&to)]) {
            return Err(Status::INVALID_VALUE);
        }
        act(from, to)?;
    }
    Ok(())
}

fn add_edges(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Answer {
    for_edges(graph, (from, to), count, |from, to| {
        if Arc::ptr_eq(&from, &to) || to.comes_after(&from) {
            return Err(Status::INVALID_VALUE);
        }
        to.add_after(from);
        Ok(())
    })
}

fn remove_edges(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Answer {
    for_edges(graph, (from, to), count, |from, to| {
        let is_removed = to.remove_after(&from);
        is_removed.then_some(()).ok_or(Status::INVALID_VALUE)
    })
}

/// Writes nodes, and that the edges to or from them are between whole nodes.
fn list_nodes(all: &[Arc<Node>], to: Out<Handle>, edges: Out<u64>, count: Out<usize>) -> Answer {
    let handles: Vec<Handle> = all.iter().map(|it| it.handle).collect();
    if edges.is_null() {
        return list(&handles, to, count);
    }
    to.check()?;
    let room = room(handles.len(), count)?;
    to.put_all(handles.into_iter().take(room))?;
    edges.put_all(std::iter::repeat_n(0, room))
}

/// Writes as many of the handles as there is room for; without a place, how many there are.
fn list(all: &[Handle], to: Out<Handle>, count: Out<usize>) -> Answer {
    if to.is_null() {
        return count.put(all.len());
    }
    let room = room(all.len(), count)?;
    to.put_all(all[..room].iter().copied())
}

/// Reads how many of so many things there is room for, and writes it. It is read once: the program may write there meanwhile.
fn room(all: usize, count: Out<usize>) -> Answer<usize> {
    let room = count.get()?.min(all);
    count.put(room)?;
    Ok(room)
}

/// The edges of a graph: from, to.
fn edges(graph: &Graph) -> Vec<(Handle, Handle)> {
    let all = graph.nodes();
    let of = |node: &Arc<Node>| {
        let to = node.handle;
        node.after()
            .into_iter()
            .map(move |from| (from.handle, to))
            .collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

fn list_edges(
    graph: Handle,
    from: Out<Handle>,
    to: Out<Handle>,
    data: Out<u64>,
    count: Out<usize>,
) -> Answer {
    let all = edges(&*look::<Graph>(graph)?);
    let (sources, targets): (Vec<Handle>, Vec<Handle>) = all.into_iter().unzip();
    if from.is_null() || to.is_null() {
        return count.put(sources.len());
    }
    let room = room(sources.len(), count)?;
    from.put_all(sources[..room].iter().copied())?;
    to.put_all(targets[..room].iter().copied())?;
    match data.is_null() {
        true => Ok(()),
        false => data.put_all(std::iter::repeat_n(0, room)),
    }
}

fn instantiate(to: Out<Handle>, graph: Handle) -> Answer {
    to.check()?;
    let graph = look::<Graph>(graph)?;
    capture::admit_unsafe()?;
    to.put(keep(graph.instantiate()?))
}

fn set_of_graph(node: Handle, work: Answer<Work>) -> Answer {
    let node = look::<Node>(node)?;
    let work = work?;
    if work.kind() != node.work().kind() {
        return Err(Status::INVALID_VALUE);
    }
    node.set_work(work);
    Ok(())
}

fn destroy(graph: Handle) -> Answer {
    capture::refuse_end(&look(graph)?)?;
    end::<Graph>(graph)?.end();
    Ok(())
}

fn launch(executable: Handle, stream: Handle) -> Answer {
    let (executable, stream) = (look::<Executable>(executable)?, stream::of(stream)?);
    submit(&stream, Work::Executable(executable))
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuGraphCreate(to: Out<Handle>, _flags: u32) {
            to.check()?;
            let graph: Arc<Graph> = Arc::default();
            to.put(graph.handle_or(|| keep_shared(Arc::clone(&graph))))
        }
        fn cuGraphDestroy(graph: Handle) { destroy(graph) }
        fn cuGraphAddKernelNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<KernelNode>) {
            add(to, graph, (after, count), node.get()?.work())
        }
        fn cuGraphAddKernelNode_v2(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<KernelNode2>) {
            add(to, graph, (after, count), node.get()?.work())
        }
        fn cuGraphAddMemcpyNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, copy: In<Planes>, _context: Handle) {
            add(to, graph, (after, count), copy.get()?.copy("a memcpy node").map(Work::Copy))
        }
        fn cuGraphAddMemsetNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, fill: In<fill::Described>, _context: Handle) {
            add(to, graph, (after, count), fill.get()?.fill().map(Work::Fill))
        }
        fn cuGraphAddHostNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, node: In<HostNode>) {
            add(to, graph, (after, count), node.get()?.work())
        }
        fn cuGraphAddEmptyNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize) {
            add(to, graph, (after, count), Ok(Work::Nothing))
        }
        fn cuGraphAddChildGraphNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, child: Handle) {
            if child == graph { return Err(Status::INVALID_VALUE) }
            let child = look::<Graph>(child)?.instantiate();
            add(to, graph, (after, count), child.map(|it| Work::Executable(Arc::new(it))))
        }
        fn cuGraphAddEventRecordNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, event: Handle) {
            add(to, graph, (after, count), look::<Event>(event).map(Work::Record))
        }
        fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) { add_edges(graph, from, to, count) }
        fn cuGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, _data: In<u64>, count: usize) { add_edges(graph, from, to, count) }
        fn cuGraphGetNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) {
            let all: Vec<Handle> = look::<Graph>(graph)?.nodes().iter().map(|it| it.handle).collect();
            list(&all, to, count)
        }
        fn cuGraphGetRootNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) {
            let nodes = look::<Graph>(graph)?.nodes();
            let roots: Vec<Handle> = nodes.iter().filter(|it| it.after().is_empty()).map(|it| it.handle).collect();
            list(&roots, to, count)
        }
        fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
            list_edges(graph, from, to, Out::null(), count)
        }
        fn cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
            list_edges(graph, from, to, data, count)
        }
        fn cuGraphNodeGetDependencies(node: Handle, to: Out<Handle>, count: Out<usize>) {
            list_nodes(&look::<Node>(node)?.after(), to, Out::null(), count)
        }
        fn cuGraphNodeGetDependencies_v2(node: Handle, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
            list_nodes(&look::<Node>(node)?.after(), to, data, count)
        }
        fn cuGraphNodeGetDependentNodes(node: Handle, to: Out<Handle>, count: Out<usize>) {
            list_nodes(&look::<Node>(node)?.dependents(), to, Out::null(), count)
        }
        fn cuGraphNodeGetDependentNodes_v2(node: Handle, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
            list_nodes(&look::<Node>(node)?.dependents(), to, data, count)
        }
        fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) { remove_edges(graph, from, to, count) }
        fn cuGraphRemoveDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, _data: In<u64>, count: usize) {
            remove_edges(graph, from, to, count)
        }
        fn cuGraphDestroyNode(node: Handle) { look::<Node>(node)?.destroy() }
        fn cuGraphClone(to: Out<Handle>, graph: Handle) {
            to.check()?;
            let clone = look::<Graph>(graph)?.copy();
            to.put(clone.handle_or(|| keep_shared(Arc::clone(&clone))))
        }
        fn cuGraphNodeFindInClone(to: Out<Handle>, node: Handle, clone: Handle) {
            to.check()?;
            look::<Node>(node)?;
            to.put(look::<Graph>(clone)?.copy_of(node).ok_or(Status::INVALID_VALUE)?)
        }
        fn cuGraphNodeGetType(node: Handle, to: Out<u32>) { to.put(look::<Node>(node)?.work().kind()) }
        fn cuGraphKernelNodeSetParams(node: Handle, it: In<KernelNode>) { set_of_graph(node, it.get()?.work()) }
        fn cuGraphKernelNodeSetParams_v2(node: Handle, it: In<KernelNode2>) { set_of_graph(node, it.get()?.work()) }
        fn cuGraphMemcpyNodeSetParams(node: Handle, copy: In<Planes>) { set_of_graph(node, copy.get()?.copy("a memcpy node").map(Work::Copy)) }
        fn cuGraphMemsetNodeSetParams(node: Handle, fill: In<fill::Described>) { set_of_graph(node, fill.get()?.fill().map(Work::Fill)) }
        fn cuGraphHostNodeSetParams(node: Handle, it: In<HostNode>) { set_of_graph(node, it.get()?.work()) }
        fn cuGraphInstantiateWithFlags(to: Out<Handle>, graph: Handle, _flags: u64) { instantiate(to, graph) }
        fn cuGraphInstantiate(to: Out<Handle>, graph: Handle, _node: In<u8>, _log: In<u8>, _bytes: usize) { instantiate(to, graph) }
        fn cuGraphInstantiate_v2(to: Out<Handle>, graph: Handle, _node: In<u8>, _log: In<u8>, _bytes: usize) { instantiate(to, graph) }
        fn cuGraphInstantiateWithParams | cuGraphInstantiateWithParams_ptsz(to: Out<Handle>, graph: Handle, parameters: Out<[u64; 4]>) {
            // Flags, stream, node of an error, result: success.
            let [flags, stream, ..] = parameters.get()?;
            instantiate(to, graph)?;
            parameters.put([flags, stream, 0, 0])
        }
        fn cuGraphExecDestroy(executable: Handle) { end::<Executable>(executable).map(drop) }
        fn cuGraphExecKernelNodeSetParams(executable: Handle, node: Handle, it: In<KernelNode>) {
            look::<Executable>(executable)?.set(node, it.get()?.work()?)
        }
        fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, it: In<KernelNode2>) {
            look::<Executable>(executable)?.set(node, it.get()?.work()?)
        }
        fn cuGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, copy: In<Planes>, _context: Handle) {
            look::<Executable>(executable)?.set(node, Work::Copy(copy.get()?.copy("a memcpy node")?))
        }
        fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, fill: In<fill::Described>, _context: Handle) {
            look::<Executable>(executable)?.set(node, Work::Fill(fill.get()?.fill()?))
        }
        fn cuGraphExecHostNodeSetParams(executable: Handle, node: Handle, it: In<HostNode>) {
            look::<Executable>(executable)?.set(node, it.get()?.work()?)
        }
        fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, to: Out<u32>) {
            to.put(look::<Executable>(executable)?.is_enabled(node)?.into())
        }
        fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32) {
            look::<Executable>(executable)?.enable(node, is_enabled != 0)
        }
        fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: Out<[u64; 3]>) {
            const TOPOLOGY: u64 = 2;
            let updated = look::<Executable>(executable)?.update(&*look::<Graph>(graph)?);
            result.put_if_asked([if updated.is_ok() { 0 } else { TOPOLOGY }, 0, 0]);
            updated
        }
        fn cuGraphUpload | cuGraphUpload_ptsz(executable: Handle, stream: Handle) {
            stream::of(stream)?;
            look::<Executable>(executable).map(drop)
        }
        fn cuGraphLaunch | cuGraphLaunch_ptsz(executable: Handle, stream: Handle) { current()?; launch(executable, stream) }
    }
}
