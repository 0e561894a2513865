//! Arithmetic on floating point.

use crate::instruction::operations;
use crate::names::named;
use crate::{Operand, Reg, Type};

named! {
    /// How a result is rounded.
    pub enum Rounding {
        /// To nearest, ties to even.
        Rn = "rn",
        /// To nearest, ties away from zero.
        Rna = "rna",
        /// Towards zero.
        Rz = "rz",
        /// Towards negative infinity.
        Rm = "rm",
        /// Towards positive infinity.
        Rp = "rp",
        /// Stochastic: by random bits.
        Rs = "rs",
        /// To the nearest integer, ties to even.
        Rni = "rni",
        /// To an integer towards zero.
        Rzi = "rzi",
        /// To an integer towards negative infinity.
        Rmi = "rmi",
        /// To an integer towards positive infinity.
        Rpi = "rpi",
    }
}

/// How exact a quotient, reciprocal or root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `.approx`.
    Approximate,
    /// `.full`: within 2 units in the last place over the full range.
    Full,
    /// Correct, so rounded.
    Rounded(Rounding),
}

named! {
    /// What `testp` asks.
    pub enum FloatTest {
        /// Neither infinite nor NaN.
        Finite = "finite",
        /// Infinite.
        Infinite = "infinite",
        /// Not NaN.
        Number = "number",
        /// NaN.
        NotANumber = "notanumber",
        /// Normal (not zero).
        Normal = "normal",
        /// Subnormal (or not normal).
        Subnormal = "subnormal",
    }
}

operations! {
    /// d = f(a).
    pub struct FloatUnary {
        /// Of d and a, packed ones too.
        pub ty: Type,
        /// `.ftz`: subnormals count as zero, in and out.
        pub ftz: bool,
        /// Destination.
        pub d: Reg,
        /// Source.
        pub a: Operand,
    }

    /// A sum, a difference or a product.
    pub struct FloatBinary {
        /// Of d and b, packed ones too.
        pub ty: Type,
        /// Of a: `ty`, or `f16` or `bf16` where `ty` is `f32` (`add.f32.f16`).
        pub source: Type,
        /// None: to nearest even, and the assembler may contract it with another.
        pub rounding: Option<Rounding>,
        /// `.ftz`.
        pub ftz: bool,
        /// `.sat`: into 0 to 1, NaN to 0.
        pub saturate: bool,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
    }

    /// a * b + c, rounded once.
    pub struct Fma {
        /// Of d and c (and of a and b where `source` is the same), packed ones too.
        pub ty: Type,
        /// Of a and b: `ty`, or `f16` or `bf16` where `ty` is `f32`.
        pub source: Type,
        /// How it is rounded.
        pub rounding: Rounding,
        /// `.ftz`.
        pub ftz: bool,
        /// `.sat`.
        pub saturate: bool,
        /// `.relu`: 0 where it is negative or NaN.
        pub relu: bool,
        /// `.oob`: 0 where an operand is the out-of-bounds NaN.
        pub oob: bool,
        /// Destination.
        pub d: Reg,
        /// First factor.
        pub a: Operand,
        /// Second factor.
        pub b: Operand,
        /// What is added.
        pub c: Operand,
    }

    /// A quotient.
    pub struct FloatDiv {
        /// `f32` or `f64`.
        pub ty: Type,
        /// How exact it is.
        pub precision: Precision,
        /// `.ftz`.
        pub ftz: bool,
        /// Destination.
        pub d: Reg,
        /// Dividend.
        pub a: Operand,
        /// Divisor.
        pub b: Operand,
    }

    /// A reciprocal or a root.
    pub struct FloatRoot {
        /// `f32` or `f64`.
        pub ty: Type,
        /// How exact it is.
        pub precision: Precision,
        /// `.ftz`.
        pub ftz: bool,
        /// Destination.
        pub d: Reg,
        /// Source.
        pub a: Operand,
    }

    /// The smallest or largest of two or three.
    pub struct FloatMinMax {
        /// Of all, packed ones too.
        pub ty: Type,
        /// `.ftz`.
        pub ftz: bool,
        /// `.NaN`: NaN where any source is.
        pub nan: bool,
        /// `.xorsign.abs`: of the magnitudes, with the product of the signs.
        pub xorsign_abs: bool,
        /// `.abs`: of the magnitudes (three sources).
        pub abs: bool,
        /// Destination.
        pub d: Reg,
        /// First source.
        pub a: Operand,
        /// Second source.
        pub b: Operand,
        /// Third source.
        pub c: Option<Operand>,
    }

    /// Whether a float is of a class.
    pub struct Testp {
        /// Of a: `f32` or `f64`.
        pub ty: Type,
        /// The class.
        pub test: FloatTest,
        /// Where the answer goes.
        pub p: Reg,
        /// Source.
        pub a: Operand,
    }
}

impl crate::instruction::Visit for Precision {
    fn visit(&self, _: &mut dyn FnMut(crate::instruction::Named)) {}
}
