//! Arithmetic on floating point.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    FloatBinary, FloatDiv, FloatMinMax, FloatRoot, FloatTest, FloatUnary, Fma, Operation,
    Precision, Rounding, Testp, Type, Unary,
};

impl<'a> Parser<'a> {
    pub(super) fn float(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "add" => Operation::FloatAdd(self.float_binary(op)?),
            "sub" => Operation::FloatSub(self.float_binary(op)?),
            "mul" => Operation::FloatMul(self.float_binary(op)?),
            "fma" | "mad" => Operation::Fma(self.fma(op)?),
            "div" => Operation::FloatDiv(self.float_div(op)?),
            "min" => Operation::FloatMin(self.float_min_max(op)?),
            "max" => Operation::FloatMax(self.float_min_max(op)?),
            "abs" => Operation::FloatAbs(self.float_unary(op)?),
            "neg" => Operation::FloatNeg(self.float_unary(op)?),
            "rcp" => Operation::Rcp(self.float_root(op)?),
            "sqrt" => Operation::Sqrt(self.float_root(op)?),
            "testp" => {
                let test = op.want("a class such as `.finite`", FloatTest::from_name)?;
                let Unary { ty, d: p, a } = self.unary(op)?;
                Operation::Testp(Testp { ty, test, p, a })
            }
            "copysign" => Operation::Copysign(self.binary(op)?),
            name => {
                op.need("approx")?;
                let unary = self.float_unary(op)?;
                match name {
                    "rsqrt" => Operation::Rsqrt(unary),
                    "sin" => Operation::Sin(unary),
                    "cos" => Operation::Cos(unary),
                    "lg2" => Operation::Lg2(unary),
                    "ex2" => Operation::Ex2(unary),
                    _ => Operation::Tanh(unary),
                }
            }
        })
    }

    fn float_unary(&mut self, op: &mut Opcode<'a>) -> Result<FloatUnary> {
        let ftz = op.flag("ftz");
        let Unary { ty, d, a } = self.unary(op)?;
        Ok(FloatUnary { ty, ftz, d, a })
    }

    fn float_binary(&mut self, op: &mut Opcode<'a>) -> Result<FloatBinary> {
        let rounding = op.take(Rounding::from_name);
        let (ftz, saturate) = (op.flag("ftz"), op.flag("sat"));
        let ty = op.ty()?;
        let source = op.optional_type().unwrap_or(ty);
        let (d, a, b) = (self.reg()?, self.then(source)?, self.then(ty)?);
        Ok(FloatBinary {
            ty,
            source,
            rounding,
            ftz,
            saturate,
            d,
            a,
            b,
        })
    }

    fn fma(&mut self, op: &mut Opcode<'a>) -> Result<Fma> {
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

    fn precision(&self, op: &mut Opcode<'a>) -> Result<Precision> {
        if op.flag("approx") {
            return Ok(Precision::Approximate);
        }
        if op.flag("full") {
            return Ok(Precision::Full);
        }
        Ok(Precision::Rounded(op.want(
            "`.approx`, `.full` or a rounding",
            Rounding::from_name,
        )?))
    }

    fn float_div(&mut self, op: &mut Opcode<'a>) -> Result<FloatDiv> {
        let precision = self.precision(op)?;
        let ftz = op.flag("ftz");
        let crate::Binary { ty, d, a, b } = self.binary(op)?;
        Ok(FloatDiv {
            ty,
            precision,
            ftz,
            d,
            a,
            b,
        })
    }

    fn float_root(&mut self, op: &mut Opcode<'a>) -> Result<FloatRoot> {
        let precision = self.precision(op)?;
        let FloatUnary { ty, ftz, d, a } = self.float_unary(op)?;
        Ok(FloatRoot {
            ty,
            precision,
            ftz,
            d,
            a,
        })
    }

    fn float_min_max(&mut self, op: &mut Opcode<'a>) -> Result<FloatMinMax> {
        let (ftz, nan, xorsign_abs) = (op.flag("ftz"), op.flag("NaN"), op.flag("xorsign"));
        if xorsign_abs {
            op.need("abs")?;
        }
        let abs = op.flag("abs");
        let crate::Binary { ty, d, a, b } = self.binary(op)?;
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
