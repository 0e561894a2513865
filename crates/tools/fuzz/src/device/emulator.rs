//! The engine.

use std::sync::Arc;

use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Limits, Memory};
use engine::{Checks, Module, Options, Shape};

use super::{Device, Outcome};
use crate::program::{BLOCKS, Program, Registers, SCRATCH_BYTES, THREADS, inputs, module};

/// How the engine executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// With its checks.
    Checked,
    /// Without them.
    Unchecked,
}

/// The engine, on one core.
#[derive(Debug)]
pub struct Emulator(pub Mode);

const LIMITS: Limits = Limits {
    bytes: 64 << 20,
    heap_bytes: 0,
    guard: 64,
    quarantine_bytes: 0,
    quarantine_count: 0,
};

/// Words of the inputs, and as many of the outputs.
pub(super) const WORDS: usize = (BLOCKS * THREADS) as usize * Registers::ALL.len();

/// Bytes of the threads' own memory.
pub(super) const OWN_BYTES: usize = (BLOCKS * THREADS * SCRATCH_BYTES) as usize;

impl Device for Emulator {
    fn name(&self) -> String {
        match self.0 {
            Mode::Checked => "the engine with checks".to_owned(),
            Mode::Unchecked => "the engine".to_owned(),
        }
    }

    fn run(&mut self, programs: &[Program]) -> Result<Vec<Outcome>, String> {
        let memory = Arc::new(Memory::new(LIMITS));
        let loaded = Module::load(&module(programs), &memory).map_err(|it| it.to_string());
        if loaded.is_err() && programs.len() > 1 {
            // Which of them is refused, only one by one tells.
            let one_by_one = programs.iter().map(|it| self.run(std::slice::from_ref(it)));
            return Ok(one_by_one.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let allocate = |bytes: usize| {
            let label = Label::new("buffer", 8);
            memory.allocate(bytes as u64, 256, Contents::Defined, label)
        };
        let mut buffers = [0; 3];
        for (buffer, bytes) in buffers.iter_mut().zip([8 * WORDS, 8 * WORDS, OWN_BYTES]) {
            *buffer = allocate(bytes).map_err(|it| it.to_string())?;
        }
        let one = |program: &Program| match &loaded {
            Ok(module) => self.launch(module, program, buffers),
            Err(error) => Err(error.clone()),
        };
        Ok(programs.iter().map(one).collect())
    }
}

impl Emulator {
    fn launch(&self, module: &Module, program: &Program, [from, to, own]: [u64; 3]) -> Outcome {
        let place = |address: u64| std::ptr::with_exposed_provenance_mut::<u64>(address as usize);
        // SAFETY: `run` has allocated so many words and bytes there, and nothing runs.
        unsafe {
            place(from).copy_from_nonoverlapping(inputs(program.seed).as_ptr(), WORDS);
            place(to).write_bytes(0, WORDS);
            place(own).cast::<u8>().write_bytes(0, OWN_BYTES);
        }
        let name = format!("p{}", program.seed);
        let kernel = module.kernel(&name).ok_or("no kernel")?;
        let parameters: Vec<u8> = [from, to, own]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let shape = Shape {
            grid: [BLOCKS, 1, 1],
            block: [THREADS, 1, 1],
            dynamic_shared: 0,
        };
        let options = Options {
            cores: 1,
            steps: 1 << 20,
            ..Options::default()
        };
        let (mut checker, mut streams) = (Checker::new(), Streams::default());
        let stream = streams.stream();
        let checks = (self.0 == Mode::Checked).then(|| Checks {
            checker: &mut checker,
            operation: streams.enqueue(stream),
            fixed: Vec::new(),
            lent: Vec::new(),
            benign: None,
        });
        kernel
            .launch(shape, options, &parameters, &|_| {}, checks)
            .map_err(|error| error.to_string())?;
        // SAFETY: so many words were allocated and written, and the launch has ended.
        Ok(unsafe { std::slice::from_raw_parts(place(to), WORDS) }.to_vec())
    }
}
