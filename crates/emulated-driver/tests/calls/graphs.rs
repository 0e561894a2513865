//! Graphs: captured, and made node by node, with the order that edges give.

use super::client::*;

#[test]
fn what_a_stream_captures_is_launched_as_often_as_one_likes() {
    let context = Context::new();
    let add = context.function("add");
    let (x, y) = (device_words(&[1; 64]), device_words(&[0; 64]));
    let [one, two] = [0; 2].map(|_| made("cuStreamCreate", &[1]));
    let event = made("cuEventCreate", &[0]);
    ok("cuStreamBeginCapture_v2", &[one, 0]);
    assert_eq!(launch(add, one, 64, (x, y)), 0);
    ok("cuEventRecord", &[event, one]);
    ok("cuStreamWaitEvent", &[two, event, 0]);
    assert_eq!(launch(add, two, 64, (x, y)), 0);
    ok("cuEventRecord", &[event, two]);
    ok("cuStreamWaitEvent", &[one, event, 0]);
    let mut graph = 0u64;
    ok("cuStreamEndCapture", &[one, &raw mut graph as u64]);
    let mut nodes = 0usize;
    ok("cuGraphGetNodes", &[graph, 0, &raw mut nodes as u64]);
    let mut edges = 0usize;
    ok("cuGraphGetEdges", &[graph, 0, 0, &raw mut edges as u64]);
    assert_eq!((nodes, edges), (2, 1));
    assert_eq!(host_words(y, 64), [0; 64], "nothing has run");
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    for _ in 0..3 {
        ok("cuGraphLaunch", &[executable, one]);
    }
    ok("cuStreamSynchronize", &[one]);
    assert_eq!(host_words(y, 64), [6; 64]);
    ok("cuGraphDestroy", &[graph]);
    ok("cuGraphLaunch", &[executable, one]);
    ok("cuGraphExecDestroy", &[executable]);
    assert_eq!(call("cuGraphLaunch", &[executable, one]), INVALID_HANDLE);
}

/// `CUDA_KERNEL_NODE_PARAMS_v1` of a launch in one block of 64 threads.
#[repr(C)]
struct Node {
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    parameters: u64,
    extra: u64,
}

#[test]
fn nodes_that_no_edge_orders_race() {
    let context = Context::new();
    let function = context.function("add");
    let memory = device_words(&[1; 64]);
    let count = 64u32;
    let addresses = [
        &raw const count as u64,
        &raw const memory as u64,
        &raw const memory as u64,
    ];
    let parameters = addresses.as_ptr() as u64;
    let node = Node {
        function,
        grid: [1; 3],
        block: [64, 1, 1],
        shared: 0,
        parameters,
        extra: 0,
    };
    let run = |is_ordered: bool| {
        let graph = made("cuGraphCreate", &[0]);
        let first = made(
            "cuGraphAddKernelNode",
            &[graph, 0, 0, &raw const node as u64],
        );
        let after = (&raw const first as u64, u64::from(is_ordered));
        made(
            "cuGraphAddKernelNode",
            &[graph, after.0, after.1, &raw const node as u64],
        );
        let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
        let launched = call("cuGraphLaunch", &[executable, 0]);
        ok("cuCtxSynchronize", &[]);
        launched
    };
    assert_eq!(run(true), 0);
    assert_eq!(host_words(memory, 64), [4; 64]);
    assert_eq!(run(false), ILLEGAL_ADDRESS);
}

