//! Captures that are refused, become invalid or end with an error. The answers are those of a driver of CUDA 13.0 on an H200.

use std::{ptr, slice};

use super::client::*;

const ILLEGAL_STATE: u32 = 401;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const MERGE: u32 = 902;
const UNMATCHED: u32 = 903;
const UNJOINED: u32 = 904;
const ISOLATION: u32 = 905;
const IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const WRONG_THREAD: u32 = 908;

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u64 = 1;

/// `CU_STREAM_CAPTURE_STATUS_ACTIVE`
const ACTIVE: u32 = 1;

/// `CUstreamUpdateCaptureDependencies_flags`
const ADD: u64 = 0;
const SET: u64 = 1;

/// `CU_STREAM_PER_THREAD`
const PER_THREAD: u64 = 2;

/// `CUstreamCaptureMode`
const GLOBAL: u64 = 0;
const THREAD_LOCAL: u64 = 1;
const RELAXED: u64 = 2;

fn begin(stream: u64) {
    begin_as(stream, GLOBAL);
}

fn begin_as(stream: u64, mode: u64) {
    ok("cuStreamBeginCapture_v2", &[stream, mode]);
}

/// Ends a capture: its answer and the graph, which is another number before.
fn end(stream: u64) -> (u32, u64) {
    let mut graph = u64::MAX;
    let answer = call("cuStreamEndCapture", &[stream, &raw mut graph as u64]);
    (answer, graph)
}

fn end_well(stream: u64) -> u64 {
    let (answer, graph) = end(stream);
    assert_eq!(answer, 0);
    graph
}

fn count_nodes(graph: u64) -> usize {
    let mut count = 0usize;
    ok("cuGraphGetNodes", &[graph, 0, &raw mut count as u64]);
    count
}

/// `CUstreamCaptureStatus` of a stream.
fn status(stream: u64) -> u32 {
    let mut status = u32::MAX;
    ok("cuStreamIsCapturing", &[stream, &raw mut status as u64]);
    status
}

/// Makes a stream wait for what another one has been given.
fn follow(stream: u64, other: u64, event: u64) {
    ok("cuEventRecord", &[event, other]);
    ok("cuStreamWaitEvent", &[stream, event, 0]);
}

#[test]
fn a_fork_that_is_not_joined_has_no_graph() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let [one, two] = [0; 2].map(|_| made("cuStreamCreate", &[NON_BLOCKING]));
    let event = made("cuEventCreate", &[0]);
    begin(one);
    follow(two, one, event);
    assert_eq!(launch(add, two, 64, (memory, memory)), 0);
    assert_eq!(launch(add, one, 64, (memory, memory)), 0);
    assert_eq!(end(one), (UNJOINED, 0));
    assert_eq!([one, two].map(status), [0; 2]);
    begin(one);
    follow(two, one, event);
    assert_eq!(end(two), (UNMATCHED, 0));
    assert_eq!([one, two].map(status), [2; 2]);
    assert_eq!(end(one), (INVALIDATED, 0));
    // One that has captured nothing, or that was destroyed after it was joined, leaves nothing open.
    begin(one);
    follow(two, one, event);
    assert_eq!(count_nodes(end_well(one)), 0);
    begin(one);
    follow(two, one, event);
    assert_eq!(launch(add, two, 64, (memory, memory)), 0);
    follow(one, two, event);
    ok("cuStreamDestroy_v2", &[two]);
    assert_eq!(count_nodes(end_well(one)), 1);
}

