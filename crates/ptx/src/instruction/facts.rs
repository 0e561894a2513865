//! Facts about instructions that their rows state: what they count as, and what else but a lane's result they concern.

use std::fmt;

use crate::Type;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal,)*) => {
        /// The class of an instruction, for counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $class,)* }

        impl Class {
            /// All of them.
            pub const ALL: &[Class] = &[$(Class::$class),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Class::$class => $name),* }
            }
        }
    };
}

classes! {
    /// A product and a sum of floating point.
    Fma = "fma",
    /// A sum or a difference of floating point.
    Add = "add",
    /// A product of floating point.
    Multiply = "multiply",
    /// A quotient, a root or a function of floating point.
    Special = "special",
    /// A product of matrices.
    Tensor = "tensor",
    /// Arithmetic on integers.
    Integer = "integer",
    /// Bits, signs, shifts.
    Logic = "logic",
    /// From one type to another.
    Convert = "convert",
    /// From register to register.
    Move = "move",
    /// Comparisons, selections, the smaller and the larger.
    Compare = "compare",
    /// From memory.
    Load = "load",
    /// To memory.
    Store = "store",
    /// Changes of memory that nobody interrupts.
    Atomic = "atomic",
    /// From memory to memory.
    Copy = "copy",
    /// Branches, returns, ends.
    Control = "control",
    /// Calls, of functions of the driver too.
    Call = "call",
    /// Where threads wait for each other.
    Barrier = "barrier",
    /// The order of accesses, and waiting for copies.
    Fence = "fence",
    /// Exchanges between the lanes of a warp: shuffles, votes, matches, reductions.
    Shuffle = "shuffle",
    /// The rest.
    Other = "other",
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The threads that an instruction concerns besides the one that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meeting {
    /// None: a compiler may copy it into the arms of a branch.
    Alone,
    /// The lanes that execute it together exchange values, and wait for none.
    Lanes,
    /// Lanes of the warp wait for each other.
    Warp,
    /// Warps of the block wait for each other.
    Block,
}

/// The instruction that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// The next of the text.
    Next,
    /// The next of the text, once something else has run: other warps, or a function.
    Resumes,
    /// One at a label.
    Branches,
    /// The caller's.
    Returns,
    /// None.
    Ends,
}

/// Facts about an instruction that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The class that it counts as.
    pub class: Class,
    /// The type that it computes with or moves, where it has one.
    pub element: Option<Type>,
    /// Operations of arithmetic in each thread.
    pub operations: u32,
    /// Whom it concerns.
    pub meeting: Meeting,
    /// The instruction that follows.
    pub flow: Flow,
    /// Whether it writes registers alone, and the same bits whenever its operands have the same.
    pub is_pure: bool,
}

impl Facts {
    /// Those of a class, for all that a row does not say.
    pub(super) const fn of(class: Class) -> Self {
        Self {
            class,
            element: None,
            operations: 0,
            meeting: Meeting::Alone,
            flow: Flow::Next,
            is_pure: false,
        }
    }

    /// Operations of all values in a register of its type.
    pub(super) const fn each(self, operations: u32) -> u32 {
        match self.element {
            Some(Type::F16x2 | Type::Bf16x2 | Type::F32x2) => 2 * operations,
            _ => operations,
        }
    }
}
