//! Graphs as programs make them, node by node, and launch them.

use std::sync::Arc;

use crate::arguments::{In, Out, Text};
use crate::capture;
use crate::context::current;
use crate::dot;
use crate::executable::Executable;
use crate::graph::{Graph, Node};
use crate::handles::{Handle, end, keep, look};
use crate::status::{Answer, Status};
use crate::stream;
use crate::work::{Work, submit};

/// The nodes of handles.
pub(crate) fn nodes(handles: In<Handle>, count: usize) -> Answer<Vec<Arc<Node>>> {
    handles.all(count)?.into_iter().map(look).collect()
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

/// # Errors
/// One is none, or the graph allocates memory.
fn remove_edges(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Answer {
    if look::<Graph>(graph)?.has_memory() {
        return Err(Status::NOT_SUPPORTED);
    }
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

fn instantiate(to: Out<Handle>, graph: Handle, flags: u64) -> Answer {
    to.check()?;
    let graph = look::<Graph>(graph)?;
    capture::admit_unsafe()?;
    to.put(keep(Executable::new(&graph, flags)?))
}

/// Takes over what another graph does, and says why not.
fn update(executable: Handle, graph: Handle, result: impl FnOnce(u32)) -> Answer {
    /// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`
    const TOPOLOGY: u32 = 2;
    let updated = look::<Executable>(executable)?.update(&*look::<Graph>(graph)?);
    result(if updated.is_ok() { 0 } else { TOPOLOGY });
    updated
}

fn destroy(graph: Handle) -> Answer {
    let own = look::<Graph>(graph)?;
    capture::refuse_end(&own)?;
    // One that is a node of another ends with that.
    if own.level() > 0 {
        return Err(Status::INVALID_VALUE);
    }
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
            to.put(Graph::within(0).known())
        }
        fn cuGraphDestroy(graph: Handle) { destroy(graph) }
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
            to.put(look::<Graph>(graph)?.copy_to(0, false)?.known())
        }
        fn cuGraphNodeFindInClone(to: Out<Handle>, node: Handle, clone: Handle) {
            to.check()?;
            look::<Node>(node)?;
            to.put(look::<Graph>(clone)?.copy_of(node).ok_or(Status::INVALID_VALUE)?)
        }
        fn cuGraphNodeGetType(node: Handle, to: Out<u32>) { to.put(look::<Node>(node)?.work().kind()) }
        fn cuGraphInstantiateWithFlags(to: Out<Handle>, graph: Handle, flags: u64) { instantiate(to, graph, flags) }
        fn cuGraphInstantiate(to: Out<Handle>, graph: Handle, _node: In<u8>, _log: In<u8>, _bytes: usize) { instantiate(to, graph, 0) }
        fn cuGraphInstantiate_v2(to: Out<Handle>, graph: Handle, _node: In<u8>, _log: In<u8>, _bytes: usize) { instantiate(to, graph, 0) }
        fn cuGraphInstantiateWithParams | cuGraphInstantiateWithParams_ptsz(to: Out<Handle>, graph: Handle, parameters: Out<[u64; 4]>) {
            // Flags, stream, node of an error, result: success.
            let [flags, stream, ..] = parameters.get()?;
            instantiate(to, graph, flags)?;
            parameters.put([flags, stream, 0, 0])
        }
        fn cuGraphExecDestroy(executable: Handle) { end::<Executable>(executable).map(drop) }
        fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, to: Out<u32>) {
            to.put(look::<Executable>(executable)?.is_enabled(node)?.into())
        }
        fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32) {
            look::<Executable>(executable)?.enable(node, is_enabled != 0)
        }
        fn cuGraphExecUpdate(executable: Handle, graph: Handle, node: Out<Handle>, result: Out<u32>) {
            update(executable, graph, |it| { node.put_if_asked(0); result.put_if_asked(it) })
        }
        fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: Out<[u64; 3]>) {
            update(executable, graph, |it| result.put_if_asked([it.into(), 0, 0]))
        }
        fn cuGraphExecGetFlags(executable: Handle, to: Out<u64>) { to.put(look::<Executable>(executable)?.flags) }
        fn cuGraphDebugDotPrint(graph: Handle, path: Text, _flags: u32) { dot::write(&*look::<Graph>(graph)?, &path.get()?) }
        fn cuGraphUpload | cuGraphUpload_ptsz(executable: Handle, stream: Handle) {
            stream::of(stream)?;
            look::<Executable>(executable).map(drop)
        }
        fn cuGraphLaunch | cuGraphLaunch_ptsz(executable: Handle, stream: Handle) { current()?; launch(executable, stream) }
    }
}
