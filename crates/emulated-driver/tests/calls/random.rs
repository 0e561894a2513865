//! Random sequences of calls with stale handles, null pointers and wrong sizes: none ends the process, and none leaves
//! memory behind when its context has ended.

use super::client::*;

/// The kind of an argument.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    /// A place for an answer that is a handle or an address of this kind.
    Made(Kind),
    /// A handle or an address of this kind.
    Given(Kind),
    /// A place for anything.
    Out,
    /// Memory of the host with as many bytes as `Bytes` can be.
    Host,
    /// So many bytes or elements; those that only a device's memory limits may be more.
    Bytes,
    AnyBytes,
    Number,
    Name,
    Parameters,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Memory,
    Stream,
    Event,
    Module,
    Function,
    Graph,
    Node,
    Executable,
    Pool,
    Context,
}

use Is::*;
use Kind::*;

const CALLS: &[(&str, &[Is])] = &[
    ("cuMemAlloc_v2", &[Made(Memory), Bytes]),
    ("cuMemAlloc_v2", &[Made(Memory), AnyBytes]),
    ("cuMemAllocManaged", &[Made(Memory), Bytes, Number]),
    ("cuMemAllocAsync", &[Made(Memory), Bytes, Given(Stream)]),
    (
        "cuMemAllocFromPoolAsync",
        &[Made(Memory), Bytes, Given(Pool), Given(Stream)],
    ),
    ("cuMemHostAlloc", &[Made(Memory), Bytes, Number]),
    ("cuMemFree_v2", &[Given(Memory)]),
    ("cuMemFreeHost", &[Given(Memory)]),
    ("cuMemFreeAsync", &[Given(Memory), Given(Stream)]),
    ("cuMemGetAddressRange_v2", &[Out, Out, Given(Memory)]),
    ("cuMemcpyHtoD_v2", &[Given(Memory), Host, Bytes]),
    ("cuMemcpyDtoH_v2", &[Host, Given(Memory), Bytes]),
    ("cuMemcpyDtoD_v2", &[Given(Memory), Given(Memory), AnyBytes]),
    (
        "cuMemcpyHtoDAsync_v2",
        &[Given(Memory), Host, Bytes, Given(Stream)],
    ),
    (
        "cuMemcpyDtoHAsync_v2",
        &[Host, Given(Memory), Bytes, Given(Stream)],
    ),
    (
        "cuMemcpyDtoDAsync_v2",
        &[Given(Memory), Given(Memory), AnyBytes, Given(Stream)],
    ),
    ("cuMemsetD8_v2", &[Given(Memory), Number, AnyBytes]),
    ("cuMemsetD32_v2", &[Given(Memory), Number, AnyBytes]),
    (
        "cuMemsetD2D16_v2",
        &[Given(Memory), AnyBytes, Number, Bytes, Bytes],
    ),
    (
        "cuMemsetD8Async",
        &[Given(Memory), Number, Bytes, Given(Stream)],
    ),
    ("cuPointerGetAttribute", &[Out, Number, Given(Memory)]),
    ("cuMemPoolCreate", &[Made(Pool), Host]),
    ("cuMemPoolDestroy", &[Given(Pool)]),
    ("cuMemPoolGetAttribute", &[Given(Pool), Number, Out]),
    ("cuDeviceGetDefaultMemPool", &[Made(Pool), Number]),
    ("cuStreamCreate", &[Made(Stream), Number]),
    ("cuStreamDestroy_v2", &[Given(Stream)]),
    ("cuStreamSynchronize", &[Given(Stream)]),
    ("cuStreamQuery", &[Given(Stream)]),
    ("cuStreamWaitEvent", &[Given(Stream), Given(Event), Number]),
    ("cuStreamBeginCapture_v2", &[Given(Stream), Number]),
    ("cuStreamEndCapture", &[Given(Stream), Made(Graph)]),
    ("cuEventCreate", &[Made(Event), Number]),
    ("cuEventDestroy_v2", &[Given(Event)]),
    ("cuEventRecord", &[Given(Event), Given(Stream)]),
    ("cuEventSynchronize", &[Given(Event)]),
    ("cuEventElapsedTime", &[Out, Given(Event), Given(Event)]),
    (
        "cuModuleGetFunction",
        &[Made(Function), Given(Module), Name],
    ),
    ("cuModuleGetGlobal_v2", &[Out, Out, Given(Module), Name]),
    ("cuModuleUnload", &[Given(Module)]),
    ("cuFuncGetAttribute", &[Out, Number, Given(Function)]),
    ("cuFuncSetAttribute", &[Given(Function), Number, Bytes]),
    ("cuFuncGetParamInfo", &[Given(Function), Number, Out, Out]),
    (
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        &[Out, Given(Function), Bytes, Bytes],
    ),
    (
        "cuLaunchKernel",
        &[
            Given(Function),
            Number,
            Number,
            Number,
            Number,
            Number,
            Number,
            Bytes,
            Given(Stream),
            Parameters,
        ],
    ),
    (
        "cuLaunchCooperativeKernel",
        &[
            Given(Function),
            Number,
            Number,
            Number,
            Number,
            Number,
            Number,
            Bytes,
            Given(Stream),
            Parameters,
        ],
    ),
    ("cuGraphCreate", &[Made(Graph), Number]),
    ("cuGraphDestroy", &[Given(Graph)]),
    ("cuGraphAddEmptyNode", &[Made(Node), Given(Graph)]),
    ("cuGraphGetNodes", &[Given(Graph), Out, Out]),
    ("cuGraphNodeGetType", &[Given(Node), Out]),
    (
        "cuGraphAddChildGraphNode",
        &[Made(Node), Given(Graph), Out, Bytes, Given(Graph)],
    ),
    (
        "cuGraphInstantiateWithFlags",
        &[Made(Executable), Given(Graph), Number],
    ),
    ("cuGraphExecDestroy", &[Given(Executable)]),
    ("cuGraphLaunch", &[Given(Executable), Given(Stream)]),
    ("cuCtxCreate_v2", &[Made(Context), Number, Number]),
    ("cuCtxDestroy_v2", &[Given(Context)]),
    ("cuCtxSetCurrent", &[Given(Context)]),
    ("cuCtxPushCurrent_v2", &[Given(Context)]),
    ("cuCtxPopCurrent_v2", &[Out]),
    ("cuCtxSynchronize", &[]),
    ("cuDeviceGetAttribute", &[Out, Number, Number]),
    ("cuGetProcAddress_v2", &[Name, Out, Bytes, Number, Out]),
];

