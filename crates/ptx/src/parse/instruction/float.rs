//! Arithmetic on floating point.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{Binary, FloatMinMax, Fma, Rounding, Type};

impl<'a> Parser<'a> {
    pub(crate) fn fma(&mut self, op: &mut Opcode<'a>) -> Result<Fma> {
        let rounding = match op.take(Rounding::from_name) {
            Some(rounding) => rounding,
            // Of the first architectures.
            None if op.name == "mad" => Rounding::Rn,
            None => return Err(op.error("`fma` lacks a rounding such as `.rn`")),
        };
        let (ftz, saturate, relu, oob) = (
            op.flag("ftz"),
            op.flag("sat"),
            op.flag("relu"),
            op.flag("oob"),
        );
        let ty = op.ty()?;
        if op.name == "mad" && !matches!(ty, Type::F32 | Type::F64) {
            return Err(op.error(&format!("`mad` has no `.{}`: `fma` has", ty.name())));
        }
        let source = op.optional_type().unwrap_or(ty);
        let (d, a, b) = (self.reg()?, self.then(source)?, self.then(source)?);
        Ok(Fma {
            ty,
            source,
            rounding,
            ftz,
            saturate,
            relu,
            oob,
            d,
            a,
            b,
            c: self.then(ty)?,
        })
    }

    pub(crate) fn float_min_max(&mut self, op: &mut Opcode<'a>) -> Result<FloatMinMax> {
        let (ftz, nan, xorsign_abs) = (op.flag("ftz"), op.flag("NaN"), op.flag("xorsign"));
        if xorsign_abs {
            op.need("abs")?;
        }
        let abs = op.flag("abs");
        let Binary { ty, d, a, b } = self.fields::<Binary>(op)?;
        Ok(FloatMinMax {
            ty,
            ftz,
            nan,
            xorsign_abs,
            abs,
            d,
            a,
            b,
            c: self.optional(ty)?,
        })
    }
}
