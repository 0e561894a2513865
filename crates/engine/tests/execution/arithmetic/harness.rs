//! Executes one instruction on all combinations of some values.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::memory::{Contents, Label, Limits, Memory};
use engine::{Module, Options, Shape, Unlowered};

/// A warp and a half.
const THREADS: u32 = 48;

/// The contents of destinations where the guard is false.
const BEFORE: u64 = 0xA5A5_A5A5_A5A5_A5A5;

const LIMITS: Limits = Limits {
    bytes: 1 << 30,
    heap_bytes: 0,
    guard: 64,
    quarantine_bytes: 0,
    quarantine_count: 0,
};

/// Values of integers at whose borders something happens.
pub(crate) const INTEGERS: &[u64] = &[
    0,
    1,
    2,
    5,
    31,
    32,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_2345,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFF,
    0x8765_4321,
    0x1234_5678_9ABC_DEF0,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Bits of `f32`: zeros, subnormal and normal ones, halves between integers, infinities, NaN.
pub(crate) const F32: &[u64] = &[
    0,
    0x8000_0000,
    1,
    0x807F_FFFF,
    0x0080_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001,
    0x3F00_0000,
    0xBFC0_0000,
    0x4020_0000,
    0x3EAA_AAAB,
    0x4B80_0001,
    0x4F00_0000,
    0xCF80_0000,
    0x5F80_0000,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFF80_0001,
    0x4049_0FDB,
    0x477F_F000,
];

/// Bits of `f64`.
pub(crate) const F64: &[u64] = &[
    0,
    1 << 63,
    1,
    0x800F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0001,
    0x3FE0_0000_0000_0000,
    0xBFF8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x3FD5_5555_5555_5555,
    0x41E0_0000_0000_0000,
    0xC1F0_0000_0010_0000,
    0x43F0_0000_0000_0000,
    0x47EF_FFFF_F000_0000,
    0x36A0_0000_0000_0001,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF0_0000_0000_0001,
];

/// Bits of halves, of either format, with another half above.
pub(crate) const HALVES: &[u64] = &[
    0x3C00_0000,
    0x0000_8000,
    0xBC00_0001,
    0x8000_83FF,
    0x7C00_0400,
    0x7BFF_3C00,
    0x3F80_BC00,
    0x7F80_3C01,
    0xFF80_3555,
    0x7FC0_7BFF,
    0x1234_7C00,
    0x0080_FC00,
    0x8001_7E00,
    0x3800_7F80,
    0x4280_FF80,
    0x7D01_3F80,
    0x5555_7F7F,
    0x3E00_4248,
];

/// An instruction and the registers that it names: `%d` and `%e` are written; `%a`, `%b`, `%c` and `%f` are
/// read. Types are `pred`, `b8`, `b16`, `b32` and `b64`.
pub(crate) struct Case<'t, const N: usize> {
    /// One instruction, or several, each with a semicolon. All are guarded.
    pub(crate) text: &'t str,
    /// Types of `%d` and `%e`.
    pub(crate) written: &'t [&'t str],
    /// Types of what is read.
    pub(crate) read: [&'t str; N],
}

/// Runs an instruction with one result for all combinations of values. `expected` is compared in the width of
/// the destination.
pub(crate) fn check<const N: usize>(
    text: &str,
    d: &str,
    read: [&str; N],
    values: [&[u64]; N],
    expected: impl Fn([u64; N]) -> u64,
) {
    let case = Case {
        text,
        written: &[d],
        read,
    };
    case.check(values, |sources| vec![expected(sources)]);
}

/// Why an instruction cannot be executed, or is none that `ptxas` takes.
pub(crate) fn refusal(text: &str, d: &str, read: &[&str]) -> String {
    let ptx = kernel(text, &[d], read);
    if let Err(refused) = ptx::parse(&ptx) {
        return refused.message;
    }
    let module = Module::load(&ptx, &Arc::new(Memory::new(LIMITS))).unwrap();
    match module.kernel("k").unwrap().prepare().unwrap_err() {
        Unlowered::Unsupported(it) => it.why,
        other => panic!("{other}"),
    }
}

