//! Arithmetic on integers and bits.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    Bfi, Bfind, Binary, Bmsk, DotProduct, Fns, Half, IntegerMad, IntegerMinMax, IntegerMul,
    IntegerSum, Mad24, Mul24, Operation, Szext, Ternary, Type, Unary, Wrap,
};

impl<'a> Parser<'a> {
    /// `ty d, a`.
    pub(super) fn unary(&mut self, op: &mut Opcode<'a>) -> Result<Unary> {
        let ty = op.ty()?;
        Ok(Unary {
            ty,
            d: self.reg()?,
            a: self.then(ty)?,
        })
    }

    /// `ty d, a, b`.
    pub(super) fn binary(&mut self, op: &mut Opcode<'a>) -> Result<Binary> {
        let ty = op.ty()?;
        self.binary_of(ty)
    }

    /// `d, a, b` of this type.
    pub(super) fn binary_of(&mut self, ty: Type) -> Result<Binary> {
        Ok(Binary {
            ty,
            d: self.reg()?,
            a: self.then(ty)?,
            b: self.then(ty)?,
        })
    }

    /// `ty d, a, b`, where b is 32 bits.
    pub(super) fn shift(&mut self, op: &mut Opcode<'a>) -> Result<Binary> {
        let ty = op.ty()?;
        Ok(Binary {
            ty,
            d: self.reg()?,
            a: self.then(ty)?,
            b: self.then(Type::U32)?,
        })
    }

    /// `add`, `sub` and those with a carry.
    pub(super) fn integer_sum(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let subtract = matches!(op.name, "sub" | "subc");
        let carry_in = matches!(op.name, "addc" | "subc");
        let (saturate, carry_out) = (op.flag("sat"), op.flag("cc"));
        let ty = op.ty()?;
        let sum = IntegerSum {
            ty,
            saturate,
            carry_in,
            carry_out,
            d: self.reg()?,
            a: self.then(ty)?,
            b: self.then(ty)?,
        };
        Ok(if subtract {
            Operation::IntegerSub(sum)
        } else {
            Operation::IntegerAdd(sum)
        })
    }

    /// `mul`, `mad` and those of 24 bits.
    pub(super) fn integer_product(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let half = op.want("`.lo`, `.hi` or `.wide`", Half::from_name)?;
        let (saturate, carry_out) = (op.flag("sat"), op.flag("cc"));
        let ty = op.ty()?;
        let wide = if half == Half::Wide { twice(ty) } else { ty };
        let (d, a, b) = (self.reg()?, self.then(ty)?, self.then(ty)?);
        Ok(match op.name {
            "mul" => Operation::IntegerMul(IntegerMul { ty, half, d, a, b }),
            "mul24" => Operation::Mul24(Mul24 { ty, half, d, a, b }),
            "mad24" => Operation::Mad24(Mad24 {
                ty,
                half,
                saturate,
                d,
                a,
                b,
                c: self.then(ty)?,
            }),
            name => {
                let carry_in = name == "madc";
                Operation::IntegerMad(IntegerMad {
                    ty,
                    half,
                    saturate,
                    carry_in,
                    carry_out,
                    d,
                    a,
                    b,
                    c: self.then(wide)?,
                })
            }
        })
    }

    /// The other arithmetic.
    pub(super) fn integer(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "sad" => Operation::Sad(self.ternary(op)?),
            "div" => Operation::IntegerDiv(self.binary(op)?),
            "rem" => Operation::IntegerRem(self.binary(op)?),
            "abs" => Operation::IntegerAbs(self.unary(op)?),
            "neg" => Operation::IntegerNeg(self.unary(op)?),
            name => {
                let relu = op.flag("relu");
                let Binary { ty, d, a, b } = self.binary(op)?;
                let extreme = IntegerMinMax { ty, relu, d, a, b };
                if name == "min" {
                    Operation::IntegerMin(extreme)
                } else {
                    Operation::IntegerMax(extreme)
                }
            }
        })
    }

    fn ternary(&mut self, op: &mut Opcode<'a>) -> Result<Ternary> {
        let Binary { ty, d, a, b } = self.binary(op)?;
        Ok(Ternary {
            ty,
            d,
            a,
            b,
            c: self.then(ty)?,
        })
    }

    /// Counting, finding and moving bits.
    pub(super) fn bits(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "popc" => Operation::Popc(self.unary(op)?),
            "clz" => Operation::Clz(self.unary(op)?),
            "brev" => Operation::Brev(self.unary(op)?),
            "bfind" => {
                let shift_amount = op.flag("shiftamt");
                let Unary { ty, d, a } = self.unary(op)?;
                Operation::Bfind(Bfind {
                    ty,
                    shift_amount,
                    d,
                    a,
                })
            }
            "fns" => {
                op.need("b32")?;
                let (d, mask, base) = (self.reg()?, self.then(Type::B32)?, self.then(Type::B32)?);
                Operation::Fns(Fns {
                    d,
                    mask,
                    base,
                    offset: self.then(Type::S32)?,
                })
            }
            "bfe" => {
                let Binary { ty, d, a, b } = self.shift(op)?;
                Operation::Bfe(Ternary {
                    ty,
                    d,
                    a,
                    b,
                    c: self.then(Type::U32)?,
                })
            }
            "bfi" => {
                let Binary { ty, d, a, b } = self.binary(op)?;
                Operation::Bfi(Bfi {
                    ty,
                    d,
                    a,
                    b,
                    position: self.then(Type::U32)?,
                    length: self.then(Type::U32)?,
                })
            }
            "szext" => {
                let wrap = op.want("`.clamp` or `.wrap`", Wrap::from_name)?;
                let Binary { ty, d, a, b } = self.shift(op)?;
                Operation::Szext(Szext { ty, wrap, d, a, b })
            }
            "bmsk" => {
                let wrap = op.want("`.clamp` or `.wrap`", Wrap::from_name)?;
                op.need("b32")?;
                let Binary { d, a, b, .. } = self.binary_of(Type::B32)?;
                Operation::Bmsk(Bmsk { wrap, d, a, b })
            }
            name => {
                let half = if name == "dp4a" {
                    Half::Lo
                } else {
                    op.want("`.lo` or `.hi`", Half::from_name)?
                };
                let product = self.dot_product(op, half)?;
                if name == "dp4a" {
                    Operation::Dp4a(product)
                } else {
                    Operation::Dp2a(product)
                }
            }
        })
    }

    fn dot_product(&mut self, op: &mut Opcode<'a>, half: Half) -> Result<DotProduct> {
        let (a_type, b_type) = (op.ty()?, op.ty()?);
        let (d, a, b) = (self.reg()?, self.then(a_type)?, self.then(b_type)?);
        Ok(DotProduct {
            a_type,
            b_type,
            half,
            d,
            a,
            b,
            c: self.then(Type::B32)?,
        })
    }
}

/// The type twice as wide.
const fn twice(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}
