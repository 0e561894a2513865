//! Streams that capture: what is put into them becomes nodes of a graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::given_or_current;
use crate::event::Place;
use crate::graph::{Graph, Node};
use crate::handles::{Handle, keep_shared, lock};
use crate::status::{Answer, Status};
use crate::stream::{self, Stream};
use crate::work::Work;

/// The capture of a stream.
#[derive(Clone)]
pub(crate) struct Capturing {
    graph: Arc<Graph>,
    /// Whether the capture began in this stream, and not in one that it waits for.
    is_origin: bool,
    /// The nodes that the next one comes after.
    last: Vec<Arc<Node>>,
    number: u64,
}

/// `CU_STREAM_CAPTURE_STATUS_ACTIVE`
const ACTIVE: u32 = 1;

/// Adds work to the graph of a stream that captures; gives it back where the stream does not.
pub(crate) fn add(stream: &Stream, work: Work) -> Result<(), Work> {
    let mut capturing = lock(&stream.capturing);
    let Some(capturing) = &mut *capturing else {
        return Err(work);
    };
    let node = capturing.graph.add(work.of_node(), capturing.last.clone());
    capturing.last = vec![node];
    Ok(())
}

/// Where an event lies that is recorded in a stream that captures.
pub(crate) fn place_in(stream: &Stream) -> Option<Place> {
    let capturing = lock(&stream.capturing).clone()?;
    Some(Place::Graph {
        graph: capturing.graph,
        after: capturing.last,
    })
}

/// A stream waits for an event of a capture, and so takes part in it.
pub(crate) fn join(stream: &Stream, graph: Arc<Graph>, after: Vec<Arc<Node>>) -> Answer {
    let mut own = lock(&stream.capturing);
    match &mut *own {
        Some(own) if !Arc::ptr_eq(&own.graph, &graph) => return Err(Status::STREAM_CAPTURE_MERGE),
        Some(own) => {
            let is_new = |node: &Arc<Node>| !own.last.iter().any(|it| Arc::ptr_eq(it, node));
            let new: Vec<_> = after.into_iter().filter(is_new).collect();
            own.last.extend(new);
        }
        none => {
            let number = next_number();
            *none = Some(Capturing {
                graph,
                is_origin: false,
                last: after,
                number,
            });
        }
    }
    Ok(())
}

fn next_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

fn begin(stream: &Stream, graph: Arc<Graph>) -> Answer {
    if stream.is_default() {
        return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    let mut own = lock(&stream.capturing);
    if own.is_some() {
        return Err(Status::ILLEGAL_STATE);
    }
    let (last, number) = (Vec::new(), next_number());
    *own = Some(Capturing {
        graph,
        is_origin: true,
        last,
        number,
    });
    Ok(())
}

fn finish(stream: &Stream) -> Answer<Arc<Graph>> {
    let mut own = lock(&stream.capturing);
    match &*own {
        None => return Err(Status::ILLEGAL_STATE),
        Some(own) if !own.is_origin => return Err(Status::STREAM_CAPTURE_UNMATCHED),
        Some(_) => {}
    }
    let Some(ended) = own.take() else {
        return Err(Status::ILLEGAL_STATE);
    };
    drop(own);
    // Those that took part go on as they were.
    for other in given_or_current(stream.context)?.streams.all() {
        let mut capturing = lock(&other.capturing);
        if capturing
            .as_ref()
            .is_some_and(|it| Arc::ptr_eq(&it.graph, &ended.graph))
        {
            *capturing = None;
        }
    }
    Ok(ended.graph)
}

fn number_of(stream: &Stream) -> Option<u64> {
    lock(&stream.capturing).as_ref().map(|it| it.number)
}

pub(crate) mod calls {
    use std::ffi::c_void;

    use super::*;
    use crate::arguments::{In, Out};
    use crate::handles::look;

    /// Status and number of a capture; its graph and nodes are not told, for they are still to come.
    fn info(stream: Handle, status: Out<u32>, number: Out<u64>) -> Answer {
        let found = number_of(&*stream::of(stream)?);
        status.put(if found.is_some() { ACTIVE } else { 0 })?;
        number.put_if_asked(found.unwrap_or(0));
        Ok(())
    }

    driver! {
        fn cuStreamBeginCapture_v2 | cuStreamBeginCapture_v2_ptsz(stream: Handle, _mode: u32) {
            begin(&*stream::of(stream)?, Arc::default())
        }
        fn cuStreamBeginCaptureToGraph | cuStreamBeginCaptureToGraph_ptsz(
            stream: Handle, graph: Handle, _after: In<Handle>, _edges: In<u64>, count: usize, _mode: u32,
        ) {
            // Nodes that are there already would come first.
            if count != 0 { return Err(Status::NOT_SUPPORTED) }
            begin(&*stream::of(stream)?, look(graph)?)
        }
        fn cuStreamEndCapture | cuStreamEndCapture_ptsz(stream: Handle, to: Out<Handle>) {
            to.check()?;
            let graph = finish(&*stream::of(stream)?)?;
            to.put(graph.handle_or(|| keep_shared(Arc::clone(&graph))))
        }
        fn cuStreamIsCapturing | cuStreamIsCapturing_ptsz(stream: Handle, status: Out<u32>) {
            let is_active = number_of(&*stream::of(stream)?).is_some();
            status.put(if is_active { ACTIVE } else { 0 })
        }
        fn cuStreamGetCaptureInfo | cuStreamGetCaptureInfo_ptsz(stream: Handle, status: Out<u32>, number: Out<u64>) {
            info(stream, status, number)
        }
        fn cuStreamGetCaptureInfo_v2 | cuStreamGetCaptureInfo_v2_ptsz(
            stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<*const Handle>, count: Out<usize>,
        ) {
            if (!graph.is_null() || !after.is_null()) && number_of(&*stream::of(stream)?).is_some() {
                return Err(Status::NOT_SUPPORTED)
            }
            count.put_if_asked(0);
            info(stream, status, number)
        }
        fn cuStreamGetCaptureInfo_v3 | cuStreamGetCaptureInfo_v3_ptsz(
            stream: Handle, status: Out<u32>, number: Out<u64>, graph: Out<Handle>, after: Out<*const Handle>,
            _edges: Out<*const c_void>, count: Out<usize>,
        ) {
            if (!graph.is_null() || !after.is_null()) && number_of(&*stream::of(stream)?).is_some() {
                return Err(Status::NOT_SUPPORTED)
            }
            count.put_if_asked(0);
            info(stream, status, number)
        }
        fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
            // The emulator makes no call that a capture of another thread must forbid.
            mode.put(0)
        }
    }
}