#[test]
fn a_refused_call_makes_the_capture_invalid() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let stream = made("cuStreamCreate", &[NON_BLOCKING]);
    let [captured, plain] = [0; 2].map(|_| made("cuEventCreate", &[0]));
    ok("cuEventRecord", &[plain, stream]);
    // Each as a driver of CUDA 13.0 has answered it, which lets the fill pass: it does not know the bytes of an allocation precisely.
    let refused: [(&str, &[u64], u32); 8] = [
        ("cuStreamSynchronize", &[stream], UNSUPPORTED),
        ("cuStreamQuery", &[stream], UNSUPPORTED),
        ("cuCtxSynchronize", &[], UNSUPPORTED),
        ("cuEventQuery", &[captured], CAPTURED_EVENT),
        ("cuEventSynchronize", &[captured], CAPTURED_EVENT),
        ("cuStreamWaitEvent", &[stream, plain, 0], ISOLATION),
        ("cuMemsetD8Async", &[memory, 0, 257, stream], INVALID_VALUE),
        (
            "cuLaunchKernel",
            &[add, 0, 1, 1, 64, 1, 1, 0, stream, 0, 0],
            INVALID_VALUE,
        ),
    ];
    for (name, arguments, answer) in refused {
        begin(stream);
        assert_eq!(launch(add, stream, 64, (memory, memory)), 0);
        ok("cuEventRecord", &[captured, stream]);
        assert_eq!(status(stream), 1);
        assert_eq!(call(name, arguments), answer, "{name}");
        assert_eq!(status(stream), 2, "{name}");
        assert_eq!(
            launch(add, stream, 64, (memory, memory)),
            INVALIDATED,
            "{name}"
        );
        for event in [captured, plain] {
            let wait = call("cuStreamWaitEvent", &[stream, event, 0]);
            assert_eq!(wait, INVALIDATED, "{name}");
        }
        assert_eq!(call("cuEventQuery", &[captured]), INVALID_VALUE);
        assert_eq!(call("cuStreamSynchronize", &[stream]), UNSUPPORTED);
        assert_eq!(call("cuEventRecord", &[captured, stream]), INVALIDATED);
        assert_eq!(end(stream), (INVALIDATED, 0), "{name}");
        assert_eq!(status(stream), 0);
    }
    ok("cuStreamSynchronize", &[stream]);
    assert_eq!(host_words(memory, 64), [1; 64], "nothing has run");
}

#[test]
fn the_legacy_stream_is_not_used_while_a_blocking_one_captures() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let (blocking, free) = (
        made("cuStreamCreate", &[0]),
        made("cuStreamCreate", &[NON_BLOCKING]),
    );
    let event = made("cuEventCreate", &[0]);
    let mut words = [0u32; 64];
    let host = words.as_mut_ptr() as u64;
    let uses: [(&str, &[u64]); 5] = [
        ("cuMemsetD32_v2", &[memory, 1, 64]),
        ("cuMemcpyDtoH_v2", &[host, memory, 256]),
        ("cuEventRecord", &[event, 0]),
        ("cuStreamSynchronize", &[0]),
        ("cuStreamQuery", &[1]),
    ];
    for (name, arguments) in uses {
        begin(blocking);
        let mut asked = 0u32;
        let asking = [0, &raw mut asked as u64];
        assert_eq!(call("cuStreamIsCapturing", &asking), IMPLICIT);
        assert_eq!(status(blocking), 1, "a question changes nothing");
        assert_eq!(call(name, arguments), IMPLICIT, "{name}");
        assert_eq!(end(blocking), (INVALIDATED, 0), "{name}");
        ok(name, arguments);
        begin_as(free, RELAXED);
        ok(name, arguments);
        end_well(free);
    }
    // Each thread's own stream is not the legacy one.
    begin(blocking);
    ok("cuMemcpyDtoH_v2_ptds", &[host, memory, 256]);
    assert_eq!(launch(add, blocking, 64, (memory, memory)), 0);
    // Nor does the legacy one take part in a capture.
    end_well(blocking);
    begin(free);
    ok("cuEventRecord", &[event, free]);
    assert_eq!(call("cuStreamWaitEvent", &[0, event, 0]), IMPLICIT);
    assert_eq!(end(free), (INVALIDATED, 0));
}

