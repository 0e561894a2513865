//! Streams that capture: what is put into them becomes nodes of a graph.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, ThreadId};

use crate::graph::{Graph, Node};
use crate::handles::{Handle, end, lock};
use crate::status::{Answer, Status};
use crate::stream::Stream;
use crate::work::Work;

/// A capture, which the stream in which it began shares with those that have joined it.
pub(crate) struct Session {
    graph: Arc<Graph>,
    number: u64,
    mode: u32,
    thread: ThreadId,
    /// Whether a call was refused in it: it has no graph any more.
    is_invalid: AtomicBool,
    /// The nodes that it has added to the graph, and those that each came after then: the program may change edges.
    added: Mutex<HashMap<Handle, Vec<Handle>>>,
    /// The streams that have joined it; none when it has ended.
    joined: Mutex<Option<Vec<Weak<Stream>>>>,
    /// Nodes that the program has told that nothing needs to come after.
    left_out: Mutex<Vec<Arc<Node>>>,
}

/// The part of a stream in a capture.
pub(crate) struct Capturing {
    session: Arc<Session>,
    /// Whether the capture began in this stream, and not in one that it waits for.
    is_origin: bool,
    /// The nodes that the next one comes after.
    last: Vec<Arc<Node>>,
    /// The answer to a program that has asked for those nodes.
    told: Told,
}

/// Nodes, and an edge from each to the next one, where a program reads them until its next call.
#[derive(Default)]
struct Told {
    nodes: Vec<Handle>,
    edges: Vec<u64>,
}

/// A place in a capture, behind nodes.
#[derive(Clone)]
pub(crate) struct Place {
    session: Weak<Session>,
    /// Nodes of its graph, one of which may hold the event that was recorded here.
    after: Vec<Weak<Node>>,
}

