//! Comparison, selection and logic.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{BooleanOperator, Combination, Comparison, Lop3, Set, Setp, Type};

impl<'a> Parser<'a> {
    pub(crate) fn set(&mut self, op: &mut Opcode<'a>) -> Result<Set> {
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

    pub(crate) fn setp(&mut self, op: &mut Opcode<'a>) -> Result<Setp> {
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

    pub(crate) fn lop3(&mut self, op: &mut Opcode<'a>) -> Result<Lop3> {
        let operator = op.take(BooleanOperator::from_name);
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
