//! Values from register to register, lane to lane, type to type.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use super::memory::vector;
use crate::{
    Cvt, CvtFour, CvtPack, Cvta, CvtaDirection, Getctarank, Isspacep, Mapa, MovVector, Operation,
    Pack, Prmt, PrmtMode, Rounding, Saturation, Shfl, ShuffleMode, Space, Type, Unary, Unpack,
};

impl<'a> Parser<'a> {
    pub(super) fn mov(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let count = vector(op);
        let ty = op.ty()?;
        if count > 1 {
            return self.mov_vector(ty, count);
        }
        let several = self.token == Token::Sign(b'{');
        let begin = self.begin;
        let mut d = self.destinations()?;
        self.comma()?;
        if several || d.len() > 1 {
            return Ok(Operation::Unpack(Unpack {
                ty,
                d,
                a: self.operand(ty)?,
            }));
        }
        let Some(d) = d.pop().flatten() else {
            return Err(super::super::Fail::at(begin, "`_` cannot stand here"));
        };
        if self.token != Token::Sign(b'{') {
            let mut a = self.sources(ty)?;
            return Ok(match (a.len(), a.pop()) {
                (1, Some(a)) => Operation::Mov(Unary { ty, d, a }),
                (_, last) => Operation::Pack(Pack {
                    ty,
                    d,
                    a: a.into_iter().chain(last).collect(),
                }),
            });
        }
        let mut a = self.sources(Type::B64)?;
        let part = ty.bits() / a.len() as u32;
        if part < 64 {
            for operand in &mut a {
                if let crate::Operand::Immediate(bits) = operand {
                    *bits &= (1 << part) - 1;
                }
            }
        }
        Ok(Operation::Pack(Pack { ty, d, a }))
    }

    /// `mov.v4 {a, b, c, d}, v`, also `mov.v4 v, %tid`.
    fn mov_vector(&mut self, ty: Type, count: usize) -> Result<Operation> {
        let d = self.destinations()?;
        self.same_length(count, d.len())?;
        self.comma()?;
        let a = match self.special_vector()? {
            Some(parts) => parts,
            None => self.sources(ty)?,
        };
        self.same_length(count, a.len())?;
        Ok(Operation::MovVector(MovVector { ty, d, a }))
    }

    pub(super) fn shfl(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let sync = op.flag("sync");
        let mode = op.want("a mode such as `.idx`", ShuffleMode::from_name)?;
        op.need("b32")?;
        let (d, p) = self.pair()?;
        let (a, b, c) = (
            self.then(Type::B32)?,
            self.then(Type::B32)?,
            self.then(Type::B32)?,
        );
        Ok(Operation::Shfl(Shfl {
            mode,
            d,
            p,
            a,
            b,
            c,
            mask: self.given(sync, Type::B32)?,
        }))
    }

    pub(super) fn prmt(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("b32")?;
        let mode = op.take(PrmtMode::from_name);
        let (d, a, b) = (self.reg()?, self.then(Type::B32)?, self.then(Type::B32)?);
        Ok(Operation::Prmt(Prmt {
            mode,
            d,
            a,
            b,
            c: self.then(Type::B32)?,
        }))
    }

    pub(super) fn cvt(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let rounding = op.take(Rounding::from_name);
        let (ftz, relu) = (op.flag("ftz"), op.flag("relu"));
        let saturation = op.take(Saturation::from_name);
        let (to, from) = (op.ty()?, op.ty()?);
        let (d, a) = (self.reg()?, self.then(from)?);
        let b = self.optional(from)?;
        let random = self.given(rounding == Some(Rounding::Rs) && b.is_some(), Type::B32)?;
        Ok(Operation::Cvt(Cvt {
            to,
            from,
            rounding,
            ftz,
            saturation,
            relu,
            d,
            a,
            b,
            random,
        }))
    }

    pub(super) fn cvt_pack(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("pack")?;
        op.need("sat")?;
        let (to, from, third) = (op.ty()?, op.ty()?, op.optional_type());
        let (d, a, b) = (self.reg()?, self.then(from)?, self.then(from)?);
        Ok(Operation::CvtPack(CvtPack {
            to,
            from,
            d,
            a,
            b,
            c: self.given(third.is_some(), Type::B32)?,
        }))
    }

    pub(super) fn cvt_four(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("rs")?;
        op.need("satfinite")?;
        let relu = op.flag("relu");
        let (to, from) = (op.ty()?, op.ty()?);
        let d = self.reg()?;
        self.comma()?;
        let a = self.sources(from)?;
        self.same_length(4, a.len())?;
        Ok(Operation::CvtFour(Box::new(CvtFour {
            to,
            relu,
            d,
            a,
            random: self.then(Type::B32)?,
        })))
    }

    /// What concerns addresses as values.
    pub(super) fn addresses(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let direction = if op.flag("to") {
            CvtaDirection::FromGeneric
        } else {
            CvtaDirection::ToGeneric
        };
        let space = op.take(Space::from_name);
        Ok(match op.name {
            "isspacep" => {
                let space = space.ok_or_else(|| op.error("`isspacep` lacks a state space"))?;
                Operation::Isspacep(Isspacep {
                    space,
                    p: self.reg()?,
                    a: self.then(Type::U64)?,
                })
            }
            "cvta" => {
                let space = space.ok_or_else(|| op.error("`cvta` lacks a state space"))?;
                let Unary { ty, d, a } = self.unary(op)?;
                Operation::Cvta(Cvta {
                    direction,
                    space,
                    ty,
                    d,
                    a,
                })
            }
            "mapa" => {
                let Unary { ty, d, a } = self.unary(op)?;
                Operation::Mapa(Mapa {
                    space: space.unwrap_or(Space::Generic),
                    ty,
                    d,
                    a,
                    b: self.then(Type::U32)?,
                })
            }
            _ => {
                let Unary { ty, d, a } = self.unary(op)?;
                Operation::Getctarank(Getctarank {
                    space: space.unwrap_or(Space::Generic),
                    ty,
                    d,
                    a,
                })
            }
        })
    }
}
