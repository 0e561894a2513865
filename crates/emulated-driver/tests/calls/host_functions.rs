//! Functions of the host that streams call: on a thread of the driver's, in the order of their stream.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::client::*;

/// Longer than any function waits that need not wait for ever.
const LONG: Duration = Duration::from_secs(20);

/// A function's data: it waits for the program, and then writes a word that the program may read.
struct Gate {
    opened: Mutex<Receiver<()>>,
    word: u32,
    /// 1 where the program has opened it, 2 where it never did.
    passed: AtomicU32,
}

impl Gate {
    fn new(word: u32) -> (Sender<()>, Box<Gate>) {
        let (open, opened) = channel();
        let gate = Gate {
            opened: Mutex::new(opened),
            word,
            passed: AtomicU32::new(0),
        };
        (open, Box::new(gate))
    }

    fn pass(&self, words: u64) {
        let opened = self.opened.lock().expect("one waits");
        let is_open = opened.recv_timeout(LONG).is_ok();
        if words != 0 {
            let words = std::ptr::with_exposed_provenance_mut::<u32>(words as usize);
            // SAFETY: the tests hand over 64 words of memory that host and device share.
            (0..64).for_each(|at| unsafe { words.add(at).write(self.word) });
        }
        self.passed
            .store(if is_open { 1 } else { 2 }, Ordering::Release);
    }

    fn was_opened(&self) -> bool {
        self.passed.load(Ordering::Acquire) == 1
    }
}

/// `CUhostFn`: passes a gate, and writes its word to shared memory.
extern "C" fn pass(data: &(&Gate, u64)) {
    data.0.pass(data.1);
}

/// `CUstreamCallback`: the same.
extern "C" fn called_back(_stream: u64, status: u32, data: &(&Gate, u64)) {
    assert_eq!(status, 0);
    data.0.pass(data.1);
}

fn address<T>(data: &T) -> u64 {
    std::ptr::from_ref(data) as u64
}

#[test]
fn a_function_runs_while_the_program_goes_on_and_later_work_waits_for_it() {
    let context = Context::new();
    let add = context.function("add");
    let shared = made("cuMemAllocManaged", &[256, 1]);
    let sums = device_words(&[1; 64]);
    let stream = made("cuStreamCreate", &[1]);
    let event = made("cuEventCreate", &[0]);
    let (open, gate) = Gate::new(5);
    let data = (&*gate, shared);
    let mut own = [1u32; 64];
    ok(
        "cuLaunchHostFunc",
        &[stream, pass as *const () as u64, address(&data)],
    );
    assert_eq!(launch(add, stream, 64, (shared, sums)), 0);
    ok("cuEventRecord", &[event, stream]);
    for (query, of) in [("cuStreamQuery", stream), ("cuEventQuery", event)] {
        assert_eq!(call(query, &[of]), NOT_READY, "{query}");
    }
    // A stream that waits for the event waits for the function, another one for neither.
    let waiting = made("cuStreamCreate", &[1]);
    let other = made("cuStreamCreate", &[1]);
    ok("cuStreamWaitEvent", &[waiting, event, 0]);
    assert_eq!(launch(add, waiting, 64, (sums, sums)), 0);
    assert_eq!(call("cuStreamQuery", &[waiting]), NOT_READY);
    ok("cuMemsetD32Async", &[device_words(&[0; 64]), 3, 64, other]);
    ok("cuStreamSynchronize", &[other]);
    // Bytes of the program's own memory are copied as they were at the call.
    let copied = device_words(&[0; 64]);
    ok(
        "cuMemcpyHtoDAsync_v2",
        &[copied, own.as_ptr() as u64, 256, waiting],
    );
    own.fill(9);
    ok(
        "cuMemFreeAsync",
        &[made("cuMemAllocAsync", &[64, waiting]), waiting],
    );
    ok("cuStreamDestroy_v2", &[stream]);
    open.send(()).expect("a function");
    ok("cuStreamSynchronize", &[waiting]);
    assert!(gate.was_opened(), "the function has run in the call");
    assert_eq!(host_words(sums, 64), [12; 64]);
    assert_eq!(host_words(copied, 64), [1; 64]);
    ok("cuEventQuery", &[event]);
    ok("cuCtxSynchronize", &[]);
}

#[test]
fn the_default_stream_and_calls_that_free_wait_for_functions() {
    let context = Context::new();
    let add = context.function("add");
    let (shared, sums) = (made("cuMemAllocManaged", &[256, 1]), device_words(&[1; 64]));
    let stream = made("cuStreamCreate", &[0]);
    let (open, gate) = Gate::new(7);
    let data = (&*gate, shared);
    ok(
        "cuStreamAddCallback",
        &[stream, called_back as *const () as u64, address(&data), 0],
    );
    assert_eq!(launch(add, 0, 64, (shared, sums)), 0);
    assert_eq!(call("cuStreamQuery", &[0]), NOT_READY);
    open.send(()).expect("a function");
    ok("cuMemFree_v2", &[shared]);
    assert!(gate.was_opened());
    assert_eq!(host_words(sums, 64), [8; 64]);
}

#[test]
fn nodes_of_a_graph_come_before_and_after_a_function() {
    let context = Context::new();
    let add = context.function("add");
    let (shared, sums) = (made("cuMemAllocManaged", &[256, 1]), device_words(&[1; 64]));
    let stream = made("cuStreamCreate", &[1]);
    let (open, gate) = Gate::new(2);
    let data = (&*gate, shared);
    ok("cuStreamBeginCapture_v2", &[stream, 0]);
    ok("cuMemsetD32Async", &[sums, 40, 64, stream]);
    ok(
        "cuLaunchHostFunc",
        &[stream, pass as *const () as u64, address(&data)],
    );
    assert_eq!(launch(add, stream, 64, (shared, sums)), 0);
    let mut graph = 0u64;
    ok("cuStreamEndCapture", &[stream, &raw mut graph as u64]);
    let executable = made("cuGraphInstantiateWithFlags", &[graph, 0]);
    ok("cuGraphLaunch", &[executable, stream]);
    assert_eq!(call("cuStreamQuery", &[stream]), NOT_READY);
    open.send(()).expect("a function");
    ok("cuCtxSynchronize", &[]);
    assert!(gate.was_opened());
    assert_eq!(host_words(sums, 64), [42; 64]);
}

/// `CUhostFn`: asks the driver for something.
extern "C" fn ask(answer: &AtomicU32) {
    answer.store(call("cuCtxSynchronize", &[]), Ordering::Release);
}

#[test]
fn a_function_may_not_call_the_driver() {
    let _context = Context::new();
    let answer = AtomicU32::new(0);
    ok(
        "cuLaunchHostFunc",
        &[0, ask as *const () as u64, address(&answer)],
    );
    ok("cuStreamSynchronize", &[0]);
    assert_eq!(answer.load(Ordering::Acquire), NOT_PERMITTED);
}

#[test]
fn a_launch_that_fails_behind_a_function_is_told_by_the_next_call_that_waits() {
    let context = Context::new();
    let beyond = context.function("beyond");
    let memory = device_words(&[0; 32]);
    let stream = made("cuStreamCreate", &[1]);
    let (open, gate) = Gate::new(0);
    let data = (&*gate, 0u64);
    ok(
        "cuLaunchHostFunc",
        &[stream, pass as *const () as u64, address(&data)],
    );
    assert_eq!(launch(beyond, stream, 32, (memory, memory)), 0);
    open.send(()).expect("a function");
    assert_eq!(call("cuStreamSynchronize", &[stream]), ILLEGAL_ADDRESS);
    ok("cuStreamSynchronize", &[stream]);
}
