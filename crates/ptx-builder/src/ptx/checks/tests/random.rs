//! Random kernels that compute indices, check them against lengths, load, store and loop.
//!
//! A kernel is made by a number. One that differs is told with it: `one(seed)` runs it again.

use std::fmt::Write;
use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Shape};
use fastrand::Rng;

const SLICES: usize = 3;
const KERNELS: u64 = 3000;

#[test]
fn random_kernels_give_the_same_results_and_panics() {
    let mut counts = Counts::default();
    for seed in 0..KERNELS {
        one(seed, &mut counts);
    }
    // Both outcomes, and kernels that the pass changes, are many.
    assert!(counts.changed > KERNELS / 3, "{counts:?}");
    assert!(counts.panics > KERNELS / 2, "{counts:?}");
    assert!(counts.ends > KERNELS / 2, "{counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    changed: u64,
    panics: u64,
    ends: u64,
}

/// Runs the kernel of a number, as it is and gathered.
fn one(seed: u64, counts: &mut Counts) {
    let mut random = Rng::with_seed(seed);
    let text = Kernel::text(&mut random);
    let Some(gathered) = super::gathered(&text) else {
        return;
    };
    counts.changed += 1;
    // A thread alone panics where it does; of several, which panics first is the schedule's.
    let shapes = [1, 1, 1, 32].map(|threads| (threads, random.u32(0..64)));
    for (threads, first) in shapes {
        let lengths: [u64; SLICES] = std::array::from_fn(|_| random.u64(8..64));
        let [before, after] = [&text, &gathered].map(|text| run(text, lengths, first, threads));
        let panicked = before.0.is_err();
        assert!(
            before == after || threads > 1 && panicked && after.0.is_err(),
            "seed {seed}, {lengths:?}, {first}: {before:?}\nis {after:?}\n{text}\n{gathered}"
        );
        counts.panics += u64::from(panicked);
        counts.ends += u64::from(!panicked);
    }
}

/// Where a launch failed, and what it wrote.
type Outcome = (Result<(), String>, Vec<u32>);

fn run(text: &str, lengths: [u64; SLICES], first: u32, threads: u32) -> Outcome {
    let memory = Arc::new(Memory::default());
    let module = Module::load(text, &memory).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let allocate = |values: &[u32]| {
        let label = Label::new("slice", 4);
        let bytes = size_of_val(values) as u64;
        let address = memory.allocate(bytes, 256, Contents::Defined, label);
        let pointer =
            std::ptr::with_exposed_provenance_mut::<u32>(address.expect("memory") as usize);
        // SAFETY: it has as many bytes, and nothing runs.
        unsafe { pointer.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        pointer
    };
    let mut parameters = Vec::new();
    for (number, &length) in lengths.iter().enumerate() {
        let values: Vec<u32> = (0..length as u32).map(|i| i * 7 + number as u32).collect();
        parameters.extend(allocate(&values).addr().to_le_bytes());
        parameters.extend(length.to_le_bytes());
    }
    let output = vec![0; 4 * 96];
    let pointer = allocate(&output);
    parameters.extend(pointer.addr().to_le_bytes());
    parameters.extend(first.to_le_bytes());
    let shape = Shape {
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = module.kernel("k").expect("a kernel");
    let result = kernel.launch(shape, Options::default(), &parameters, &|_| {}, None);
    let result = result.map(|_| ()).map_err(|error| match error {
        LaunchError::Thread {
            thread,
            failure,
            place,
            ..
        } => format!("{thread}: {failure}, at {place}"),
        other => panic!("{other}\n{text}"),
    });
    // SAFETY: allocated above with as many, and nothing runs.
    let written = unsafe { std::slice::from_raw_parts(pointer, output.len()) };
    (result, written.to_vec())
}

/// The text of a kernel while it is made.
///
/// `%rd1` to `%rd3` are the slices' addresses, `%rd4` to `%rd6` their lengths, `%rd7` is the address of four results,
/// `%r1` the thread's number, `%r2` a sum of all that was loaded.
struct Kernel<'r> {
    random: &'r mut Rng,
    text: String,
    registers: usize,
    labels: usize,
    panics: usize,
}

impl Kernel<'_> {
    fn text(random: &mut Rng) -> String {
        let mut kernel = Kernel {
            random,
            text: String::new(),
            registers: 20,
            labels: 0,
            panics: 0,
        };
        let statements = kernel.random.usize(2..9);
        for _ in 0..statements {
            kernel.statement();
        }
        kernel.finished()
    }

    fn statement(&mut self) {
        match self.random.u8(0..20) {
            0..=2 => self.store(),
            3 | 4 => self.rounds(),
            5 => self.line("mul.lo.u32 %r2, %r2, 3;"),
            6..=11 => self.under_a_condition(),
            _ => self.access(),
        }
    }

    /// A loop of three rounds.
    fn rounds(&mut self) {
        let (count, label) = (self.register(), self.label());
        self.line(&format!("mov.b32 %r{count}, 0;"));
        self.line(&format!("{label}:"));
        for _ in 0..self.random.usize(1..4) {
            match self.random.bool() {
                true => self.access(),
                false => self.under_a_condition(),
            }
        }
        self.line(&format!("add.u32 %r{count}, %r{count}, 1;"));
        self.line(&format!("add.u32 %r1, %r1, %r{count};"));
        self.line(&format!("setp.lt.u32 %p{count}, %r{count}, 3;"));
        self.line(&format!("@%p{count} bra {label};"));
    }

    fn under_a_condition(&mut self) {
        let (condition, label) = (self.register(), self.label());
        let of = self.random.choice(["%r1", "%r1", "%r2"]).expect("one");
        let bit = 1 << self.random.u32(0..4);
        self.line(&format!("and.b32 %r{condition}, {of}, {bit};"));
        let compare = self.random.choice(["eq", "ne"]).expect("one");
        self.line(&format!(
            "setp.{compare}.u32 %p{condition}, %r{condition}, 0;"
        ));
        let sign = self.random.choice(["", "!"]).expect("one");
        self.line(&format!("@{sign}%p{condition} bra {label};"));
        for _ in 0..self.random.usize(1..3) {
            self.access();
            if self.random.u8(0..6) == 0 {
                self.store();
            }
        }
        self.line(&format!("{label}:"));
    }

    /// Loads an element, nearly always behind a check of its index, and adds it to the sum.
    fn access(&mut self) {
        let (index, slice) = (self.index(), self.random.usize(1..=SLICES));
        let at = self.register();
        let length = slice + SLICES;
        if self.random.u8(0..8) == 0 {
            // No check is needed.
            self.line(&format!("rem.u64 %rd{index}, %rd{index}, %rd{length};"));
        } else {
            self.check(index, length);
        }
        self.line(&format!("shl.b64 %rd{at}, %rd{index}, 2;"));
        self.line(&format!("add.s64 %rd{at}, %rd{at}, %rd{slice};"));
        self.line(&format!("ld.global.b32 %r{at}, [%rd{at}];"));
        match self.random.u8(0..4) {
            0 => self.line(&format!("xor.b32 %r2, %r2, %r{at};")),
            _ => self.line(&format!("mad.lo.u32 %r2, %r2, 31, %r{at};")),
        }
    }

    fn check(&mut self, index: usize, length: usize) {
        let (compare, sign) = match self.random.u8(0..4) {
            0 => ("lt", "!"),
            _ => ("ge", ""),
        };
        self.line(&format!(
            "setp.{compare}.u64 %p{index}, %rd{index}, %rd{length};"
        ));
        let panic = self.panics;
        self.panics += 1;
        self.line(&format!("@{sign}%p{index} bra $BAD_{panic};"));
    }

    /// A register of an index: of the thread, or of what was loaded. Sometimes it is one that is used again.
    fn index(&mut self) -> usize {
        let index = match self.random.u8(0..4) {
            0 => 11,
            _ => self.register(),
        };
        let of = match self.random.u8(0..6) {
            0 => "%r2",
            _ => "%r1",
        };
        let (mask, more) = (
            self.random.choice([7, 15, 31]).expect("one"),
            self.random.u32(0..20),
        );
        let narrow = self.register();
        self.line(&format!("and.b32 %r{narrow}, {of}, {mask};"));
        self.line(&format!("cvt.u64.u32 %rd{index}, %r{narrow};"));
        let operation = self.random.choice(["add", "add", "sub"]).expect("one");
        self.line(&format!(
            "{operation}.s64 %rd{index}, %rd{index}, {};",
            more / 3
        ));
        index
    }

    fn store(&mut self) {
        let place = self.random.u32(0..3) * 4;
        self.line(&format!("st.global.b32 [%rd7+{place}], %r2;"));
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L_{}", self.labels)
    }

    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    /// The whole module. A panic is at a place of its own.
    fn finished(&self) -> String {
        let mut panics = String::new();
        for panic in 0..self.panics {
            let line = panic + 100;
            let _ = write!(
                panics,
                "$BAD_{panic}:\n.loc 1 {line} 1\nst.global.b32 [%rd7+12], %r2;\ntrap;\nexit;\n"
            );
        }
        let (count, text) = (self.registers + 1, &self.text);
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"/w/k.rs\"\n\
             .visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2, .param .u64 k_3, .param .u64 k_4, \
             .param .u64 k_5, .param .u64 k_6, .param .u32 k_7)\n{{\n\
             .reg .pred %p<{count}>;\n.reg .b32 %r<{count}>;\n.reg .b64 %rd<{count}>;\n\
             ld.param.b64 %rd1, [k_0];\nld.param.b64 %rd4, [k_1];\nld.param.b64 %rd2, [k_2];\n\
             ld.param.b64 %rd5, [k_3];\nld.param.b64 %rd3, [k_4];\nld.param.b64 %rd6, [k_5];\n\
             ld.param.b64 %rd7, [k_6];\nld.param.b32 %r3, [k_7];\nmov.b32 %r2, 1;\n\
             mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd8, %r1, 16;\nadd.s64 %rd7, %rd7, %rd8;\n\
             add.u32 %r1, %r1, %r3;\n{text}st.global.b32 [%rd7], %r2;\nret;\n{panics}}}\n"
        )
    }
}
