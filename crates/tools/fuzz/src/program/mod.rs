//! Random PTX programs: well-typed, the same for a seed, without undefined behaviour, and valid whatever statements are
//! taken away.

mod chain;
mod class;
mod generate;
mod origin;
mod registers;
mod shrink;
mod templates;
mod text;

pub use class::{Class, Classes};
pub use generate::{STATEMENTS, generate, generate_long};
pub use origin::origin;
pub use registers::Registers;
pub use shrink::shrink;
pub use text::module;

/// Threads of a block.
pub const THREADS: u32 = 64;

/// Blocks of the grid.
pub const BLOCKS: u32 = 2;

/// Bytes of global memory that each thread has for itself.
pub const SCRATCH_BYTES: u32 = 64;

/// A kernel and the functions that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The seed that it was made from.
    pub seed: u64,
    /// The kernel's statements.
    pub body: Vec<Statement>,
    /// The statements of each function.
    pub functions: Vec<Vec<Statement>>,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Instructions that go together.
    Plain {
        /// Their class.
        class: Class,
        /// The instructions, without semicolons.
        lines: Vec<String>,
        /// Whether all but the first can be left out one by one.
        is_divisible: bool,
    },
    /// `if`, of a predicate.
    If {
        /// The predicate.
        predicate: String,
        /// Where it is true.
        then: Vec<Statement>,
        /// Where it is false.
        otherwise: Vec<Statement>,
    },
    /// One of four, by the low bits of a register.
    Switch {
        /// The register.
        index: String,
        /// The four.
        arms: Vec<Vec<Statement>>,
    },
    /// A loop.
    Loop {
        /// How often it runs.
        times: Times,
        /// The register that counts, which nothing else uses.
        counter: String,
        /// The statements that it repeats.
        body: Vec<Statement>,
    },
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// As often in each thread.
    Fixed(u32),
    /// 1 to 4 times, by the low bits of a register.
    OfThread(String),
}

/// The bits that threads begin with: for each thread as many words as [`Registers::ALL`] has.
pub fn inputs(seed: u64) -> Vec<u64> {
    /// Values at whose borders something happens, of integers and of floats of each width.
    const EDGES: [u64; 40] = [
        0,
        1,
        2,
        3,
        31,
        32,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x7FFF_FFFF,
        0x8000_0000,
        0x8000_0001,
        0xFFFF_FFFF,
        0x7FFF_FFFF_FFFF_FFFF,
        0x8000_0000_0000_0000,
        0xFFFF_FFFF_FFFF_FFFF,
        0x3F80_0000,
        0xBF80_0000,
        0x3FC0_0000_3F80_0001,
        0x0000_0001_007F_FFFF,
        0x0080_0000,
        0x7F7F_FFFF,
        0x7F80_0000,
        0xFF80_0000,
        0x7FC0_0000,
        0x4B00_0001,
        0x4F00_0000,
        0x3FF0_0000_0000_0000,
        0xBFF8_0000_0000_0000,
        0x0010_0000_0000_0000,
        0x000F_FFFF_FFFF_FFFF,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0x43E0_0000_0000_0000,
        0x3C00_BC00_7BFF_0400,
        0x3F80_BF80_7F7F_0080,
    ];
    let mut random = fastrand::Rng::with_seed(seed ^ 0x1A9C_5E3D_77B1_0042);
    let word = |random: &mut fastrand::Rng| match random.u32(0..8) {
        0..3 => EDGES[random.usize(..EDGES.len())],
        // A float of one or two words that is neither huge nor tiny.
        3 => {
            u64::from(random.f32().to_bits()) << 32
                | u64::from((random.f32() * 64.0 - 32.0).to_bits())
        }
        4 => ((random.f64() - 0.5) * 1e6).to_bits(),
        5 => u64::from(random.u16(..)),
        _ => random.u64(..),
    };
    let count = (BLOCKS * THREADS) as usize * Registers::ALL.len();
    (0..count).map(|_| word(&mut random)).collect()
}