/// A graph is added to another as it is then, so that none holds itself.
#[test]
fn graphs_that_are_added_to_each_other_end() {
    let _context = Context::new();
    let [one, two] = [0; 2].map(|_| made("cuGraphCreate", &[0]));
    for (graph, child) in [(one, two), (two, one), (one, two)] {
        made("cuGraphAddChildGraphNode", &[graph, 0, 0, child]);
    }
    let executable = made("cuGraphInstantiateWithFlags", &[one, 0]);
    let stream = made("cuStreamCreate", &[1]);
    ok("cuGraphLaunch", &[executable, stream]);
    // A launch that is captured is that of the graph as it is then, too.
    let capture = |executable: u64| {
        ok("cuStreamBeginCapture_v2", &[stream, 0]);
        ok("cuGraphLaunch", &[executable, stream]);
        ok("cuGraphLaunch", &[executable, stream]);
        let mut graph = 0u64;
        ok("cuStreamEndCapture", &[stream, &raw mut graph as u64]);
        graph
    };
    let captured = capture(executable);
    let outer = made("cuGraphInstantiateWithFlags", &[captured, 0]);
    // Of another shape within: it stays as it is.
    let updated = call("cuGraphExecUpdate_v2", &[outer, capture(outer), 0]);
    assert_eq!(updated, GRAPH_EXEC_UPDATE_FAILURE);
    ok("cuGraphLaunch", &[outer, stream]);
    // Twice in the next, which is twice in the next: that soon has no end.
    let mut graph = captured;
    let refused = (0..80).find_map(|_| {
        let outer = made("cuGraphCreate", &[0]);
        let mut node = 0u64;
        let answers = [0; 2].map(|_| {
            call(
                "cuGraphAddChildGraphNode",
                &[&raw mut node as u64, outer, 0, 0, graph],
            )
        });
        graph = outer;
        answers.into_iter().find(|it| *it != 0)
    });
    assert_eq!(refused, Some(INVALID_VALUE));
}

/// A node of a graph that sets a word of the device.
fn add_fill(graph: u64, after: &[u64], word: u64, value: u32) -> u64 {
    // To, pitch, value and bytes of an element, width, height.
    let fill = [word, 0, u64::from(value) | 4 << 32, 1, 1];
    let context = made("cuCtxGetCurrent", &[]);
    let (first, count) = (after.as_ptr() as u64, after.len() as u64);
    made(
        "cuGraphAddMemsetNode",
        &[graph, first, count, fill.as_ptr() as u64, context],
    )
}

/// The nodes that a call lists for a node.
fn listed(name: &str, node: u64) -> Vec<u64> {
    let (mut nodes, mut edges, mut count) = ([0u64; 8], [7u64; 8], 8usize);
    ok(
        name,
        &[
            node,
            nodes.as_mut_ptr() as u64,
            edges.as_mut_ptr() as u64,
            &raw mut count as u64,
        ],
    );
    assert!(edges[..count].iter().all(|it| *it == 0), "{edges:?}");
    assert!(edges[count..].iter().all(|it| *it == 7), "{edges:?}");
    nodes[..count].to_vec()
}

fn change_edge(name: &str, graph: u64, from: u64, to: u64) -> u32 {
    let (from, to) = (&raw const from as u64, &raw const to as u64);
    call(name, &[graph, from, to, 1])
}