/// `CUstreamCaptureStatus`
const NONE: u32 = 0;
pub(crate) const ACTIVE: u32 = 1;
const INVALIDATED: u32 = 2;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL` and `CU_STREAM_CAPTURE_MODE_RELAXED`, the first and the last mode.
const GLOBAL: u32 = 0;
const RELAXED: u32 = 2;

/// `CU_STREAM_ADD_CAPTURE_DEPENDENCIES` and `CU_STREAM_SET_CAPTURE_DEPENDENCIES`
const ADD: u32 = 0;
const SET: u32 = 1;

/// How many captures there are: where none is, no stream is looked at.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The captures that have begun in a stream, and may have ended.
static SESSIONS: Mutex<Vec<Weak<Session>>> = Mutex::new(Vec::new());

thread_local! {
    /// Which captures forbid this thread's calls that CUDA takes for unsafe in them.
    static MODE: Cell<u32> = const { Cell::new(GLOBAL) };
}

impl Session {
    fn begin(graph: Arc<Graph>, mode: u32) -> Arc<Session> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        COUNT.fetch_add(1, Ordering::AcqRel);
        let session = Arc::new(Session {
            graph,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            mode,
            thread: thread::current().id(),
            is_invalid: AtomicBool::new(false),
            added: Mutex::default(),
            joined: Mutex::new(Some(Vec::new())),
            left_out: Mutex::default(),
        });
        let mut sessions = lock(&SESSIONS);
        sessions.retain(|it| it.strong_count() > 0);
        sessions.push(Arc::downgrade(&session));
        session
    }

    fn invalidate(&self) {
        self.is_invalid.store(true, Ordering::Release);
    }

    fn is_invalid(&self) -> bool {
        self.is_invalid.load(Ordering::Acquire)
    }

    fn has_ended(&self) -> bool {
        lock(&self.joined).is_none()
    }

    /// The streams that have joined it go on as they were.
    fn end(&self) {
        let joined = lock(&self.joined).take().unwrap_or_default();
        for stream in joined.iter().filter_map(Weak::upgrade) {
            *lock(&stream.capturing) = None;
        }
    }

    /// Whether it forbids calls that are unsafe in a capture to a thread: one that is not relaxed does to its own, and a
    /// global one to each whose mode is global.
    fn forbids(&self, thread: ThreadId, mode: u32) -> bool {
        let to_all = self.mode == GLOBAL && mode == GLOBAL;
        self.mode != RELAXED && mode != RELAXED && (to_all || self.thread == thread)
    }

    /// Ends the graph, one that the program has made too.
    fn end_graph(&self) {
        if let Some(handle) = self.graph.handle() {
            let _ = end::<Graph>(handle);
        }
        self.graph.end();
    }

    /// Whether all that was captured comes before the end of the stream in which the capture began, but for what was left out.
    fn is_joined(&self, last: Vec<Arc<Node>>) -> bool {
        let added = lock(&self.added);
        let mut before: HashSet<Handle> = HashSet::new();
        let mut left = handles(&last);
        left.extend(handles(&lock(&self.left_out)));
        while let Some(node) = left.pop() {
            if before.insert(node) {
                left.extend(added.get(&node).into_iter().flatten());
            }
        }
        added.keys().all(|it| before.contains(it))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::AcqRel);
    }
}

fn handles(nodes: &[Arc<Node>]) -> Vec<Handle> {
    nodes.iter().map(|it| it.handle).collect()
}

fn session_of(stream: &Stream) -> Option<Arc<Session>> {
    lock(&stream.capturing)
        .as_ref()
        .map(|it| Arc::clone(&it.session))
}

/// The captures that a stream would take part in unasked: of the legacy default stream those of blocking streams.
fn implied(stream: &Stream) -> Vec<Arc<Session>> {
    match COUNT.load(Ordering::Acquire) {
        0 => Vec::new(),
        _ => stream
            .bound()
            .iter()
            .filter_map(|it| session_of(it))
            .collect(),
    }
}

/// Refuses the legacy default stream while a blocking stream of its context captures.
pub(crate) fn admit(stream: &Stream) -> Answer {
    let implied = implied(stream);
    implied.iter().for_each(|it| it.invalidate());
    match implied.is_empty() {
        true => Ok(()),
        false => Err(Status::STREAM_CAPTURE_IMPLICIT),
    }
}

/// Sets which captures forbid this thread's unsafe calls, and returns what was set.
pub(crate) fn exchange_mode(new: u32) -> Answer<u32> {
    match new {
        GLOBAL..=RELAXED => Ok(MODE.replace(new)),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Refuses to end a graph that something is captured into, or a node of it.
pub(crate) fn refuse_end(graph: &Arc<Graph>) -> Answer {
    let sessions: Vec<_> = lock(&SESSIONS).iter().filter_map(Weak::upgrade).collect();
    let is_into = |it: &Arc<Session>| Arc::ptr_eq(&it.graph, graph) && !it.has_ended();
    match sessions.iter().any(is_into) {
        true => Err(Status::ILLEGAL_STATE),
        false => Ok(()),
    }
}

/// Refuses a call that CUDA takes for unsafe while something is captured, as an H200 with driver 580 does: memory is
/// allocated or freed, a graph or a limit is set up, or the host waits for work or asks after it. The captures that forbid it
/// are invalid from then on.
pub(crate) fn admit_unsafe() -> Answer {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let (thread, mode) = (thread::current().id(), MODE.get());
    let sessions: Vec<_> = lock(&SESSIONS).iter().filter_map(Weak::upgrade).collect();
    let mut answer = Ok(());
    for session in sessions {
        if session.forbids(thread, mode) && !session.has_ended() {
            session.invalidate();
            answer = Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
    }
    answer
}

/// Refuses work of a stream whose capture is invalid, besides.
///
/// # Errors
/// As [`admit`], or the capture is invalid.
pub(crate) fn admit_work(stream: &Stream) -> Answer {
    admit(stream)?;
    match session_of(stream).is_some_and(|it| it.is_invalid()) {
        true => Err(Status::STREAM_CAPTURE_INVALIDATED),
        false => Ok(()),
    }
}

/// Refuses something that a stream cannot do while it captures; its capture is invalid from then on.
pub(crate) fn refuse(stream: &Stream, status: Status) -> Answer {
    match session_of(stream) {
        None => Ok(()),
        Some(session) => {
            session.invalidate();
            Err(status)
        }
    }
}

/// Passes an answer to a call on: where it refuses work of a stream that captures, the capture is invalid from then on.
pub(crate) fn noted<T>(stream: &Stream, answer: Answer<T>) -> Answer<T> {
    if let (Err(_), Some(session)) = (&answer, session_of(stream)) {
        session.invalidate();
    }
    answer
}

/// Adds work to the graph of a stream that captures; gives it back where the stream does not.
///
/// # Errors
/// As [`admit_work`].
pub(crate) fn add(stream: &Stream, work: Work) -> Answer<Option<Work>> {
    admit_work(stream)?;
    let mut capturing = lock(&stream.capturing);
    let Some(Capturing { session, last, .. }) = &mut *capturing else {
        return Ok(Some(work));
    };
    let work = work.of_node(&session.graph);
    let added = work.and_then(|it| session.graph.add(it, last.clone()));
    let node = added.inspect_err(|_| session.invalidate())?;
    lock(&session.added).insert(node.handle, handles(last));
    *last = vec![node];
    Ok(None)
}

/// The graph of a stream's capture.
pub(crate) fn graph_of(stream: &Stream) -> Option<Arc<Graph>> {
    session_of(stream).map(|it| Arc::clone(&it.graph))
}

/// Returns where an event lies that is recorded in a stream that captures; none where the stream does not.
///
/// # Errors
/// As [`admit_work`].
pub(crate) fn place_in(stream: &Stream) -> Answer<Option<Place>> {
    admit_work(stream)?;
    let capturing = lock(&stream.capturing);
    Ok(capturing.as_ref().map(|it| Place {
        session: Arc::downgrade(&it.session),
        after: it.last.iter().map(Arc::downgrade).collect(),
    }))
}

impl Place {
    /// The capture that it is in.
    ///
    /// # Errors
    /// That has ended or is invalid.
    fn session(&self) -> Answer<Arc<Session>> {
        let session = self.session.upgrade().filter(|it| !it.is_invalid());
        session.ok_or(Status::INVALID_VALUE)
    }

    /// A stream waits for it, and so takes part in its capture.
    ///
    /// # Errors
    /// The capture has ended or is invalid, the stream takes part in another, or it is the legacy default stream.
    pub(crate) fn join(self, stream: &Arc<Stream>) -> Answer {
        admit_work(stream)?;
        let session = noted(stream, self.session())?;
        if stream.is_default() {
            session.invalidate();
            return Err(Status::STREAM_CAPTURE_IMPLICIT);
        }
        let after = self.after.iter().filter_map(Weak::upgrade);
        let after: Vec<Arc<Node>> = after.collect();
        let mut capturing = lock(&stream.capturing);
        match &mut *capturing {
            Some(own) if !Arc::ptr_eq(&own.session, &session) => {
                own.session.invalidate();
                session.invalidate();
                Err(Status::STREAM_CAPTURE_MERGE)
            }
            Some(own) => {
                let is_new = |node: &Arc<Node>| !own.last.iter().any(|it| Arc::ptr_eq(it, node));
                let new: Vec<_> = after.into_iter().filter(is_new).collect();
                own.last.extend(new);
                Ok(())
            }
            none => {
                let mut joined = lock(&session.joined);
                let joined = joined.as_mut().ok_or(Status::INVALID_VALUE)?;
                joined.push(Arc::downgrade(stream));
                *none = Some(Capturing {
                    session: Arc::clone(&session),
                    is_origin: false,
                    last: after,
                    told: Told::default(),
                });
                Ok(())
            }
        }
    }

    /// Returns the answer to the host's waiting for it or asking after it, which makes its capture invalid.
    pub(crate) fn refuse_host(&self) -> Status {
        match self.session() {
            Err(status) => status,
            Ok(session) => {
                session.invalidate();
                Status::CAPTURED_EVENT
            }
        }
    }
}

/// Begins a capture, whose first node comes after nodes that the graph has.
pub(crate) fn begin(
    stream: &Stream,
    graph: Arc<Graph>,
    after: Vec<Arc<Node>>,
    mode: u32,
) -> Answer {
    if mode > RELAXED {
        return Err(Status::INVALID_VALUE);
    }
    if stream.is_default() {
        return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    if !graph.has(&after) {
        return Err(Status::INVALID_VALUE);
    }
    let mut capturing = lock(&stream.capturing);
    if capturing.is_some() {
        return Err(Status::ILLEGAL_STATE);
    }
    *capturing = Some(Capturing {
        session: Session::begin(graph, mode),
        is_origin: true,
        last: after,
        told: Told::default(),
    });
    Ok(())
}

/// Ends the capture that began in a stream: all that take part in it go on as they were.
///
/// # Errors
/// It did not begin there or in this thread, it is invalid, or something was captured that the stream does not wait for.
pub(crate) fn finish(stream: &Stream) -> Answer<Arc<Graph>> {
    let mut capturing = lock(&stream.capturing);
    let ended = match capturing.take() {
        None => return Err(Status::ILLEGAL_STATE),
        Some(joined) if !joined.is_origin => {
            joined.session.invalidate();
            *capturing = Some(joined);
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        Some(ended) => ended,
    };
    drop(capturing);
    let Capturing { session, last, .. } = ended;
    session.end();
    let is_elsewhere = session.mode != RELAXED && session.thread != thread::current().id();
    let status = match (session.is_invalid(), session.is_joined(last)) {
        (true, _) => Status::STREAM_CAPTURE_INVALIDATED,
        (_, false) => Status::STREAM_CAPTURE_UNJOINED,
        _ if is_elsewhere => Status::STREAM_CAPTURE_WRONG_THREAD,
        _ => return Ok(Arc::clone(&session.graph)),
    };
    session.end_graph();
    Err(status)
}

/// Ends the part of a stream that ends: the whole capture, where it began there.
pub(crate) fn leave(stream: &Stream) {
    let left = lock(&stream.capturing).take();
    if let Some(Capturing { session, .. }) = left.filter(|it| it.is_origin) {
        session.end();
        session.end_graph();
    }
}

/// Status and number of a stream's capture.
///
/// # Errors
/// It would take part in one unasked.
pub(crate) fn state(stream: &Stream) -> Answer<(u32, u64)> {
    if !implied(stream).is_empty() {
        return Err(Status::STREAM_CAPTURE_IMPLICIT);
    }
    Ok(match session_of(stream) {
        None => (NONE, 0),
        Some(it) if it.is_invalid() => (INVALIDATED, it.number),
        Some(it) => (ACTIVE, it.number),
    })
}

/// The graph of a stream's capture, and where the nodes lie that what comes next comes after, with their edges, until the next call.
/// Null where there are none.
pub(crate) struct Known {
    pub(crate) graph: Arc<Graph>,
    pub(crate) nodes: *const Handle,
    pub(crate) edges: *const u64,
    pub(crate) count: usize,
}

/// Returns what is known of a stream's capture; none where it does not capture.
pub(crate) fn known(stream: &Stream) -> Option<Known> {
    let mut capturing = lock(&stream.capturing);
    let Capturing {
        session,
        last,
        told,
        ..
    } = capturing.as_mut()?;
    told.nodes = handles(last);
    // `CUgraphEdgeData` of edges between whole nodes.
    told.edges = vec![0; last.len()];
    let (nodes, edges) = match last.is_empty() {
        true => (ptr::null(), ptr::null()),
        false => (told.nodes.as_ptr(), told.edges.as_ptr()),
    };
    Some(Known {
        graph: Arc::clone(&session.graph),
        nodes,
        edges,
        count: last.len(),
    })
}

/// Has what comes next in a stream's capture come after other nodes, besides or in place of those that it would come after.
///
/// # Errors
/// The stream does not capture, its capture is invalid, or its graph has no such nodes.
pub(crate) fn update(stream: &Stream, nodes: Vec<Arc<Node>>, flags: u32) -> Answer {
    let mut capturing = lock(&stream.capturing);
    let Some(Capturing { session, last, .. }) = &mut *capturing else {
        return Err(Status::ILLEGAL_STATE);
    };
    if session.is_invalid() {
        return Err(Status::STREAM_CAPTURE_INVALIDATED);
    }
    if !session.graph.has(&nodes) {
        return Err(Status::INVALID_VALUE);
    }
    match flags {
        ADD => {}
        SET => lock(&session.left_out).append(last),
        _ => return Err(Status::INVALID_VALUE),
    }
    for node in nodes {
        if !last.iter().any(|it| Arc::ptr_eq(it, &node)) {
            last.push(node);
        }
    }
    Ok(())
}
