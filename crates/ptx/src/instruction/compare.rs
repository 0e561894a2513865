//! Comparison, selection and logic.

use crate::instruction::types::{self, fits, one_of};
use crate::instruction::{Wanted, operations};
use crate::names::named;
use crate::{Kind, Operand, Predicate, Reg, Slct, Type};

named! {
    /// A relation of two values.
    pub enum Comparison as "a comparison such as `.eq`" {
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
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        self.with.visit(Wanted::PREDICATE, visitor);
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
        /// The combination of the answer with a predicate.
        pub combination: Option<Combination>,
        /// `.ftz`.
        pub ftz: bool,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*destination),
        /// First source.
        pub a: Operand as Wanted::Exactly(*source),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*source),
    }

    /// A comparison, as a predicate.
    pub struct Setp {
        /// Of a and b. Packed: p is of the lower half, q of the upper.
        pub ty: Type,
        /// The relation.
        pub comparison: Comparison,
        /// The combination of the answer with a predicate.
        pub combination: Option<Combination>,
        /// `.ftz`.
        pub ftz: bool,
        /// The answer; None: `_`.
        pub p: Option<Reg> as Wanted::PREDICATE,
        /// Its negation before it is combined, combined the same way.
        pub q: Option<Reg> as Wanted::PREDICATE,
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
    }

    /// Any function of three bits, on 32 of them.
    pub struct Lop3 {
        /// Its table: bit (a << 2 | b << 1 | c).
        pub table: u8,
        /// Destination; None: `_`.
        pub d: Option<Reg> as Wanted::BITS,
        /// Whether d is not zero, combined with a predicate.
        pub p: Option<Reg> as Wanted::PREDICATE,
        /// First source.
        pub a: Operand as Wanted::BITS,
        /// Second source.
        pub b: Operand as Wanted::BITS,
        /// Third source.
        pub c: Operand as Wanted::BITS,
        /// The combination of p with a predicate, by `.and` or `.or`.
        pub combination: Option<Combination>,
    }
}

/// Whether a relation is one of such values, and subnormals may be flushed.
fn compares(comparison: Comparison, ty: Type, ftz: bool) -> Result<(), String> {
    use Comparison as C;
    let known = match ty.kind() {
        Kind::Bits => matches!(comparison, C::Eq | C::Ne),
        Kind::Signed => matches!(comparison, C::Eq | C::Ne | C::Lt | C::Le | C::Gt | C::Ge),
        Kind::Unsigned => matches!(
            comparison,
            C::Eq | C::Ne | C::Lt | C::Le | C::Gt | C::Ge | C::Lo | C::Ls | C::Hi | C::Hs
        ),
        _ => !matches!(comparison, C::Lo | C::Ls | C::Hi | C::Hs),
    };
    fits(known, comparison.name(), ty)?;
    let flushes = matches!(ty, Type::F16 | Type::F16x2 | Type::F32);
    fits(!ftz || flushes, "ftz", ty)
}

impl Set {
    pub(super) fn rule(&self) -> Result<(), String> {
        one_of(self.source, types::COMPARABLE)?;
        one_of(self.destination, self.destinations())?;
        compares(self.comparison, self.source, self.ftz)
    }

    /// Where the answer may go, by what is compared.
    const fn destinations(&self) -> &'static [Type] {
        use Type::*;
        match self.source {
            F16 | Bf16 => &[U16, S16, U32, S32, F16, Bf16],
            F16x2 => &[U32, S32, F16x2],
            Bf16x2 => &[U32, S32, Bf16x2],
            _ => &[U32, S32, F32, F16, Bf16],
        }
    }
}

impl Setp {
    pub(super) fn rule(&self) -> Result<(), String> {
        if self.q.is_some() && matches!(self.ty, Type::F16 | Type::Bf16) {
            return Err(format!("`.{}` has one answer", self.ty.name()));
        }
        compares(self.comparison, self.ty, self.ftz)
    }
}

impl Slct {
    pub(super) fn rule(&self) -> Result<(), String> {
        one_of(self.selector, &[Type::S32, Type::F32])?;
        fits(
            !self.ftz || self.selector == Type::F32,
            "ftz",
            self.selector,
        )
    }
}