/// The answers are those of a driver of CUDA 13.0 on an H200.
#[test]
fn graphs_are_looked_at_and_changed() {
    let _context = Context::new();
    let words = device_words(&[0; 4]);
    let graph = made("cuGraphCreate", &[0]);
    let other = made("cuGraphCreate", &[0]);
    let foreign = made("cuGraphAddEmptyNode", &[other, 0, 0]);
    let first = add_fill(graph, &[], words, 1);
    let second = add_fill(graph, &[first], words + 4, 2);
    let both = [first, second];
    let meeting = made("cuGraphAddEmptyNode", &[graph, both.as_ptr() as u64, 2]);
    let last = add_fill(graph, &[meeting], words + 8, 3);
    let (after, before) = (
        "cuGraphNodeGetDependentNodes_v2",
        "cuGraphNodeGetDependencies_v2",
    );
    assert_eq!(listed(after, first), [second, meeting]);
    assert_eq!(listed(before, meeting), both);

    let (add, remove) = ("cuGraphAddDependencies", "cuGraphRemoveDependencies");
    for (name, from, to, answer) in [
        (remove, first, last, INVALID_VALUE),
        (remove, first, foreign, INVALID_VALUE),
        (remove, first, meeting, 0),
        (remove, first, meeting, INVALID_VALUE),
        (add, first, meeting, 0),
        (add, first, meeting, INVALID_VALUE),
        (add, first, first, INVALID_VALUE),
        (add, first, foreign, INVALID_VALUE),
    ] {
        assert_eq!(change_edge(name, graph, from, to), answer, "{name}");
    }
    assert_eq!(listed(before, meeting), [second, first]);
    let mut node = 0u64;
    for after in [[foreign, first], [first, first]] {
        let (node, after) = (&raw mut node as u64, after.as_ptr() as u64);
        let added = call("cuGraphAddEmptyNode", &[node, graph, after, 2]);
        assert_eq!(added, INVALID_VALUE);
    }

    let clone = made("cuGraphClone", &[graph]);
    let found = |node: u64, graph: u64| {
        let mut found = 0u64;
        let answer = call(
            "cuGraphNodeFindInClone",
            &[&raw mut found as u64, node, graph],
        );
        (answer, found)
    };
    let (answer, copy) = found(meeting, clone);
    assert_eq!((answer, copy == meeting), (0, false));
    assert_eq!(listed(before, copy).len(), 2);
    for (node, graph) in [(foreign, clone), (meeting, graph), (meeting, other)] {
        assert_eq!(found(node, graph).0, INVALID_VALUE);
    }
    ok("cuGraphDestroyNode", &[copy]);
    assert_eq!(found(meeting, clone).0, INVALID_VALUE);
    let copy = found(last, clone).1;
    assert!(listed(before, copy).is_empty());
    assert_eq!(listed(before, last), [meeting], "the original is as it was");
    assert_eq!(call("cuGraphDestroyNode", &[0]), INVALID_HANDLE);

    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    let enabled = |node: u64| {
        let mut is_enabled = 7u32;
        let to = &raw mut is_enabled as u64;
        let answer = call("cuGraphNodeGetEnabled", &[executable, node, to]);
        (answer, is_enabled)
    };
    let run = || {
        ok("cuGraphLaunch", &[executable, 0]);
        host_words(words, 3)
    };
    assert_eq!(enabled(second), (0, 1));
    ok("cuGraphNodeSetEnabled", &[executable, second, 0]);
    assert_eq!(enabled(second), (0, 0));
    assert_eq!(run(), [1, 0, 3]);
    ok("cuGraphNodeSetEnabled", &[executable, second, 5]);
    assert_eq!(enabled(second), (0, 1));
    assert_eq!(run(), [1, 2, 3]);
    for node in [meeting, foreign] {
        assert_eq!(enabled(node).0, INVALID_VALUE);
        let set = call("cuGraphNodeSetEnabled", &[executable, node, 0]);
        assert_eq!(set, INVALID_VALUE);
    }

    // An executable graph does not change with the one that it was made of.
    let fill = [words, 0, 9 | 4 << 32, 1, 1];
    ok("cuGraphMemsetNodeSetParams", &[first, fill.as_ptr() as u64]);
    let set = call(
        "cuGraphMemsetNodeSetParams",
        &[meeting, fill.as_ptr() as u64],
    );
    assert_eq!(set, INVALID_VALUE);
    assert_eq!(run(), [1, 2, 3]);
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    ok("cuGraphLaunch", &[executable, 0]);
    assert_eq!(host_words(words, 3), [9, 2, 3]);
}

/// Captures what is put into a stream, and launches it once.
fn launched(stream: u64, capture: impl FnOnce()) -> u32 {
    ok("cuStreamBeginCapture_v2", &[stream, 0]);
    capture();
    let mut graph = 0u64;
    ok("cuStreamEndCapture", &[stream, &raw mut graph as u64]);
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    let answer = call("cuGraphLaunch", &[executable, stream]);
    ok("cuGraphExecDestroy", &[executable]);
    ok("cuGraphDestroy", &[graph]);
    answer
}

