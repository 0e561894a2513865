//! Comparison, selection and logic.

use crate::instruction::operations;
use crate::names::named;
use crate::{Operand, Predicate, Reg, Type, Wrap};

named! {
    /// A relation of two values.
    pub enum Comparison {
        /// Equal.
        Eq = "eq",
        /// Not equal (false where one is NaN).
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
        /// Less, of unsigned integers.
        Lo = "lo",
        /// Less or equal, of unsigned integers.
        Ls = "ls",
        /// Greater, of unsigned integers.
        Hi = "hi",
        /// Greater or equal, of unsigned integers.
        Hs = "hs",
        /// Equal, or one is NaN.
        Equ = "equ",
        /// Not equal, or one is NaN.
        Neu = "neu",
        /// Less, or one is NaN.
        Ltu = "ltu",
        /// Less or equal, or one is NaN.
        Leu = "leu",
        /// Greater, or one is NaN.
        Gtu = "gtu",
        /// Greater or equal, or one is NaN.
        Geu = "geu",
        /// Neither is NaN.
        Num = "num",
        /// One is NaN.
        Nan = "nan",
    }
}

named! {
    /// How the result is combined with a predicate.
    pub enum BooleanOperator {
        /// Both.
        And = "and",
        /// At least one.
        Or = "or",
        /// Exactly one.
        Xor = "xor",
    }
}

named! {
    /// Where a funnel is shifted to.
    pub enum Direction {
        /// Left.
        Left = "l",
        /// Right.
        Right = "r",
    }
}

/// `.and`, `.or` or `.xor` with a predicate behind the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combination {
    /// How.
    pub operator: BooleanOperator,
    /// With which.
    pub with: Predicate,
}

impl crate::instruction::Visit for Combination {
    fn visit(&self, visitor: &mut dyn FnMut(crate::instruction::Named)) {
        self.with.visit(visitor);
    }
}

operations! {
    /// A comparison, as all bits or as 1.0.
    pub struct Set {
        /// Of d: `u32`, `s32`: all bits; a float: 1.0. Packed types compare each half.
        pub destination: Type,
        /// Of a and b.
        pub source: Type,
        /// The relation.
        pub comparison: Comparison,
        /// What it is combined with.
        pub combination: Option<Combination>,
        /// `.ftz`.
        pub ftz: bool,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// A comparison, as a predicate.
    pub struct Setp {
        /// Of a and b. Packed: p is of the lower half, q of the upper.
        pub ty: Type,
        /// The relation.
        pub comparison: Comparison,
        /// What it is combined with.
        pub combination: Option<Combination>,
        /// `.ftz`.
        pub ftz: bool,
        /// The answer; None: `_`.
        pub p: Option<Reg>,
        /// Its negation before it is combined, combined the same way.
        pub q: Option<Reg>,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// a where c is true, else b.
    pub struct Selp {
        /// Of d, a and b.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// Taken where c is true.
        pub a: Operand,
        /// Taken where c is false.
        pub b: Operand,
        /// A predicate register or an immediate.
        pub c: Predicate,
    }

    /// a where c is not negative, else b.
    pub struct Slct {
        /// Of d, a and b.
        pub ty: Type,
        /// Of c: `s32` or `f32`.
        pub selector: Type,
        /// `.ftz`.
        pub ftz: bool,
        /// Destination.
        pub d: Reg,
        /// Taken where c >= 0.
        pub a: Operand,
        /// Taken otherwise, also where c is NaN.
        pub b: Operand,
        /// What is looked at.
        pub c: Operand,
    }

    /// Any function of three bits, on 32 of them.
    pub struct Lop3 {
        /// Its table: bit (a << 2 | b << 1 | c).
        pub table: u8,
        /// Destination; None: `_`.
        pub d: Option<Reg>,
        /// Whether d is not zero, combined with a predicate.
        pub p: Option<Reg>,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
        /// Third source.
        pub c: Operand,
        /// What p is combined with, by `.and` or `.or`.
        pub combination: Option<Combination>,
    }

    /// 32 bits of the 64 of (b, a), shifted.
    pub struct Shf {
        /// Left: the upper half is the result. Right: the lower half.
        pub direction: Direction,
        /// What happens to amounts above 32 (clamp) or 31 (wrap).
        pub wrap: Wrap,
        /// Destination, `b32`.
        pub d: Reg,
        /// The lower half.
        pub a: Operand,
        /// The upper half.
        pub b: Operand,
        /// How far, `u32`.
        pub c: Operand,
    }
}
