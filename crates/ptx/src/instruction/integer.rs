//! Arithmetic on integers and bits.

use crate::instruction::operations;
use crate::names::named;
use crate::{Operand, Reg, Type};

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
    /// What happens to an amount that is too large.
    pub enum Wrap {
        /// The largest counts.
        Clamp = "clamp",
        /// Its lower bits count.
        Wrap = "wrap",
    }
}

operations! {
    /// d = f(a).
    pub struct Unary {
        /// Of a, and of d unless the operation says otherwise.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// Source.
        pub a: Operand,
    }

    /// d = f(a, b).
    pub struct Binary {
        /// Of d, a and b.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// d = f(a, b, c).
    pub struct Ternary {
        /// Of d, a, b and c (of `bfe`, b and c are 32 bits).
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
        /// Third source.
        pub c: Operand,
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
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// A product.
    pub struct IntegerMul {
        /// Of a and b.
        pub ty: Type,
        /// Which part of it.
        pub half: Half,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
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
        pub d: Reg,
        /// First factor.
        pub a: Operand,
        /// Second factor.
        pub b: Operand,
        /// What is added.
        pub c: Operand,
    }

    /// A product of the lower 24 bits: bits 0 to 31 of the 48, or 16 to 47.
    pub struct Mul24 {
        /// `u32` or `s32`.
        pub ty: Type,
        /// [`Half::Lo`] or [`Half::Hi`].
        pub half: Half,
        /// Destination.
        pub d: Reg,
        /// First factor.
        pub a: Operand,
        /// Second factor.
        pub b: Operand,
    }

    /// A product of the lower 24 bits and a sum.
    pub struct Mad24 {
        /// `u32` or `s32`.
        pub ty: Type,
        /// [`Half::Lo`] or [`Half::Hi`].
        pub half: Half,
        /// `.sat` (of `.hi.s32`).
        pub saturate: bool,
        /// Destination.
        pub d: Reg,
        /// First factor.
        pub a: Operand,
        /// Second factor.
        pub b: Operand,
        /// What is added.
        pub c: Operand,
    }

    /// The smaller or larger of two integers.
    pub struct IntegerMinMax {
        /// Of d, a and b.
        pub ty: Type,
        /// `.relu`: 0 where it is negative.
        pub relu: bool,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// The position of the most significant bit that is not the sign's.
    pub struct Bfind {
        /// Of a; d is `u32`.
        pub ty: Type,
        /// `.shiftamt`: how far to shift left to bring it to the top.
        pub shift_amount: bool,
        /// Destination; all bits set where there is none.
        pub d: Reg,
        /// Source.
        pub a: Operand,
    }

    /// The n-th set bit of a mask.
    pub struct Fns {
        /// Destination; all bits set where there is none.
        pub d: Reg,
        /// The mask, `b32`.
        pub mask: Operand,
        /// The bit to begin at, `b32`.
        pub base: Operand,
        /// Which one, `s32`.
        pub offset: Operand,
    }

    /// b with its bits from c on replaced by the lower bits of a.
    pub struct Bfi {
        /// `b32` or `b64`: of f, a and b.
        pub ty: Type,
        /// Destination (the manual's f).
        pub d: Reg,
        /// What is put in.
        pub a: Operand,
        /// What it is put into.
        pub b: Operand,
        /// First bit, `u32`.
        pub position: Operand,
        /// How many bits, `u32`.
        pub length: Operand,
    }

    /// The lower b bits of a, extended.
    pub struct Szext {
        /// `u32` or `s32`.
        pub ty: Type,
        /// What happens to a b above 31.
        pub wrap: Wrap,
        /// Destination.
        pub d: Reg,
        /// Source.
        pub a: Operand,
        /// How many bits, `u32`.
        pub b: Operand,
    }

    /// b set bits from bit a on.
    pub struct Bmsk {
        /// What happens to amounts above 31.
        pub wrap: Wrap,
        /// Destination, `b32`.
        pub d: Reg,
        /// First bit.
        pub a: Operand,
        /// How many.
        pub b: Operand,
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
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
        /// What is added.
        pub c: Operand,
    }
}
