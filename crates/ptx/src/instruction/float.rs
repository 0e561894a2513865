//! Arithmetic on floating point.

use crate::instruction::types::{fits, one_of};
use crate::instruction::{Wanted, operations};
use crate::names::{Modifier, named};
use crate::{FloatDiv, Operand, Reg, Type};

named! {
    /// How a result is rounded.
    pub enum Rounding as "a rounding such as `.rn`" {
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
    /// Class of floats that `testp` tests for.
    pub enum FloatTest as "a class such as `.finite`" {
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
    pub struct FloatUnary read {
        /// Of d and a, packed ones too.
        pub ty: Type,
        /// `.ftz`: subnormals count as zero, in and out.
        pub ftz: bool = "ftz",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    }

    /// A sum, a difference or a product.
    pub struct FloatBinary read {
        /// Of d and b, packed ones too.
        pub ty: Type,
        /// Of a: `ty`, or `f16` or `bf16` where `ty` is `f32` (`add.f32.f16`).
        pub source: Type = ty,
        /// None: to nearest even, and the assembler may contract it with another.
        pub rounding: Option<Rounding>,
        /// `.ftz`.
        pub ftz: bool = "ftz",
        /// `.sat`: into 0 to 1, NaN to 0.
        pub saturate: bool = "sat",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*source),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
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
        pub d: Reg as Wanted::Exactly(*ty),
        /// First factor.
        pub a: Operand as Wanted::Exactly(*source),
        /// Second factor.
        pub b: Operand as Wanted::Exactly(*source),
        /// The addend.
        pub c: Operand as Wanted::Exactly(*ty),
    }

    /// A reciprocal or a root.
    pub struct FloatRoot read {
        /// `f32` or `f64`.
        pub ty: Type,
        /// How exact it is.
        pub precision: Precision,
        /// `.ftz`.
        pub ftz: bool = "ftz",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
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
        pub d: Reg as Wanted::Exactly(*ty),
        /// First source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second source.
        pub b: Operand as Wanted::Exactly(*ty),
        /// Third source.
        pub c: Option<Operand> as Wanted::Exactly(*ty),
    }
}

impl Modifier for Precision {
    const NAMES: &'static [&'static str] = &[];
    const KIND: Option<&'static str> = Some("`.approx`, `.full` or a rounding");

    fn of_name(name: &str) -> Option<Self> {
        match name {
            "approx" => Some(Self::Approximate),
            "full" => Some(Self::Full),
            _ => Rounding::from_name(name).map(Self::Rounded),
        }
    }
}

/// Types whose subnormals `.ftz` may flush.
const fn flushes(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::F32 | Type::F32x2)
}

const fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

/// The directions in which arithmetic rounds; of halves only to nearest.
fn rounds(rounding: Rounding, ty: Type) -> Result<(), String> {
    let known = match rounding {
        Rounding::Rn => true,
        Rounding::Rz | Rounding::Rm | Rounding::Rp => !is_half(ty),
        _ => false,
    };
    fits(known, rounding.name(), ty)
}

/// `f32`, or of arithmetic with a source of 16 bits that source.
fn mixes(source: Type, ty: Type) -> Result<(), String> {
    let mixed = ty == Type::F32 && matches!(source, Type::F16 | Type::Bf16);
    fits(source == ty || mixed, source.name(), ty)
}

fn flushed(ftz: bool, ty: Type) -> Result<(), String> {
    fits(!ftz || flushes(ty), "ftz", ty)
}

/// `.sat` of floats.
fn saturated(saturate: bool, ty: Type) -> Result<(), String> {
    let takes = matches!(ty, Type::F16 | Type::F16x2 | Type::F32);
    fits(!saturate || takes, "sat", ty)
}

impl FloatUnary {
    /// `abs`, `neg`.
    pub(super) fn rule(&self) -> Result<(), String> {
        fits(self.ty != Type::F32x2, "f32x2", self.ty)?;
        flushed(self.ftz, self.ty)
    }

    /// `ex2`: of `bf16` subnormals are always flushed, and it says so; of `f16` they never are.
    pub(super) fn exponent_rule(&self) -> Result<(), String> {
        match self.ty {
            Type::Bf16 | Type::Bf16x2 if !self.ftz => {
                Err(format!("`.{}` takes `.ftz`", self.ty.name()))
            }
            Type::F16 | Type::F16x2 => fits(!self.ftz, "ftz", self.ty),
            _ => Ok(()),
        }
    }

    pub(super) fn tangent_rule(&self) -> Result<(), String> {
        fits(!self.ftz, "ftz", self.ty)
    }
}

impl FloatBinary {
    pub(super) fn rule(&self) -> Result<(), String> {
        self.rounding.map_or(Ok(()), |it| rounds(it, self.ty))?;
        mixes(self.source, self.ty)?;
        flushed(self.ftz, self.ty)?;
        saturated(self.saturate, self.ty)
    }
}

impl Fma {
    pub(super) fn rule(&self) -> Result<(), String> {
        // `ptxas` takes each direction of `bf16`, of which the manual knows one.
        match self.ty {
            Type::Bf16 | Type::Bf16x2 => rounds(self.rounding, Type::F32)?,
            ty => rounds(self.rounding, ty)?,
        }
        mixes(self.source, self.ty)?;
        flushed(self.ftz, self.ty)?;
        saturated(self.saturate, self.ty)?;
        fits(!self.relu || is_half(self.ty), "relu", self.ty)?;
        fits(!self.oob || is_half(self.ty), "oob", self.ty)
    }
}

/// Approximations are of `f32`.
fn precise(precision: Precision, ty: Type) -> Result<(), String> {
    match precision {
        Precision::Approximate => fits(ty == Type::F32, "approx", ty),
        Precision::Full => fits(ty == Type::F32, "full", ty),
        Precision::Rounded(rounding) => rounds(rounding, ty),
    }
}

impl FloatDiv {
    pub(super) fn rule(&self) -> Result<(), String> {
        precise(self.precision, self.ty)?;
        flushed(self.ftz, self.ty)
    }
}

impl FloatRoot {
    /// `rcp`: the one approximation of `f64` flushes subnormals.
    pub(super) fn reciprocal_rule(&self) -> Result<(), String> {
        fits(self.precision != Precision::Full, "full", self.ty)?;
        match self.precision {
            Precision::Approximate if self.ftz => Ok(()),
            precision => precise(precision, self.ty),
        }
    }

    /// `sqrt`.
    pub(super) fn root_rule(&self) -> Result<(), String> {
        fits(self.precision != Precision::Full, "full", self.ty)?;
        precise(self.precision, self.ty)?;
        flushed(self.ftz, self.ty)
    }
}

impl FloatMinMax {
    pub(super) fn rule(&self) -> Result<(), String> {
        fits(self.ty != Type::F32x2, "f32x2", self.ty)?;
        flushed(self.ftz, self.ty)?;
        let magnitudes = self.xorsign_abs || self.abs;
        fits(!self.nan || self.ty != Type::F64, "NaN", self.ty)?;
        fits(!magnitudes || self.ty != Type::F64, "abs", self.ty)?;
        match self.c {
            Some(_) => one_of(self.ty, &[Type::F32]),
            None => Ok(()),
        }
    }
}