#[test]
fn an_event_of_a_capture_that_has_ended_leads_nowhere() {
    let context = Context::new();
    let add = context.function("add");
    let memory = device_words(&[1; 64]);
    let stream = made("cuStreamCreate", &[NON_BLOCKING]);
    let event = made("cuEventCreate", &[0]);
    let other = made("cuCtxCreate_v2", &[0, 0]);
    let (of_other, event_of_other) = (
        made("cuStreamCreate", &[NON_BLOCKING]),
        made("cuEventCreate", &[0]),
    );
    begin(stream);
    ok("cuMemsetD32Async", &[memory, 2, 64, stream]);
    follow(of_other, stream, event);
    ok("cuMemsetD32Async", &[memory, 3, 64, of_other]);
    follow(stream, of_other, event_of_other);
    let graph = end_well(stream);
    assert_eq!(count_nodes(graph), 2);
    assert_eq!([stream, of_other].map(status), [0; 2]);
    for waiting in [stream, of_other] {
        let wait = call("cuStreamWaitEvent", &[waiting, event, 0]);
        assert_eq!(wait, INVALID_VALUE);
        ok("cuMemsetD32Async", &[memory, 4, 64, waiting]);
        ok("cuStreamSynchronize", &[waiting]);
    }
    assert_eq!(count_nodes(graph), 2);
    begin(of_other);
    let wait = call("cuStreamWaitEvent", &[of_other, event, 0]);
    assert_eq!(wait, INVALID_VALUE);
    assert_eq!(end(of_other), (INVALIDATED, 0));
    ok("cuCtxDestroy_v2", &[other]);
    ok("cuCtxSetCurrent", &[context.handle]);
    assert_eq!(host_words(memory, 64), [4; 64]);
    assert_eq!(launch(add, stream, 64, (memory, memory)), 0);
    ok("cuStreamSynchronize", &[stream]);
}

#[test]
fn captures_do_not_merge() {
    let _context = Context::new();
    let [one, two] = [0; 2].map(|_| made("cuStreamCreate", &[NON_BLOCKING]));
    let event = made("cuEventCreate", &[0]);
    begin(one);
    begin(two);
    ok("cuEventRecord", &[event, one]);
    assert_eq!(call("cuStreamWaitEvent", &[two, event, 0]), MERGE);
    assert_eq!([one, two].map(end), [(INVALIDATED, 0); 2]);
}

#[test]
fn a_capture_ends_in_its_thread_unless_it_is_relaxed() {
    let context = Context::new();
    let stream = made("cuStreamCreate", &[NON_BLOCKING]);
    let handle = context.handle;
    let end_elsewhere = || {
        let ended = std::thread::spawn(move || {
            ok("cuCtxSetCurrent", &[handle]);
            end(stream)
        });
        ended.join().expect("a thread").0
    };
    begin(stream);
    assert_eq!(end_elsewhere(), WRONG_THREAD);
    assert_eq!(end(stream).0, ILLEGAL_STATE);
    ok("cuStreamBeginCapture_v2", &[stream, RELAXED]);
    assert_eq!(end_elsewhere(), 0);
    assert_eq!(
        call("cuStreamBeginCapture_v2", &[stream, RELAXED + 1]),
        INVALID_VALUE
    );
}

/// Sets which captures forbid unsafe calls of this thread, and returns what was set.
fn exchange(mode: u64) -> u64 {
    let mut mode = mode as u32;
    ok("cuThreadExchangeStreamCaptureMode", &[&raw mut mode as u64]);
    u64::from(mode)
}

