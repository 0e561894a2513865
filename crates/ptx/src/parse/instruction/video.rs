//! Video instructions.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    Comparison, Type, Video, VideoOperator, VideoPart, VideoSecond, VideoShift, VideoSource,
};

/// Splits a video instruction's name into the operator and the number of lanes.
fn named(name: &str) -> Option<(VideoOperator, u32)> {
    let (base, lanes) = match name.as_bytes().last()? {
        b'2' => (&name[..name.len() - 1], 2),
        b'4' => (&name[..name.len() - 1], 4),
        _ => (name, 1),
    };
    let operator = VideoOperator::from_name(base)?;
    let is_there = match operator {
        VideoOperator::Average => lanes > 1,
        VideoOperator::Shl | VideoOperator::Shr | VideoOperator::Mad => lanes == 1,
        _ => true,
    };
    is_there.then_some((operator, lanes))
}

impl<'a> Parser<'a> {
    pub(crate) fn video(&mut self, op: &mut Opcode<'a>) -> Result<Video> {
        let Some((operator, lanes)) = named(op.name) else {
            return Err(op.error(&format!("unknown instruction `{}`", op.name)));
        };
        let compares = operator == VideoOperator::Set;
        let signed = !compares && is_signed(op)?;
        let (of_a, of_b) = (is_signed(op)?, is_signed(op)?);
        let comparison = match compares {
            true => Some(op.want("a comparison such as `.lt`", Comparison::from_name)?),
            false => None,
        };
        let is_shift = matches!(operator, VideoOperator::Shl | VideoOperator::Shr);
        let shift = match is_shift {
            true => Some(op.want("`.clamp` or `.wrap`", VideoShift::from_name)?),
            false => None,
        };
        let is_mad = operator == VideoOperator::Mad;
        let saturates = !compares && op.flag("sat");
        let plus_one = is_mad && op.flag("po");
        let scale = match is_mad {
            true => op.take(scale).unwrap_or(0),
            false => 0,
        };
        let second = match is_mad {
            true => None,
            false => op.take(VideoSecond::from_name),
        };
        let (d, part) = (self.reg()?, self.part_of(lanes)?);
        let (a, b) = (
            self.video_source(of_a, lanes)?,
            self.video_source(of_b, lanes)?,
        );
        let c = match self.token {
            Token::Sign(b',') => Some(self.video_source(signed, lanes)?),
            _ => None,
        };
        Ok(Video {
            operator,
            lanes,
            signed,
            saturates,
            comparison,
            shift,
            plus_one,
            scale,
            second,
            d,
            part,
            a,
            b,
            c,
        })
    }

    /// A comma, and a source with its part.
    fn video_source(&mut self, signed: bool, lanes: u32) -> Result<VideoSource> {
        self.comma()?;
        let negated = self.token == Token::Sign(b'-') && self.minus_register()?;
        if negated {
            self.advance()?;
        }
        let value = self.operand(if signed { Type::S32 } else { Type::U32 })?;
        Ok(VideoSource {
            value,
            negated,
            signed,
            part: self.part_of(lanes)?,
        })
    }

    /// `.b0`, `.h1`, `.h32`, `.b7654`, or nothing.
    fn part_of(&mut self, lanes: u32) -> Result<VideoPart> {
        let Token::Dotted(text) = self.token else {
            return Ok(VideoPart::Whole);
        };
        let Some(part) = part(text, lanes) else {
            return Err(self.expected("a part such as `.b0` or `.h10`"));
        };
        self.advance()?;
        Ok(part)
    }

    /// Whether the minus that is next belongs to a register.
    pub(super) fn minus_register(&self) -> Result<bool> {
        let mut ahead = self.lexer;
        ahead.skip_space()?;
        Ok(matches!(ahead.token()?, Token::Word(name) if name != "WARP_SZ"))
    }
}

/// Whether the next type is `.s32`; `.u32` else.
fn is_signed(op: &mut Opcode<'_>) -> Result<bool> {
    op.want("`.u32` or `.s32`", |part| match part {
        "u32" => Some(false),
        "s32" => Some(true),
        _ => None,
    })
}

fn scale(part: &str) -> Option<u32> {
    match part {
        "shr7" => Some(7),
        "shr15" => Some(15),
        _ => None,
    }
}

/// Returns the part that a selector names; of several digits the last is the lowest lane's.
fn part(text: &str, lanes: u32) -> Option<VideoPart> {
    let (is_byte, digits) = match text.split_at_checked(1)? {
        ("b", digits) => (true, digits),
        ("h", digits) => (false, digits),
        _ => return None,
    };
    let mut parsed = [None; 4];
    if digits.is_empty() || digits.len() > parsed.len() {
        return None;
    }
    for (slot, digit) in parsed.iter_mut().zip(digits.bytes().rev()) {
        *slot = Some(digit.checked_sub(b'0').filter(|&it| it < 8)?);
    }
    match (lanes, is_byte) {
        (1, true) if digits.len() == 1 => Some(VideoPart::Byte(parsed[0]?)),
        (1, false) if digits.len() == 1 => Some(VideoPart::Half(parsed[0]?)),
        (2, false) if digits.len() <= 2 => Some(VideoPart::Halves([parsed[0], parsed[1]])),
        (4, true) => Some(VideoPart::Bytes(parsed)),
        _ => None,
    }
}
