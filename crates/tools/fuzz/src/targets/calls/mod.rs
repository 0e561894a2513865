//! The emulated driver: sequences of calls with stale handles, null pointers and wrong sizes. None ends the process, and none
//! leaves memory of a device behind when its contexts have ended.
//!
//! A caller's own promises stay true: an address of the host that is not null has as many bytes as the call says.

mod argument;
mod descriptions;
mod functions;

use std::ffi::{CStr, CString};
use std::io;

use fastrand::Rng;

use self::argument::{Is, Kind};
use self::descriptions::Descriptions;
use self::functions::FUNCTIONS;
use super::Target;
use crate::mutate::Tokens;

/// Kernels: `add` stays within its vectors, `beyond` does not, and threads of `racing` write one word.
const PTX: &str = include_str!("../../../../../emulated-driver/tests/calls/kernels.ptx");

/// The driver's settings: little memory, and launches that end soon.
pub(crate) const ENVIRONMENT: [(&str, &str); 3] = [
    ("RIDGEPOINT_DRIVER_MEMORY", "67108864"),
    ("RIDGEPOINT_DRIVER_STEPS", "4096"),
    ("RIDGEPOINT_DRIVER_TIME_LIMIT", "1"),
];

/// Calls of a sequence.
const CALLS: usize = 150;

/// Bytes of the memory of the host that calls are given.
const SCRATCH: usize = 4096;

/// Arguments of a function at most.
const ARGUMENTS: usize = 12;

/// Sequences of calls of the emulated driver.
#[derive(Debug)]
pub(super) struct Calls;

impl Calls {
    pub(super) fn new() -> Calls {
        must("cuInit", &[0]);
        Calls
    }
}

impl Target for Calls {
    fn run(&mut self, seed: u64) -> io::Result<&'static str> {
        let own = context();
        let before = free_bytes();
        let mut sequence = Sequence::new(seed, own);
        for _ in 0..CALLS {
            sequence.step();
        }
        sequence.end();
        let own = context();
        let left = before.abs_diff(free_bytes());
        must("cuCtxDestroy_v2", &[own]);
        assert_eq!(left, 0, "bytes of a device's memory are left behind");
        Ok("sequences of calls that left nothing behind")
    }
}

/// Calls a function of the driver with numbers and addresses, of which each takes a register or 8 bytes of stack.
fn call(name: &str, arguments: &[u64]) -> u32 {
    type Any =
        unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
    let address =
        emulated_driver::symbol(name).unwrap_or_else(|| panic!("{name}: no such function"));
    // SAFETY: the driver's functions have integers and pointers alone; more arguments than they have are not read.
    let function = unsafe { std::mem::transmute::<*const std::ffi::c_void, Any>(address) };
    let mut all = [0; ARGUMENTS];
    all[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f, g, h, i, j, k, l] = all;
    // SAFETY: addresses of the host among the arguments are null or of this target's memory, which is as large as the
    // arguments say: `argument` and `descriptions` make no others.
    unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) }
}

/// Calls a function that succeeds.
fn must(name: &str, arguments: &[u64]) {
    let answer = call(name, arguments);
    assert_eq!(answer, 0, "{name}({arguments:x?})");
}

/// Calls a function that succeeds, and gives what it writes to its first argument.
fn made(name: &str, arguments: &[u64]) -> u64 {
    let mut made = 0u64;
    let place = [(&raw mut made).expose_provenance() as u64];
    must(name, &[&place, arguments].concat());
    made
}

fn context() -> u64 {
    made("cuCtxCreate_v2", &[0, 0])
}

fn free_bytes() -> u64 {
    let mut all = 0u64;
    made(
        "cuMemGetInfo_v2",
        &[(&raw mut all).expose_provenance() as u64],
    )
}

/// A sequence, and what it has made.
struct Sequence {
    random: Rng,
    made: Vec<(Kind, u64)>,
    scratch: Box<[u64]>,
    descriptions: Descriptions,
}

impl Sequence {
    fn new(seed: u64, own: u64) -> Sequence {
        let mut random = Rng::with_seed(seed);
        let module = load(PTX);
        let memory = made("cuMemAlloc_v2", &[256]);
        let function = |name: &CStr| {
            let name = name.as_ptr().expose_provenance() as u64;
            made("cuModuleGetFunction", &[module, name])
        };
        let mut made = vec![
            (Kind::Module, module),
            (Kind::Memory, memory),
            (Kind::Context, own),
            (Kind::Function, function(c"add")),
            (Kind::Function, function(c"racing")),
            (Kind::Stream, made("cuStreamCreate", &[0])),
            (Kind::Event, made("cuEventCreate", &[0])),
            (Kind::Graph, made("cuGraphCreate", &[0])),
        ];
        // One that the driver may refuse, or whose kernels go wrong.
        if random.u8(..) < 64 {
            let mutant = Tokens::of(PTX).mutant(&mut random);
            made.extend(loaded(&mutant).map(|it| (Kind::Module, it)));
        }
        Sequence {
            random,
            made,
            scratch: vec![0; SCRATCH / 8].into_boxed_slice(),
            descriptions: Descriptions::new(memory),
        }
    }

    fn step(&mut self) {
        // Without a current context most calls end early.
        if self.random.u8(..) < 16 {
            let context = self.handle(Kind::Context);
            call("cuCtxSetCurrent", &[context]);
        }
        let (name, are) = FUNCTIONS[self.random.usize(..FUNCTIONS.len())];
        let arguments: Vec<u64> = are.iter().map(|&is| self.argument(is)).collect();
        let answer = call(name, &arguments);
        let made = are.iter().zip(&arguments).find_map(|(is, at)| match is {
            Is::Made(kind) if answer == 0 && *at != 0 => Some(*kind),
            _ => None,
        });
        if let Some(kind) = made {
            self.made.push((kind, self.scratch[0]));
        }
    }

    /// Ends what it has made. Captures that it has begun end with their streams.
    fn end(self) {
        let of = |kind: Kind| {
            let all = self.made.iter().filter(move |it| it.0 == kind);
            all.map(|it| it.1)
        };
        for (kind, function) in [
            (Kind::Graph, "cuGraphDestroy"),
            (Kind::Executable, "cuGraphExecDestroy"),
            (Kind::Linking, "cuLinkDestroy"),
            (Kind::Library, "cuLibraryUnload"),
            (Kind::Pool, "cuMemPoolDestroy"),
            (Kind::Context, "cuCtxDestroy_v2"),
        ] {
            for handle in of(kind) {
                call(function, &[handle]);
            }
        }
        while call("cuCtxPopCurrent_v2", &[0]) == 0 {}
    }
}

fn load(ptx: &str) -> u64 {
    loaded(ptx).expect("the driver loads its own kernels")
}

fn loaded(ptx: &str) -> Option<u64> {
    let ptx = CString::new(ptx).ok()?;
    let mut module = 0u64;
    let place = (&raw mut module).expose_provenance() as u64;
    let answer = call(
        "cuModuleLoadData",
        &[place, ptx.as_ptr().expose_provenance() as u64],
    );
    (answer == 0).then_some(module)
}