#[test]
fn memory_and_waits_are_refused_as_the_modes_of_capture_and_thread_say() {
    let context = Context::new();
    let current = context.handle;
    let (free, other) = (
        made("cuStreamCreate", &[NON_BLOCKING]),
        made("cuStreamCreate", &[NON_BLOCKING]),
    );
    let event = made("cuEventCreate", &[0]);
    ok("cuEventRecord", &[event, other]);
    let (mut place, mut words) = (0u64, [0u32; 1024]);
    let to = &raw mut place as u64;
    let memory = made("cuMemAlloc_v2", &[4]);
    let own = words.as_mut_ptr() as u64;
    // Width, height, format and channels.
    let plane = [16u64, 16, 0x20 | 1 << 32];
    let graph = made("cuGraphCreate", &[0]);
    let pool = made("cuDeviceGetDefaultMemPool", &[0]);
    let mut pitch = 0u64;
    let calls: [(&str, &[u64]); 14] = [
        ("cuMemAlloc_v2", &[to, 64]),
        ("cuMemAllocPitch_v2", &[to, &raw mut pitch as u64, 64, 4, 4]),
        ("cuGraphInstantiateWithFlags", &[to, graph, 0]),
        ("cuMemPoolTrimTo", &[pool, 0]),
        // The bytes that kernels may print.
        ("cuCtxSetLimit", &[1, 1 << 20]),
        ("cuMemHostAlloc", &[to, 64, 0]),
        ("cuMemAllocManaged", &[to, 64, 1]),
        ("cuMemHostRegister_v2", &[own, 4096, 0]),
        ("cuArrayCreate_v2", &[to, plane.as_ptr() as u64]),
        ("cuEventQuery", &[event]),
        ("cuEventSynchronize", &[event]),
        ("cuStreamQuery", &[other]),
        ("cuStreamSynchronize", &[other]),
        ("cuMemAllocAsync", &[to, 64, other]),
    ];
    // Is it refused in a capture of this mode: of a thread whose mode is global, of one whose mode is relaxed, and of
    // another thread?
    let modes = [
        (GLOBAL, [true, false, true]),
        (THREAD_LOCAL, [true, false, false]),
        (RELAXED, [false, false, false]),
    ];
    for (name, arguments) in calls {
        for (mode, refused) in modes {
            let calls: [&(dyn Fn() -> u32 + Sync); 3] = [
                &|| call(name, arguments),
                &|| {
                    assert_eq!(exchange(RELAXED), GLOBAL);
                    let answer = call(name, arguments);
                    assert_eq!(exchange(GLOBAL), RELAXED);
                    answer
                },
                &|| {
                    let there = || {
                        ok("cuCtxSetCurrent", &[current]);
                        call(name, arguments)
                    };
                    std::thread::scope(|scope| scope.spawn(there).join()).expect("no panic")
                },
            ];
            for (call_it, is_refused) in calls.iter().zip(refused) {
                begin_as(free, mode);
                let answer = call_it();
                let about = format!("{name}, mode {mode}, refused: {is_refused}");
                assert_eq!(answer, if is_refused { UNSUPPORTED } else { 0 }, "{about}");
                let (ended, _) = end(free);
                assert_eq!(ended, if is_refused { INVALIDATED } else { 0 }, "{about}");
                if answer == 0 && name == "cuMemHostRegister_v2" {
                    ok("cuMemHostUnregister", &[own]);
                }
            }
        }
    }
    // Memory that could not be freed is there still.
    ok("cuMemHostRegister_v2", &[own, 4096, 0]);
    let frees: [(&str, &[u64]); 5] = [
        ("cuMemFree_v2", &[memory]),
        ("cuMemFreeHost", &[made("cuMemHostAlloc", &[64, 0])]),
        ("cuMemHostUnregister", &[own]),
        (
            "cuArrayDestroy",
            &[made("cuArrayCreate_v2", &[plane.as_ptr() as u64])],
        ),
        (
            "cuMemFreeAsync",
            &[made("cuMemAllocAsync", &[64, other]), other],
        ),
    ];
    for (name, arguments) in frees {
        begin(free);
        assert_eq!(call(name, arguments), UNSUPPORTED, "{name}");
        assert_eq!(end(free).0, INVALIDATED, "{name}");
    }
    for (name, arguments) in &frees[1..] {
        ok(name, arguments);
    }
    // A fill, a stream and an event allocate nothing, and are not refused.
    begin(free);
    ok("cuMemsetD32_v2", &[memory, 1, 1]);
    made("cuStreamCreate", &[0]);
    made("cuEventCreate", &[0]);
    end_well(free);
    ok("cuMemFree_v2", &[memory]);
    let mut beyond = 3u32;
    let exchanged = call(
        "cuThreadExchangeStreamCaptureMode",
        &[&raw mut beyond as u64],
    );
    assert_eq!((exchanged, beyond), (INVALID_VALUE, 3));
}

