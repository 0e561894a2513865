//! The reader of PTX, the engine's lowering, and launches.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Limits, Memory};
use engine::tensor_map::{Described, RANK};
use engine::{Checks, Kernel, Module, Options, Schedule, Shape};
use fastrand::Rng;

use super::Target;
use crate::mutate::Tokens;
use crate::program::{Classes, generate, module};

/// Longer files take much longer than they find more.
const LONGEST: u64 = 40_000;

/// How many steps a warp of a launch may go through. Checks of lanes that write the same bytes again and again take a quarter of a
/// millisecond per step and under a sanitizer 2 ms, and the clock is not asked at each.
const STEPS: u64 = 128;

/// How long a launch may take.
const TIME: Duration = Duration::from_secs(2);

/// Bytes of each buffer that a launch is given.
const BUFFER: u64 = 4096;

const LIMITS: Limits = Limits {
    bytes: 16 << 20,
    heap_bytes: 1 << 20,
    guard: 64,
    quarantine_bytes: 0,
    quarantine_count: 0,
};

/// Mutants of PTX files and of random programs, launched.
#[derive(Debug)]
pub struct Modules {
    texts: Vec<String>,
    cores: usize,
}

impl Modules {
    /// With the files of these folders, and of those in them, beside random programs.
    ///
    /// Launches that are not checked run on so many cores: on more than one, what a seed does depends on time, too.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn new(corpus: &[String], cores: usize) -> io::Result<Modules> {
        let mut texts = Vec::new();
        for folder in corpus {
            read(Path::new(folder), &mut texts)?;
        }
        texts.extend((0..32).map(|seed| module(&[generate(seed, Classes::without(&[]))])));
        Ok(Modules { texts, cores })
    }
}

/// The PTX of a file or a folder, in the order of the names.
fn read(path: &Path, texts: &mut Vec<String>) -> io::Result<()> {
    if path.is_dir() {
        let entries = fs::read_dir(path)?.map(|it| it.map(|it| it.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        return paths.iter().try_for_each(|it| read(it, texts));
    }
    let is_ptx = path.extension().is_some_and(|it| it == "ptx");
    if is_ptx && fs::metadata(path)?.len() <= LONGEST {
        texts.push(fs::read_to_string(path)?);
    }
    Ok(())
}

impl Target for Modules {
    fn run(&mut self, seed: u64) -> io::Result<&'static str> {
        let mut random = Rng::with_seed(seed);
        let mutant = self.mutant(&mut random);
        Ok(launch(&mutant, self.cores, &mut random))
    }
}

impl Modules {
    /// The mutant of a seed.
    pub fn mutant_of(&self, seed: u64) -> String {
        self.mutant(&mut Rng::with_seed(seed))
    }

    /// A file's, or in every fourth case that of a random program of its own.
    fn mutant(&self, random: &mut Rng) -> String {
        match random.u32(0..4) {
            0 => {
                let program = generate(random.u64(..), Classes::without(&[]));
                Tokens::of(&module(&[program])).mutant(random)
            }
            _ => {
                let text = &self.texts[random.usize(..self.texts.len())];
                Tokens::of(text).mutant(random)
            }
        }
    }
}

/// Launches the kernels of a file as it is, in several ways.
pub fn replay(text: &str, cores: usize) {
    for seed in 0..8 {
        launch(text, cores, &mut Rng::with_seed(seed));
    }
}

/// Loads the module and launches its first kernels. Gives how far it came.
fn launch(text: &str, cores: usize, random: &mut Rng) -> &'static str {
    let memory = Arc::new(Memory::new(LIMITS));
    let Ok(module) = Module::load(text, &memory) else {
        return "refused by the reader";
    };
    let names: Vec<&str> = module.kernels().take(3).collect();
    let mut outcome = "without a kernel";
    for name in names {
        let Some(kernel) = module.kernel(name) else {
            continue;
        };
        if kernel.prepare().is_err() {
            outcome = "refused before the launch";
            continue;
        }
        outcome = match launched(&kernel, &memory, cores, random) {
            true => "launched to the end",
            false => "launched, with a finding or a failure",
        };
    }
    outcome
}