/// Memory of a graph is unwritten when it was allocated, and nobody's when it was freed.
#[test]
fn memory_of_graphs_is_checked() {
    let context = Context::new();
    let add = context.function("add");
    let x = device_words(&[1; 64]);
    let stream = made("cuStreamCreate", &[1]);
    let allocated = || made("cuMemAllocAsync", &[256, stream]);
    let mut y = 0;
    let unwritten = launched(stream, || {
        y = allocated();
        assert_eq!(launch(add, stream, 64, (x, y)), 0);
    });
    assert_eq!(unwritten, ILLEGAL_ADDRESS);
    ok("cuMemFreeAsync", &[y, stream]);
    let freed = launched(stream, || {
        y = allocated();
        ok("cuMemsetD32Async", &[y, 1, 64, stream]);
        assert_eq!(launch(add, stream, 64, (x, y)), 0);
        ok("cuMemFreeAsync", &[y, stream]);
        assert_eq!(launch(add, stream, 64, (x, y)), 0);
    });
    assert_eq!(freed, ILLEGAL_ADDRESS);
    // Left allocated, it stays though its graph is gone.
    let kept = launched(stream, || {
        y = allocated();
        ok("cuMemsetD32Async", &[y, 1, 64, stream]);
        assert_eq!(launch(add, stream, 64, (x, y)), 0);
    });
    assert_eq!(kept, 0);
    ok("cuStreamSynchronize", &[stream]);
    assert_eq!(host_words(y, 64), [2; 64]);
    ok("cuMemFree_v2", &[y]);
    assert_eq!(call("cuMemFree_v2", &[y]), INVALID_VALUE);
    assert_eq!(launch(add, stream, 64, (x, y)), ILLEGAL_ADDRESS);
}

/// A function of the host that takes its time, and then sets a word.
extern "C" fn late(data: *mut std::ffi::c_void) {
    std::thread::sleep(std::time::Duration::from_millis(100));
    // SAFETY: the test hands over the address of a word of its own, which lives until it has waited.
    unsafe { data.cast::<u32>().write_volatile(7) };
}

/// A graph whose node waits for an event that is queued is queued, too, and so is what waits for an event of its nodes.
#[test]
fn nodes_wait_for_events_that_are_queued() {
    let _context = Context::new();
    let words = device_words(&[0; 2]);
    let mut word = 0u32;
    let [one, two] = [0; 2].map(|_| made("cuStreamCreate", &[1]));
    let [before, after] = [0; 2].map(|_| made("cuEventCreate", &[0]));
    let graph = made("cuGraphCreate", &[0]);
    let waits = made("cuGraphAddEventWaitNode", &[graph, 0, 0, before]);
    // From the host's word, when the function has set it.
    let side = |is_host: bool, address: u64| {
        let (kind, host, device) = match is_host {
            true => (1, address, 0),
            false => (2, 0, address),
        };
        [0, 0, 0, 0, kind, host, device, 0, 0, 4, 1]
    };
    let from = side(true, &raw mut word as u64);
    let copy = [&from[..], &side(false, words), &[4, 1, 1]].concat();
    let (node, copy) = (&raw const waits as u64, copy.as_ptr() as u64);
    let copies = made("cuGraphAddMemcpyNode", &[graph, node, 1, copy, 0]);
    made(
        "cuGraphAddEventRecordNode",
        &[graph, &raw const copies as u64, 1, after],
    );
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    let function: extern "C" fn(*mut std::ffi::c_void) = late;
    let function = function as usize as u64;
    ok("cuLaunchHostFunc", &[one, function, &raw mut word as u64]);
    ok("cuEventRecord", &[before, one]);
    ok("cuGraphLaunch", &[executable, two]);
    ok("cuEventSynchronize", &[after]);
    assert_eq!(host_words(words, 1), [7]);
}