#[test]
fn a_capture_ends_with_the_stream_or_the_context_that_it_began_in() {
    let context = Context::new();
    let _current = context.handle;
    let (origin, joined) = (made("cuStreamCreate", &[0]), made("cuStreamCreate", &[0]));
    let event = made("cuEventCreate", &[0]);
    begin(origin);
    follow(joined, origin, event);
    ok("cuStreamDestroy_v2", &[origin]);
    assert_eq!(status(joined), 0);
    ok("cuMemFree_v2", &[made("cuMemAlloc_v2", &[4])]);
    // The thread's own stream has no handle that could end.
    let ended = made("cuCtxCreate_v2", &[0, 0]);
    begin(PER_THREAD);
    ok("cuEventRecord", &[made("cuEventCreate", &[0]), PER_THREAD]);
    ok("cuCtxDestroy_v2", &[ended]);
    ok("cuCtxSetCurrent", &[context.handle]);
    ok("cuMemFree_v2", &[made("cuMemAlloc_v2", &[4])]);
}

/// Number, graph and nodes of a stream's capture.
fn known(stream: u64) -> (u64, u64, Vec<u64>) {
    let (mut status, mut number, mut graph) = (0u32, 0u64, 0u64);
    let (mut nodes, mut edges, mut count) = (ptr::null::<u64>(), ptr::null::<u64>(), 0usize);
    ok(
        "cuStreamGetCaptureInfo_v3",
        &[
            stream,
            &raw mut status as u64,
            &raw mut number as u64,
            &raw mut graph as u64,
            &raw mut nodes as u64,
            &raw mut edges as u64,
            &raw mut count as u64,
        ],
    );
    assert_eq!(status, ACTIVE);
    if count == 0 {
        assert!(nodes.is_null() && edges.is_null());
        return (number, graph, Vec::new());
    }
    // SAFETY: the driver has told where they lie and how many there are.
    let (nodes, edges) = unsafe {
        (
            slice::from_raw_parts(nodes, count),
            slice::from_raw_parts(edges, count),
        )
    };
    // From a whole node to a whole node.
    assert!(edges.iter().all(|it| *it == 0), "{edges:?}");
    (number, graph, nodes.to_vec())
}

fn update(stream: u64, nodes: &[u64], flags: u64) -> u32 {
    let first = nodes.as_ptr() as u64;
    call(
        "cuStreamUpdateCaptureDependencies",
        &[stream, first, nodes.len() as u64, flags],
    )
}

