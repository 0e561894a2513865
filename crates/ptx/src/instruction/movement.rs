//! Values from register to register, lane to lane, type to type.

use crate::instruction::operations;
use crate::names::named;
use crate::{Operand, Reg, Rounding, Space, Type};

named! {
    /// Which lane a shuffle reads.
    pub enum ShuffleMode {
        /// b below.
        Up = "up",
        /// b above.
        Down = "down",
        /// The own one, with the bits of b flipped.
        Butterfly = "bfly",
        /// b.
        Index = "idx",
    }
}

named! {
    /// How `prmt` picks bytes; without one, by the four nibbles of c.
    pub enum PrmtMode {
        /// Four bytes from c on, forwards.
        F4e = "f4e",
        /// Four bytes from c on, backwards.
        B4e = "b4e",
        /// One byte four times.
        Rc8 = "rc8",
        /// Clamped to the left.
        Ecl = "ecl",
        /// Clamped to the right.
        Ecr = "ecr",
        /// One halfword twice.
        Rc16 = "rc16",
    }
}

named! {
    /// What happens to values that the destination lacks.
    pub enum Saturation {
        /// `.sat`: the nearest one; floats into 0 to 1.
        Sat = "sat",
        /// `.satfinite`: the nearest finite one; NaN to NaN where there is one.
        Satfinite = "satfinite",
    }
}

named! {
    /// Which way an address is converted.
    pub enum CvtaDirection {
        /// From a space to generic.
        ToGeneric = "",
        /// From generic to a space.
        FromGeneric = "to",
    }
}

operations! {
    /// Several values in one register, the first in the lowest bits.
    pub struct Pack {
        /// Of d.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// 2, 4 or 8 of them.
        pub a: Vec<Operand>,
    }

    /// One register in several, the lowest bits in the first.
    pub struct Unpack {
        /// Of a.
        pub ty: Type,
        /// 2, 4 or 8 of them; None: `_`.
        pub d: Vec<Option<Reg>>,
        /// Source.
        pub a: Operand,
    }

    /// Several values into as many registers.
    pub struct MovVector {
        /// Of each.
        pub ty: Type,
        /// Destinations; None: `_`.
        pub d: Vec<Option<Reg>>,
        /// As many sources.
        pub a: Vec<Operand>,
    }

    /// The value of another lane.
    pub struct Shfl {
        /// Of `shfl.sync`: the lanes that take part, `u32`. None: the old `shfl`.
        pub mask: Option<Operand>,
        /// Which lane.
        pub mode: ShuffleMode,
        /// Destination, 32 bits; None: `_`.
        pub d: Option<Reg>,
        /// Whether that lane is within bounds.
        pub p: Option<Reg>,
        /// The own value.
        pub a: Operand,
        /// The lane or distance, `u32`.
        pub b: Operand,
        /// Bits 0 to 4: the clamp; 8 to 12: the mask of segments.
        pub c: Operand,
    }

    /// Four of the eight bytes of (b, a).
    pub struct Prmt {
        /// None: by the nibbles of c.
        pub mode: Option<PrmtMode>,
        /// Destination, `b32`.
        pub d: Reg,
        /// The lower four bytes.
        pub a: Operand,
        /// The upper four bytes.
        pub b: Operand,
        /// Which.
        pub c: Operand,
    }

    /// A conversion.
    pub struct Cvt {
        /// Of d.
        pub to: Type,
        /// Of a and b.
        pub from: Type,
        /// None: it is exact, or it is between integers.
        pub rounding: Option<Rounding>,
        /// `.ftz`.
        pub ftz: bool,
        /// What happens to values that `to` lacks.
        pub saturation: Option<Saturation>,
        /// `.relu`: 0 where it is negative, and canonical NaN.
        pub relu: bool,
        /// Destination.
        pub d: Reg,
        /// Source: where two are packed, the upper half.
        pub a: Operand,
        /// The lower half where two are packed (`cvt.rn.f16x2.f32 d, a, b`).
        pub b: Option<Operand>,
        /// Random bits of [`Rounding::Rs`].
        pub random: Option<Operand>,
    }

    /// Two integers saturated into the lower bits of d, with c above them.
    pub struct CvtPack {
        /// `u16`, `s16`, `u8`, `s8`, `u4`, `s4`, `u2` or `s2`.
        pub to: Type,
        /// `s32`.
        pub from: Type,
        /// Destination, 32 bits.
        pub d: Reg,
        /// The upper one.
        pub a: Operand,
        /// The lower one.
        pub b: Operand,
        /// What is shifted up.
        pub c: Option<Operand>,
    }

    /// Four floats of few bits from four of `f32`, rounded by random bits and saturated (`.satfinite`).
    pub struct CvtFour {
        /// `e4m3x4`, `e5m2x4`, `e2m3x4`, `e3m2x4` or `e2m1x4`.
        pub to: Type,
        /// `.relu`: 0 where it is negative.
        pub relu: bool,
        /// Destination: 16 bits for `e2m1x4`, else 32.
        pub d: Reg,
        /// The four, that of the highest bits first.
        pub a: Vec<Operand>,
        /// Random bits.
        pub random: Operand,
    }

    /// Whether a generic address is in a space.
    pub struct Isspacep {
        /// Which space.
        pub space: Space,
        /// The answer.
        pub p: Reg,
        /// The address.
        pub a: Operand,
    }

    /// An address of another space.
    pub struct Cvta {
        /// Which way.
        pub direction: CvtaDirection,
        /// The space that is not generic.
        pub space: Space,
        /// `u32` or `u64`.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// Source.
        pub a: Operand,
    }

    /// The same address in another block of the cluster.
    pub struct Mapa {
        /// [`Space::Generic`] or [`Space::SharedCluster`]: of d.
        pub space: Space,
        /// `u32` or `u64`: of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg,
        /// The address.
        pub a: Operand,
        /// The block's rank, `u32`.
        pub b: Operand,
    }

    /// In which block of the cluster an address lies.
    pub struct Getctarank {
        /// [`Space::Generic`] or [`Space::SharedCluster`]: of a.
        pub space: Space,
        /// `u32` or `u64`: of a.
        pub ty: Type,
        /// Destination, `u32`.
        pub d: Reg,
        /// The address.
        pub a: Operand,
    }
}