impl<const N: usize> Case<'_, N> {
    /// As [`check`], with several results.
    pub(crate) fn check(&self, values: [&[u64]; N], expected: impl Fn([u64; N]) -> Vec<u64>) {
        let combinations = combinations(values);
        let results = self
            .run(&combinations)
            .unwrap_or_else(|error| panic!("{}: {error}", self.text));
        for (sources, results) in combinations.iter().zip(results) {
            let read = |index: usize| sources[index] & mask(self.read[index]);
            let expected = expected(std::array::from_fn(read));
            for ((result, expected), ty) in results.iter().zip(expected).zip(self.written) {
                let expected = expected & mask(ty);
                let text = self.text;
                assert!(
                    *result == expected,
                    "{text} of {sources:#x?}: {result:#x} and not {expected:#x}"
                );
            }
        }
    }

    /// The results of each combination.
    fn run(&self, combinations: &[[u64; N]]) -> Result<Vec<Vec<u64>>, String> {
        let memory = Arc::new(Memory::new(LIMITS));
        let module = Module::load(&kernel(self.text, self.written, &self.read), &memory).unwrap();
        let kernel = module.kernel("k").unwrap();
        let blocks = (combinations.len() as u32).div_ceil(THREADS);
        let threads = (blocks * THREADS) as usize;
        let buffer = |count: usize| {
            let label = Label::new("buffer", 8);
            memory
                .allocate(
                    8 * (count * threads).max(1) as u64,
                    16,
                    Contents::Defined,
                    label,
                )
                .unwrap()
        };
        let (inputs, outputs) = (buffer(N), buffer(self.written.len()));
        let words = |address: u64, index: usize| {
            std::ptr::with_exposed_provenance_mut::<u64>(address as usize).wrapping_add(index)
        };
        for (thread, sources) in combinations.iter().enumerate() {
            for (index, source) in sources.iter().enumerate() {
                // SAFETY: the buffer has a word for each operand of each thread.
                unsafe { words(inputs, index * threads + thread).write(*source) };
            }
        }
        let mut results = vec![vec![0; self.written.len()]; combinations.len()];
        for flip in 0..2u32 {
            let mut parameters = Vec::new();
            parameters.extend(inputs.to_le_bytes());
            parameters.extend(outputs.to_le_bytes());
            parameters.extend((threads as u32).to_le_bytes());
            parameters.extend(flip.to_le_bytes());
            let shape = Shape {
                grid: [blocks, 1, 1],
                block: [THREADS, 1, 1],
                dynamic_shared: 0,
            };
            let options = Options {
                cores: 1,
                ..Options::default()
            };
            kernel
                .launch(shape, options, &parameters, &|_| {}, None)
                .map_err(|error| error.to_string())?;
            for (thread, results) in results.iter_mut().enumerate() {
                for (index, result) in results.iter_mut().enumerate() {
                    // SAFETY: the buffer has a word for each result of each thread.
                    let word = unsafe { words(outputs, index * threads + thread).read() };
                    match is_running(thread as u32, flip) {
                        true => *result = word,
                        false => {
                            let before = BEFORE & mask(self.written[index]);
                            assert_eq!(word, before, "{} in a masked lane", self.text);
                        }
                    }
                }
            }
        }
        Ok(results)
    }
}

/// Whether the guard is true.
fn is_running(thread: u32, flip: u32) -> bool {
    let lane = thread % THREADS;
    (lane ^ lane >> 2 ^ flip) & 1 != 0
}

/// The bits of a register.
fn mask(ty: &str) -> u64 {
    match ty {
        "pred" => 1,
        "b8" => 0xFF,
        "b16" => 0xFFFF,
        "b32" => 0xFFFF_FFFF,
        _ => u64::MAX,
    }
}

fn combinations<const N: usize>(values: [&[u64]; N]) -> Vec<[u64; N]> {
    let count: usize = values.iter().map(|it| it.len()).product();
    let combination = |mut index: usize| {
        values.map(|of_operand| {
            let value = of_operand[index % of_operand.len()];
            index /= of_operand.len();
            value
        })
    };
    (0..count).map(combination).collect()
}

/// A kernel that executes the text in half of its threads.
fn kernel(text: &str, written: &[&str], read: &[&str]) -> String {
    let mut body = String::new();
    let mut line = |text: String| writeln!(body, "{text}").unwrap();
    line(".reg .pred %g; .reg .b32 %r<8>; .reg .b64 %w<8>; .reg .b64 %t;".to_owned());
    line("ld.param.u64 %w0, [inputs]; ld.param.u64 %w1, [outputs];".to_owned());
    line("ld.param.u32 %r0, [threads]; ld.param.u32 %r1, [flip];".to_owned());
    line("mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r3, %r3, 48, %r2;".to_owned());
    line("mul.wide.u32 %w2, %r3, 8; add.u64 %w0, %w0, %w2; add.u64 %w1, %w1, %w2;".to_owned());
    line("mul.wide.u32 %w3, %r0, 8;".to_owned());
    line("shr.u32 %r4, %r2, 2; xor.b32 %r4, %r4, %r2; xor.b32 %r4, %r4, %r1;".to_owned());
    line("and.b32 %r4, %r4, 1; setp.ne.u32 %g, %r4, 0;".to_owned());
    for (name, ty) in ["%a", "%b", "%c", "%f"].iter().zip(read) {
        line(format!(".reg .{ty} {name};"));
        line(match *ty {
            "pred" => {
                format!("ld.global.u64 %t, [%w0]; and.b64 %t, %t, 1; setp.ne.u64 {name}, %t, 0;")
            }
            _ => format!("ld.global.{ty} {name}, [%w0];"),
        });
        line("add.u64 %w0, %w0, %w3;".to_owned());
    }
    for (name, ty) in ["%d", "%e"].iter().zip(written) {
        line(format!(".reg .{ty} {name};"));
        line(match *ty {
            "pred" => format!("setp.eq.u32 {name}, %r0, %r0;"),
            "b8" => format!("ld.global.b8 {name}, [sentinel];"),
            _ => format!("mov.{ty} {name}, {};", BEFORE & mask(ty)),
        });
    }
    for instruction in text.split_inclusive(';') {
        line(format!("@%g {instruction}"));
    }
    for (name, ty) in ["%d", "%e"].iter().zip(written) {
        line("mov.u64 %t, 0; st.global.u64 [%w1], %t;".to_owned());
        line(match *ty {
            "pred" => format!("selp.b64 %t, 1, 0, {name}; st.global.u64 [%w1], %t;"),
            _ => format!("st.global.{ty} [%w1], {name};"),
        });
        line("add.u64 %w1, %w1, %w3;".to_owned());
    }
    format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n.global .align 8 .b8 sentinel[8] = {{165, 165}};\n\
         .visible .entry k(.param .u64 inputs, .param .u64 outputs, .param .u32 threads, .param .u32 flip)\n\
         {{\n{body}ret;\n}}\n"
    )
}