fn launched(kernel: &Kernel, memory: &Arc<Memory>, cores: usize, random: &mut Rng) -> bool {
    let Some(parameters) = parameters(kernel, memory, random) else {
        return false;
    };
    let shape = Shape {
        grid: [random.u32(1..3) * cores as u32, 1, 1],
        block: [[1, 32, 48, 64, 128][random.usize(..5)], 1, 1],
        dynamic_shared: [0, 0, 256, 4096][random.usize(..4)],
    };
    let options = Options {
        cores,
        steps: STEPS,
        time: Some(TIME),
        divergence: random.bool(),
        schedule: match random.u32(0..3) {
            0 => Schedule::Seeded(random.u64(..)),
            _ => Schedule::InOrder,
        },
        resident_blocks: [1, 8, u64::MAX][random.usize(..3)],
        ..Options::default()
    };
    let (mut checker, mut streams) = (Checker::new(), Streams::default());
    let stream = streams.stream();
    let checks = random.bool().then(|| Checks {
        checker: &mut checker,
        operation: streams.enqueue(stream),
        fixed: Vec::new(),
        lent: Vec::new(),
        benign: None,
    });
    match random.u32(0..4) {
        0 => kernel
            .count(shape, options, &parameters, &|_| {}, checks)
            .is_ok(),
        _ => kernel
            .launch(shape, options, &parameters, &|_| {}, checks)
            .is_ok(),
    }
}

/// Buffers for pointers, small numbers, and tensor maps for what is as long as one. None: too many bytes of them.
fn parameters(kernel: &Kernel, memory: &Arc<Memory>, random: &mut Rng) -> Option<Vec<u8>> {
    let mut parameters: Vec<Vec<u8>> = Vec::new();
    for bytes in kernel.parameter_bytes() {
        let value = match bytes {
            8 => pointer(memory, random)?.to_le_bytes().to_vec(),
            128 => tensor_map(pointer(memory, random)?, random).to_vec(),
            0..=65_536 => number(bytes as usize, random),
            _ => return None,
        };
        parameters.push(value);
    }
    let addresses: Vec<*const u8> = parameters.iter().map(|it| it.as_ptr()).collect();
    // SAFETY: one address for each parameter, at which as many bytes lie as it has.
    Some(unsafe { kernel.pack(&addresses) })
}

fn number(bytes: usize, random: &mut Rng) -> Vec<u8> {
    let mut value = vec![0; bytes];
    match random.u32(0..6) {
        0 => random.fill(&mut value),
        1 => value.fill(0xFF),
        _ => {
            if let Some(first) = value.first_mut() {
                *first = random.u8(0..80);
            }
        }
    }
    value
}

/// The address of a buffer, in which a tensor map lies, or something near it.
fn pointer(memory: &Arc<Memory>, random: &mut Rng) -> Option<u64> {
    let contents = if random.bool() {
        Contents::Defined
    } else {
        Contents::Undefined
    };
    let address = memory
        .allocate(BUFFER, 256, contents, Label::new("buffer", 4))
        .ok()?;
    let map = tensor_map(address, random);
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: allocated above with more bytes than a tensor map has, and nothing runs.
    unsafe { to.copy_from_nonoverlapping(map.as_ptr(), map.len()) };
    Some(match random.u32(0..12) {
        0 => address.wrapping_add(u64::from(random.u8(..))),
        1 => address + BUFFER - 4,
        2 => random.u64(0..4096),
        _ => address,
    })
}

/// A tensor map as a driver makes it, of which bytes were changed in every second.
fn tensor_map(address: u64, random: &mut Rng) -> [u8; 128] {
    let rank = random.usize(1..=RANK);
    let mut map = Described {
        address: address & !15,
        strides: &[64, 256, 1024, 4096][..rank - 1],
        sizes: &[4; RANK][..rank],
        tile: &[16, 2, 2, 2, 2][..rank],
        steps: &[1; RANK][..rank],
        element: random.u8(0..14),
        swizzle: random.u8(0..4),
        outside: random.u8(0..2),
    }
    .encode();
    if random.bool() {
        for _ in 0..random.u32(1..4) {
            let at = random.usize(..88);
            map[at] = [0, 1, 0x7F, 0x80, 0xFF, random.u8(..)][random.usize(..6)];
        }
    }
    map
}