const MOST_BYTES: u64 = 4096;

/// A sequence, and what it has made.
struct Sequence {
    random: fastrand::Rng,
    made: Vec<(Kind, u64)>,
    scratch: Vec<u64>,
    parameters: [u64; 3],
}

impl Sequence {
    fn argument(&mut self, is: Is) -> u64 {
        let random = &mut self.random;
        let scratch = self.scratch.as_mut_ptr() as u64;
        let of = |random: &mut fastrand::Rng, all: &[u64]| all[random.usize(..all.len())];
        match is {
            Made(_) | Out | Host | Parameters if random.u8(..) < 12 => 0,
            Made(_) | Out | Host => scratch,
            Parameters => self.parameters.as_ptr() as u64,
            Bytes => of(random, &[0, 1, 3, 4, 16, 64, 100, 256, MOST_BYTES]),
            AnyBytes => of(
                random,
                &[0, 4, 64, 256, MOST_BYTES, 1 << 40, u64::MAX - 3, u64::MAX],
            ),
            Number => of(
                random,
                &[0, 0, 1, 1, 1, 2, 3, 32, 64, 1000, u32::MAX.into()],
            ),
            Name => of(
                random,
                &[
                    0,
                    c"add".as_ptr() as u64,
                    c"racing".as_ptr() as u64,
                    c"cuMemAlloc".as_ptr() as u64,
                ],
            ),
            Given(kind) => match random.u8(..) {
                // Of any kind, stale or not; none; garbage.
                0..8 => self.made[random.usize(..self.made.len())].1,
                8..16 => of(random, &[0, 1, 2, 0xdead_beef, u64::MAX]),
                _ => {
                    let all: Vec<u64> = self
                        .made
                        .iter()
                        .filter(|it| it.0 == kind)
                        .map(|it| it.1)
                        .collect();
                    let own = random.choice(all).unwrap_or(0);
                    // An address may lie within.
                    own + if kind == Memory {
                        of(random, &[0, 0, 0, 4])
                    } else {
                        0
                    }
                }
            },
        }
    }

    fn step(&mut self) {
        let (name, are) = CALLS[self.random.usize(..CALLS.len())];
        let arguments: Vec<u64> = are.iter().map(|&is| self.argument(is)).collect();
        let answer = call(name, &arguments);
        let place = are.iter().position(|it| matches!(it, Made(_)));
        if let (0, Some(place)) = (answer, place)
            && let Made(kind) = are[place]
        {
            self.made.push((kind, self.scratch[0]));
        }
    }
}

fn run(seed: u64) {
    let own = context();
    let before = free_bytes();
    let ptx = std::ffi::CString::new(PTX).expect("text");
    let module = made("cuModuleLoadData", &[ptx.as_ptr() as u64]);
    let memory = made("cuMemAlloc_v2", &[256]);
    let (count, x) = (64u32, memory);
    let mut sequence = Sequence {
        random: fastrand::Rng::with_seed(seed),
        made: vec![(Module, module), (Memory, memory), (Context, own)],
        scratch: vec![0; MOST_BYTES as usize],
        parameters: [
            &raw const count as u64,
            &raw const x as u64,
            &raw const x as u64,
        ],
    };
    for _ in 0..150 {
        sequence.step();
    }
    for (_, context) in sequence.made.iter().filter(|it| it.0 == Context) {
        call("cuCtxDestroy_v2", &[*context]);
    }
    while call("cuCtxPopCurrent_v2", &[0]) == 0 {}
    let own = context();
    assert_eq!(free_bytes(), before, "seed {seed} has left memory behind");
    ok("cuCtxDestroy_v2", &[own]);
}

fn context() -> u64 {
    made("cuCtxCreate_v2", &[0, 0])
}

fn free_bytes() -> u64 {
    let mut all = 0u64;
    made("cuMemGetInfo_v2", &[&raw mut all as u64])
}

#[test]
fn no_sequence_of_calls_ends_the_process_or_leaves_memory_behind() {
    let _alone = alone();
    for seed in 0..200 {
        run(seed);
    }
}
