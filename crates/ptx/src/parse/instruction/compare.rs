//! Comparison, selection and logic.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    Binary, BooleanOperator, Combination, Comparison, Direction, Lop3, Operation, Selp, Set, Setp,
    Shf, Slct, Type, Wrap,
};

impl<'a> Parser<'a> {
    pub(super) fn comparison(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "set" => Operation::Set(self.set(op)?),
            "setp" => Operation::Setp(self.setp(op)?),
            "selp" => {
                let Binary { ty, d, a, b } = self.binary(op)?;
                self.comma()?;
                Operation::Selp(Selp {
                    ty,
                    d,
                    a,
                    b,
                    c: self.predicate()?,
                })
            }
            _ => {
                let ftz = op.flag("ftz");
                let (ty, selector) = (op.ty()?, op.ty()?);
                let (d, a, b) = (self.reg()?, self.then(ty)?, self.then(ty)?);
                Operation::Slct(Slct {
                    ty,
                    selector,
                    ftz,
                    d,
                    a,
                    b,
                    c: self.then(selector)?,
                })
            }
        })
    }

    fn set(&mut self, op: &mut Opcode<'a>) -> Result<Set> {
        let comparison = op.want("a comparison such as `.eq`", Comparison::from_name)?;
        let operator = op.take(BooleanOperator::from_name);
        let ftz = op.flag("ftz");
        let (destination, source) = (op.ty()?, op.ty()?);
        let (d, a, b) = (self.reg()?, self.then(source)?, self.then(source)?);
        Ok(Set {
            destination,
            source,
            comparison,
            combination: self.combination(operator)?,
            ftz,
            d,
            a,
            b,
        })
    }

    fn setp(&mut self, op: &mut Opcode<'a>) -> Result<Setp> {
        let comparison = op.want("a comparison such as `.eq`", Comparison::from_name)?;
        let operator = op.take(BooleanOperator::from_name);
        let ftz = op.flag("ftz");
        let ty = op.ty()?;
        let (p, q) = self.pair()?;
        let (a, b) = (self.then(ty)?, self.then(ty)?);
        Ok(Setp {
            ty,
            comparison,
            combination: self.combination(operator)?,
            ftz,
            p,
            q,
            a,
            b,
        })
    }

    /// A comma and a predicate where there is an operator to combine it with.
    fn combination(&mut self, operator: Option<BooleanOperator>) -> Result<Option<Combination>> {
        let Some(operator) = operator else {
            return Ok(None);
        };
        self.comma()?;
        Ok(Some(Combination {
            operator,
            with: self.predicate()?,
        }))
    }

    pub(super) fn logic(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "and" => Operation::And(self.binary(op)?),
            "or" => Operation::Or(self.binary(op)?),
            "xor" => Operation::Xor(self.binary(op)?),
            "not" => Operation::Not(self.unary(op)?),
            "cnot" => Operation::Cnot(self.unary(op)?),
            "shl" => Operation::Shl(self.shift(op)?),
            "shr" => Operation::Shr(self.shift(op)?),
            "lop3" => Operation::Lop3(self.lop3(op)?),
            _ => {
                let direction = op.want("`.l` or `.r`", Direction::from_name)?;
                let wrap = op.want("`.clamp` or `.wrap`", Wrap::from_name)?;
                op.need("b32")?;
                let Binary { d, a, b, .. } = self.binary_of(Type::B32)?;
                Operation::Shf(Shf {
                    direction,
                    wrap,
                    d,
                    a,
                    b,
                    c: self.then(Type::U32)?,
                })
            }
        })
    }

    fn lop3(&mut self, op: &mut Opcode<'a>) -> Result<Lop3> {
        let operator = op.take(BooleanOperator::from_name);
        op.need("b32")?;
        let (d, p) = self.pair()?;
        let (a, b, c) = (
            self.then(Type::B32)?,
            self.then(Type::B32)?,
            self.then(Type::B32)?,
        );
        self.comma()?;
        let table = self.number32()? as u8;
        Ok(Lop3 {
            table,
            d,
            p,
            a,
            b,
            c,
            combination: self.combination(operator)?,
        })
    }
}
