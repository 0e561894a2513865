//! Captures as programs begin, end and look at them.

use crate::arguments::{In, Out};
use crate::capture::{self, Known};
use crate::graph::Graph;
use crate::graph_calls::nodes;
use crate::handles::{Handle, look};
use crate::status::{Answer, Status};
use crate::stream;

/// Where a program wants to have what is known of a capture.
struct Asked {
    status: Out<u32>,
    number: Out<u64>,
    graph: Out<Handle>,
    after: Out<*const Handle>,
    edges: Out<*const u64>,
    count: Out<usize>,
}

fn info(stream: Handle, asked: Asked) -> Answer {
    let stream = stream::of(stream)?;
    let (status, number) = capture::state(&stream)?;
    asked.status.put(status)?;
    if status != capture::ACTIVE {
        return Ok(());
    }
    asked.number.put_if_asked(number);
    if let Some(Known {
        graph,
        nodes,
        edges,
        count,
    }) = capture::known(&stream)
    {
        if !asked.graph.is_null() {
            asked.graph.put(graph.known())?;
        }
        asked.after.put_if_asked(nodes);
        asked.edges.put_if_asked(edges);
        asked.count.put_if_asked(count);
    }
    Ok(())
}

fn update(stream: Handle, after: In<Handle>, edges: In<u64>, count: usize, flags: u32) -> Answer {
    let stream = stream::of(stream)?;
    of_whole_nodes(edges, count)?;
    capture::update(&stream, nodes(after, count)?, flags)
}

/// Refuses edges that begin within a kernel.
pub(crate) fn of_whole_nodes(edges: In<u64>, count: usize) -> Answer {
    match edges.is_null() || edges.all(count)?.iter().all(|it| *it == 0) {
        true => Ok(()),
        false => Err(Status::NOT_SUPPORTED),
    }
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuStreamBeginCapture_v2 | cuStreamBeginCapture_v2_ptsz(stream: Handle, mode: u32) {
            capture::begin(&*stream::of(stream)?, Graph::within(0), Vec::new(), mode)
        }
        fn cuStreamBeginCaptureToGraph | cuStreamBeginCaptureToGraph_ptsz(
            stream: Handle, graph: Handle, after: In<Handle>, edges: In<u64>, count: usize, mode: u32,
        ) {
            let stream = stream::of(stream)?;
            of_whole_nodes(edges, count)?;
            capture::begin(&stream, look(graph)?, nodes(after, count)?, mode)
        }
        fn cuStreamEndCapture | cuStreamEndCapture_ptsz(stream: Handle, to: Out<Handle>) {
            let stream = stream::of(stream)?;
            // Who captures into a graph has it already.
            if capture::graph_of(&stream).is_none_or(|it| it.handle().is_none()) { to.check()? }
            to.put_if_asked(0);
            let graph = capture::finish(&stream)?;
            to.put_if_asked(graph.known());
            Ok(())
        }
        fn cuStreamIsCapturing | cuStreamIsCapturing_ptsz(stream: Handle, status: Out<u32>) {
            status.put(capture::state(&*stream::of(stream)?)?.0)
        }
        fn cuStreamGetCaptureInfo | cuStreamGetCaptureInfo_ptsz(stream: Handle, status: Out<u32>, number: Out<u64>) {
            info(stream, Asked { status, number, graph: Out::null(), after: Out::null(), edges: Out::null(), count: Out::null() })
        }
        fn cuStreamGetCaptureInfo_v2 | cuStreamGetCaptureInfo_v2_ptsz(
            stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<*const Handle>, count: Out<usize>,
        ) {
            info(stream, Asked { status, number, graph, after, edges: Out::null(), count })
        }
        fn cuStreamGetCaptureInfo_v3 | cuStreamGetCaptureInfo_v3_ptsz(
            stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<*const Handle>,
            edges: Out<*const u64>, count: Out<usize>,
        ) {
            info(stream, Asked { status, number, graph, after, edges, count })
        }
        fn cuStreamUpdateCaptureDependencies | cuStreamUpdateCaptureDependencies_ptsz(
            stream: Handle, after: In<Handle>, count: usize, flags: u32,
        ) {
            update(stream, after, In::null(), count, flags)
        }
        fn cuStreamUpdateCaptureDependencies_v2 | cuStreamUpdateCaptureDependencies_v2_ptsz(
            stream: Handle, after: In<Handle>, edges: In<u64>, count: usize, flags: u32,
        ) {
            update(stream, after, edges, count, flags)
        }
        fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
            let before = capture::exchange_mode(mode.get()?)?;
            mode.put(before)
        }
    }
}
