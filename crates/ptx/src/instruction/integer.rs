//! Arithmetic on integers and bits.

use crate::instruction::types::{fits, one_of};
use crate::instruction::{Wanted, operations};
use crate::names::named;
use crate::{Mad24, Mul24, Operand, Reg, Type};

named! {
    /// Which part of a product is kept.
    pub enum Half {
        /// The lower half.
        Lo = "lo",
        /// The upper half.
        Hi = "hi",
        /// All of it: d is twice as wide as a and b.
        Wide = "wide",
    }
}

named! {
    /// Treatment of an amount that is too large.
    pub enum Wrap {
        /// The largest counts.
        Clamp = "clamp",
        /// Its lower bits count.
        Wrap = "wrap",
    }
}

operations! {
    /// d = f(a).
    pub struct Unary read {
        /// Of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    }

    /// d = f(a, b).
    pub struct Binary read {
        /// Of d, a and b.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
    }

    /// d = f(a), 32 bits of any a.
    pub struct Count read {
        /// Of a.
        pub ty: Type,
        /// Destination, `u32`.
        pub d: Reg as Wanted::WORD,
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    }

    /// a shifted by b.
    pub struct Shift read {
        /// Of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// How far, `u32`.
        pub b: Operand as Wanted::WORD,
    }

    /// d = f(a, b, c).
    pub struct Ternary read {
        /// Of d, a, b and c.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
        /// Third source.
        pub c: Operand as Wanted::Exactly(*ty),
    }

    /// A sum or difference of integers.
    pub struct IntegerSum {
        /// Of d, a and b: 16 to 64 bits, `u16x2`, `s16x2`.
        pub ty: Type,
        /// `.sat`: the nearest value of `s32`.
        pub saturate: bool,
        /// `addc`, `subc`: the carry or borrow is added or subtracted.
        pub carry_in: bool,
        /// `.cc`: the carry or borrow is kept.
        pub carry_out: bool,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
    }

    /// A product.
    pub struct IntegerMul read {
        /// Of a and b.
        pub ty: Type,
        /// Which part of it.
        pub half: Half,
        /// Destination.
        pub d: Reg as product(*ty, *half),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
    }

    /// A product and a sum.
    pub struct IntegerMad {
        /// Of a and b; d and c are twice as wide where `half` is [`Half::Wide`].
        pub ty: Type,
        /// Which part of the product.
        pub half: Half,
        /// `.sat` (of `.hi.s32`).
        pub saturate: bool,
        /// `madc`: the carry is added.
        pub carry_in: bool,
        /// `.cc`: the carry is kept.
        pub carry_out: bool,
        /// Destination.
        pub d: Reg as product(*ty, *half),
        /// First factor.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second factor.
        pub b: Operand as Wanted::Exactly(*ty),
        /// The addend.
        pub c: Operand as product(*ty, *half),
    }

    /// The smaller or larger of two integers.
    pub struct IntegerMinMax read {
        /// Of d, a and b.
        pub ty: Type,
        /// `.relu`: 0 where it is negative.
        pub relu: bool = "relu",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
    }

    /// c plus the products of the bytes of b with the bytes or halfwords of a.
    pub struct DotProduct {
        /// `u32` or `s32`: how parts of a are extended.
        pub a_type: Type,
        /// `u32` or `s32`: how bytes of b are extended.
        pub b_type: Type,
        /// `.hi` of `dp2a`: the upper two bytes of b count. [`Half::Lo`] for `dp4a`.
        pub half: Half,
        /// Destination, `s32` unless both types are `u32`.
        pub d: Reg as Wanted::WORD,
        /// First source.
        pub a: Operand as Wanted::Exactly(*a_type),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*b_type),
        /// The addend.
        pub c: Operand as Wanted::WORD,
    }
}

/// The result of a product: all of it is twice as wide as its factors.
const fn product(ty: Type, half: Half) -> Wanted {
    Wanted::Exactly(match (half, ty) {
        (Half::Wide, Type::U16) => Type::U32,
        (Half::Wide, Type::S16) => Type::S32,
        (Half::Wide, Type::U32) => Type::U64,
        (Half::Wide, Type::S32) => Type::S64,
        _ => ty,
    })
}

/// `.cc` keeps a carry of 32 or 64 bits.
fn carry(kept: bool, ty: Type) -> Result<(), String> {
    fits(!kept || matches!(ty.bits(), 32 | 64), "cc", ty)
}

/// `.sat` of a product is that of its upper half.
fn saturation(saturate: bool, half: Half, ty: Type) -> Result<(), String> {
    fits(
        !saturate || (half == Half::Hi && ty == Type::S32),
        "sat",
        ty,
    )
}

impl IntegerSum {
    /// Whether no carry comes in or is kept.
    pub(super) const fn is_pure(&self) -> bool {
        !self.carry_in && !self.carry_out
    }

    pub(super) fn rule(&self) -> Result<(), String> {
        let carries = self.carry_in || self.carry_out;
        if carries {
            one_of(self.ty, super::types::INTEGERS)?;
        }
        fits(
            !self.saturate || (self.ty == Type::S32 && !carries),
            "sat",
            self.ty,
        )?;
        carry(self.carry_out, self.ty)
    }
}

impl IntegerMul {
    pub(super) fn rule(&self) -> Result<(), String> {
        fits(
            self.half != Half::Wide || self.ty.bits() < 64,
            "wide",
            self.ty,
        )
    }
}

impl IntegerMad {
    /// Whether no carry comes in or is kept.
    pub(super) const fn is_pure(&self) -> bool {
        !self.carry_in && !self.carry_out
    }

    pub(super) fn rule(&self) -> Result<(), String> {
        let wide = self.half == Half::Wide;
        fits(!wide || self.ty.bits() < 64, "wide", self.ty)?;
        fits(!wide || !(self.carry_in || self.carry_out), "wide", self.ty)?;
        saturation(self.saturate, self.half, self.ty)?;
        carry(self.carry_out, self.ty)
    }
}

impl Mul24 {
    pub(super) fn rule(&self) -> Result<(), String> {
        fits(self.half != Half::Wide, "wide", self.ty)
    }
}

impl Mad24 {
    pub(super) fn rule(&self) -> Result<(), String> {
        fits(self.half != Half::Wide, "wide", self.ty)?;
        saturation(self.saturate, self.half, self.ty)
    }
}

impl IntegerMinMax {
    pub(super) fn rule(&self) -> Result<(), String> {
        let takes = matches!(self.ty, Type::S32 | Type::S16x2);
        fits(!self.relu || takes, "relu", self.ty)
    }
}

impl DotProduct {
    pub(super) fn rule(&self) -> Result<(), String> {
        one_of(self.a_type, super::types::WORDS)?;
        one_of(self.b_type, super::types::WORDS)
    }
}