/// The edges of a graph, by the places of their nodes in it.
fn edges(graph: u64) -> Vec<(usize, usize)> {
    let (mut nodes, mut count) = ([0u64; 16], 16usize);
    ok(
        "cuGraphGetNodes",
        &[graph, nodes.as_mut_ptr() as u64, &raw mut count as u64],
    );
    let (mut from, mut to, mut edges) = ([0u64; 16], [0u64; 16], 16usize);
    ok(
        "cuGraphGetEdges",
        &[
            graph,
            from.as_mut_ptr() as u64,
            to.as_mut_ptr() as u64,
            &raw mut edges as u64,
        ],
    );
    let place = |node: u64| {
        nodes[..count]
            .iter()
            .position(|it| *it == node)
            .expect("a node of the graph")
    };
    let mut all: Vec<_> = (0..edges)
        .map(|it| (place(from[it]), place(to[it])))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn a_program_sees_a_captures_graph_and_changes_what_comes_next() {
    let context = Context::new();
    let _current = context.handle;
    let memory = made("cuMemAlloc_v2", &[4]);
    let stream = made("cuStreamCreate", &[NON_BLOCKING]);
    let fill = || ok("cuMemsetD32Async", &[memory, 1, 1, stream]);
    let elsewhere = made("cuGraphCreate", &[0]);
    let foreign = made("cuGraphAddEmptyNode", &[elsewhere, 0, 0]);
    assert_eq!(update(stream, &[], ADD), ILLEGAL_STATE);

    begin_as(stream, RELAXED);
    let (number, graph, none) = known(stream);
    assert!(none.is_empty());
    fill();
    let (same, again, first) = known(stream);
    assert_eq!((same, again, first.len()), (number, graph, 1));
    let beside = made("cuGraphAddEmptyNode", &[graph, 0, 0]);
    assert_eq!(update(stream, &[foreign], ADD), INVALID_VALUE);
    assert_eq!(update(stream, &[beside], SET + 1), INVALID_VALUE);
    assert_eq!(known(stream).2, first);
    // Twice is once.
    assert_eq!(update(stream, &[beside], ADD), 0);
    assert_eq!(update(stream, &[beside], ADD), 0);
    assert_eq!(known(stream).2, [first[0], beside]);
    fill();
    // The second fill is left out, and so is the third.
    assert_eq!(update(stream, &first, SET), 0);
    assert_eq!(known(stream).2, first);
    fill();
    assert_eq!(update(stream, &[], SET), 0);
    assert!(known(stream).2.is_empty());
    fill();
    assert_eq!(end_well(stream), graph);
    assert_eq!(edges(graph), [(0, 2), (0, 3), (1, 2)]);
    assert_eq!(count_nodes(graph), 5);

    // A graph that something is captured into does not end, nor do its nodes.
    begin_as(stream, RELAXED);
    fill();
    let (_, captured, nodes) = known(stream);
    assert_eq!(call("cuGraphDestroyNode", &nodes), ILLEGAL_STATE);
    assert_eq!(call("cuGraphDestroy", &[captured]), ILLEGAL_STATE);
    // A node that was captured is joined, whatever becomes of its edges.
    fill();
    let (from, to) = (nodes[0], known(stream).2[0]);
    let (from, to) = (&raw const from as u64, &raw const to as u64);
    ok("cuGraphRemoveDependencies", &[captured, from, to, 1]);
    assert_eq!(end_well(stream), captured);
    ok("cuGraphDestroyNode", &nodes);
    ok("cuGraphDestroy", &[captured]);

    // Another capture goes on where this one was.
    let after = |node: u64| {
        let nodes = [node];
        let first = nodes.as_ptr() as u64;
        call(
            "cuStreamBeginCaptureToGraph",
            &[stream, graph, first, 0, 1, RELAXED],
        )
    };
    assert_eq!(after(foreign), INVALID_VALUE);
    assert_eq!(status(stream), 0);
    assert_eq!(after(beside), 0);
    assert_eq!(known(stream).1, graph);
    fill();
    assert_eq!(end_well(stream), graph);
    assert_eq!(edges(graph), [(0, 2), (0, 3), (1, 2), (1, 5)]);

    // One that becomes invalid takes the program's graph with it.
    assert_eq!(after(beside), 0);
    assert_eq!(call("cuStreamQuery", &[stream]), UNSUPPORTED);
    assert_eq!(update(stream, &[beside], ADD), INVALIDATED);
    assert_eq!(end(stream), (INVALIDATED, 0));
    assert_eq!(call("cuGraphDestroy", &[graph]), INVALID_HANDLE);
}
