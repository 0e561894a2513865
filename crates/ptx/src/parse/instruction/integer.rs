//! Arithmetic on integers and bits.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{Binary, DotProduct, Half, IntegerMad, IntegerSum, Type};

impl<'a> Parser<'a> {
    /// `add`, `sub` and those with a carry.
    pub(crate) fn integer_sum(&mut self, op: &mut Opcode<'a>) -> Result<IntegerSum> {
        let carry_in = matches!(op.name, "addc" | "subc");
        let (saturate, carry_out) = (op.flag("sat"), op.flag("cc"));
        let Binary { ty, d, a, b } = self.fields::<Binary>(op)?;
        Ok(IntegerSum {
            ty,
            saturate,
            carry_in,
            carry_out,
            d,
            a,
            b,
        })
    }

    /// `mad`, `madc`: c is as wide as the product.
    pub(crate) fn integer_mad(&mut self, op: &mut Opcode<'a>) -> Result<IntegerMad> {
        let half = self.fields::<Half>(op)?;
        let (saturate, carry_out) = (op.flag("sat"), op.flag("cc"));
        let Binary { ty, d, a, b } = self.fields::<Binary>(op)?;
        let wide = if half == Half::Wide { twice(ty) } else { ty };
        Ok(IntegerMad {
            ty,
            half,
            saturate,
            carry_in: op.name == "madc",
            carry_out,
            d,
            a,
            b,
            c: self.then(wide)?,
        })
    }

    pub(crate) fn dp4a(&mut self, op: &mut Opcode<'a>) -> Result<DotProduct> {
        self.dot_product(op, Half::Lo)
    }

    pub(crate) fn dp2a(&mut self, op: &mut Opcode<'a>) -> Result<DotProduct> {
        let half = op.want("`.lo` or `.hi`", Half::from_name)?;
        self.dot_product(op, half)
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
