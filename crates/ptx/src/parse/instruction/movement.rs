//! Values from register to register, lane to lane, type to type.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use super::memory::vector;
use crate::{
    Cvt, CvtFour, CvtPack, MovVector, Pack, Rounding, Saturation, Shfl, ShuffleMode, Type, Unpack,
};

impl<'a> Parser<'a> {
    /// Whether the destinations of a `mov` are several: a list or a vector of registers.
    pub(crate) fn has_destinations(&mut self, _: &Opcode<'a>) -> bool {
        self.token == Token::Sign(b'{') || self.is_whole_vector(self.token, self.lexer)
    }

    /// Whether the sources of a `mov` are several: a list or a vector behind the first comma.
    pub(crate) fn has_sources(&mut self, _: &Opcode<'a>) -> bool {
        let (mut token, mut ahead) = (self.token, self.lexer);
        let mut next = |token: &mut Token<'a>| {
            let following = ahead.skip_space().and_then(|()| ahead.token());
            *token = following.unwrap_or(Token::End);
            ahead
        };
        while !matches!(token, Token::Sign(b',' | b';') | Token::End) {
            next(&mut token);
        }
        let behind = next(&mut token);
        token == Token::Sign(b'{') || self.is_whole_vector(token, behind)
    }

    /// `mov {a, b}, v`.
    pub(crate) fn unpack(&mut self, op: &mut Opcode<'a>) -> Result<Unpack> {
        let ty = op.ty()?;
        let d = self.destinations()?;
        Ok(Unpack {
            ty,
            d,
            a: self.then(ty)?,
        })
    }

    /// `mov v, {a, b}`.
    pub(crate) fn pack(&mut self, op: &mut Opcode<'a>) -> Result<Pack> {
        let ty = op.ty()?;
        let d = self.reg()?;
        self.comma()?;
        let mut a = self.sources(Type::B64)?;
        let part = ty.bits() / a.len() as u32;
        if part < 64 {
            for operand in &mut a {
                if let crate::Operand::Immediate(bits) = operand {
                    *bits &= (1 << part) - 1;
                }
            }
        }
        Ok(Pack { ty, d, a })
    }

    /// `mov.v4 {a, b, c, d}, v`, also `mov.v4 v, %tid`.
    pub(crate) fn mov_vector(&mut self, op: &mut Opcode<'a>) -> Result<MovVector> {
        let count = vector(op);
        let ty = op.ty()?;
        let d = self.destinations()?;
        self.same_length(count, d.len())?;
        self.comma()?;
        let a = match self.special_vector()? {
            Some(parts) => parts,
            None => self.sources(ty)?,
        };
        self.same_length(count, a.len())?;
        Ok(MovVector { ty, d, a })
    }

    pub(crate) fn shfl(&mut self, op: &mut Opcode<'a>) -> Result<Shfl> {
        let sync = op.flag("sync");
        let mode = op.want("a mode such as `.idx`", ShuffleMode::from_name)?;
        let (d, p) = self.pair()?;
        let (a, b, c) = (
            self.then(Type::B32)?,
            self.then(Type::B32)?,
            self.then(Type::B32)?,
        );
        Ok(Shfl {
            mode,
            d,
            p,
            a,
            b,
            c,
            mask: self.given(sync, Type::B32)?,
        })
    }

    pub(crate) fn cvt(&mut self, op: &mut Opcode<'a>) -> Result<Cvt> {
        let rounding = op.take(Rounding::from_name);
        let (ftz, relu) = (op.flag("ftz"), op.flag("relu"));
        let saturation = op.take(Saturation::from_name);
        let (to, from) = (op.ty()?, op.ty()?);
        let (d, a) = (self.reg()?, self.then(from)?);
        let b = self.optional(from)?;
        let random = self.given(rounding == Some(Rounding::Rs) && b.is_some(), Type::B32)?;
        Ok(Cvt {
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
        })
    }

    pub(crate) fn cvt_pack(&mut self, op: &mut Opcode<'a>) -> Result<CvtPack> {
        let (to, from, third) = (op.ty()?, op.ty()?, op.optional_type());
        let (d, a, b) = (self.reg()?, self.then(from)?, self.then(from)?);
        Ok(CvtPack {
            to,
            from,
            d,
            a,
            b,
            c: self.given(third.is_some(), Type::B32)?,
        })
    }

    pub(crate) fn cvt_four(&mut self, op: &mut Opcode<'a>) -> Result<CvtFour> {
        let relu = op.flag("relu");
        let (to, from) = (op.ty()?, op.ty()?);
        let d = self.reg()?;
        self.comma()?;
        let a = self.sources(from)?;
        self.same_length(4, a.len())?;
        Ok(CvtFour {
            to,
            relu,
            d,
            a,
            random: self.then(Type::B32)?,
        })
    }
}
