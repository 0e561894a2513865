//! The classes of statements, which can be left out and by which differences are counted.

use std::fmt;
use std::str::FromStr;

/// Class of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Sums, products, quotients of integers.
    Integer,
    /// Sums of more than one register.
    Carry,
    /// Logic, shifts, fields, permutations.
    Bits,
    /// Integers of 8 and 16 bits in a register.
    Packed,
    /// Video instructions.
    Video,
    /// Floats of 32 and 64 bits.
    Float,
    /// `f16` and `f16x2`.
    Half,
    /// `bf16` and `bf16x2`.
    Bfloat,
    /// `set`, `setp`, `selp`, `slct`.
    Compare,
    /// Logic of predicates.
    Predicate,
    /// `cvt`.
    Convert,
    /// `shfl`.
    Shuffle,
    /// `vote` and reductions of barriers.
    Vote,
    /// `match`.
    Match,
    /// `redux`.
    Reduce,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
    /// Global memory, by vectors too.
    Memory,
    /// Constant memory.
    Constant,
    /// Atomics that only one thread executes at an address.
    Atomic,
    /// Special registers.
    Special,
    /// Approximations of which the engine has a GPU's bits.
    Approximate,
    /// Approximations of which it is nearer than the PTX ISA's bound of error, and has other bits: `sin`, `cos`, `tanh`.
    Bounded,
    /// Floats that are NaN keep their bits: without it each is made the same NaN.
    Nan,
    /// Branches, loops, tables of targets.
    Control,
    /// Functions.
    Call,
}

/// All classes with their names.
const NAMES: [(Class, &str); 26] = [
    (Class::Integer, "integer"),
    (Class::Carry, "carry"),
    (Class::Bits, "bits"),
    (Class::Packed, "packed"),
    (Class::Video, "video"),
    (Class::Float, "float"),
    (Class::Half, "half"),
    (Class::Bfloat, "bfloat"),
    (Class::Compare, "compare"),
    (Class::Predicate, "predicate"),
    (Class::Convert, "convert"),
    (Class::Shuffle, "shuffle"),
    (Class::Vote, "vote"),
    (Class::Match, "match"),
    (Class::Reduce, "reduce"),
    (Class::Shared, "shared"),
    (Class::Local, "local"),
    (Class::Memory, "memory"),
    (Class::Constant, "constant"),
    (Class::Atomic, "atomic"),
    (Class::Special, "special"),
    (Class::Approximate, "approximate"),
    (Class::Bounded, "bounded"),
    (Class::Nan, "nan"),
    (Class::Control, "control"),
    (Class::Call, "call"),
];

impl Class {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Class> {
        NAMES.iter().map(|(class, _)| *class)
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(class, _)| class == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Class {
    type Err = String;

    fn from_str(text: &str) -> Result<Class, String> {
        let of_name = NAMES.iter().find(|(_, name)| *name == text);
        of_name.map(|(class, _)| *class).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
            format!("no class `{text}`: expected one of {}", names.join(", "))
        })
    }
}

/// Some classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes(u32);

impl Classes {
    /// All but these.
    pub fn without(classes: &[Class]) -> Classes {
        let left_out = classes.iter().fold(0, |bits, class| bits | class.bit());
        Classes(!left_out)
    }

    /// Whether a class is among them.
    pub fn has(self, class: Class) -> bool {
        self.0 & class.bit() != 0
    }
}

impl Default for Classes {
    /// All but [`Class::Nan`] and [`Class::Bounded`]: the PTX ISA leaves bits open.
    fn default() -> Classes {
        Classes::without(&[Class::Nan, Class::Bounded])
    }
}
