//! Video instructions.

use ptx::{Comparison, VideoOperator, VideoPart, VideoSecond, VideoShift, VideoSource};

use super::handler::rare;
use super::{Lowered, Lowering};
use crate::arith::video::{self, Instruction, Mad, Second, Source, Video};
use crate::exec::op::ternary;
use crate::exec::registers::Kind;
use crate::exec::signature::Table;

impl Lowering<'_> {
    pub(super) fn video(&mut self, it: &ptx::Video) -> Lowered<()> {
        let instruction = match it.operator {
            VideoOperator::Mad => Instruction::Mad(mad(it)?),
            _ => Instruction::Lanes(lanes(it)?),
        };
        if it.c.is_none() && (it.lanes > 1 || it.part != VideoPart::Whole || it.second.is_some()) {
            return Err("it lacks the third operand".to_owned());
        }
        let a = self.read(&it.a.value, Kind::Word)?;
        let b = self.read(&it.b.value, Kind::Word)?;
        let c = match &it.c {
            Some(c) => self.read(&c.value, Kind::Word)?,
            None => self.constant(Kind::Word, 0),
        };
        self.videos.push(instruction);
        let index = self.videos.len() as u64 - 1;
        let run = rare!([d: Kind::Word, a: Kind::Word, b: Kind::Word, c: Kind::Word, aux: Table::Videos], |c, op| {
            let instruction = &(&*c.at.program).videos[op.aux as usize];
            ternary(c, op, |a: u32, b: u32, d: u32| instruction.of(a, b, d))
        });
        self.finish_in(run, (it.d, Kind::Word), [a, b, c], index)
    }
}

fn mad(it: &ptx::Video) -> Lowered<Mad> {
    let negates = |source: &VideoSource| source.negated;
    Ok(Mad {
        a: source(&it.a, 1, 0)?,
        b: source(&it.b, 1, 0)?,
        negates_product: negates(&it.a) != negates(&it.b),
        negates_c: it.c.as_ref().is_some_and(negates),
        plus_one: it.plus_one,
        scale: it.scale,
        saturates: it.saturates,
    })
}

fn lanes(it: &ptx::Video) -> Lowered<Video> {
    if it.a.negated || it.b.negated || it.c.as_ref().is_some_and(|c| c.negated) {
        return Err("a negated operand".to_owned());
    }
    let (bits, destination) = match (it.lanes, it.part) {
        (1, VideoPart::Whole) => (32, 0),
        (1, VideoPart::Byte(part)) => (8, part.into()),
        (1, VideoPart::Half(part)) => (16, part.into()),
        (2, VideoPart::Whole) => (16, 0b11),
        (2, VideoPart::Halves(parts)) => (16, mask(&parts)),
        (4, VideoPart::Whole) => (8, 0b1111),
        (4, VideoPart::Bytes(parts)) => (8, mask(&parts)),
        _ => return Err("the destination's part".to_owned()),
    };
    let is_there = match it.lanes {
        1 => bits * (destination + 1) <= 32,
        lanes => destination >> lanes == 0,
    };
    if !is_there {
        return Err("the destination's part".to_owned());
    }
    let merges_and_adds = it.second.is_some() && it.lanes == 1 && it.part != VideoPart::Whole;
    if merges_and_adds || it.lanes > 1 && !matches!(it.second, None | Some(VideoSecond::Add)) {
        return Err("the second operation".to_owned());
    }
    Ok(Video {
        operation: operation(it)?,
        lanes: it.lanes as usize,
        a: source(&it.a, it.lanes, 0)?,
        b: source(&it.b, it.lanes, it.lanes)?,
        // A comparison's third operand has the sign of the first.
        is_signed: it.signed || it.operator == VideoOperator::Set && it.a.signed,
        saturates: it.saturates,
        bits,
        destination,
        second: match it.second {
            None => Second::Merge,
            Some(VideoSecond::Add) => Second::Add,
            Some(VideoSecond::Min) => Second::Min,
            Some(VideoSecond::Max) => Second::Max,
        },
    })
}

/// A bit for each lane that is named.
fn mask(parts: &[Option<u8>]) -> u32 {
    parts
        .iter()
        .flatten()
        .fold(0, |mask, part| mask | 1 << part)
}

/// Which parts lanes take: without a selector those of their own operand, whose first is `first`.
fn source(it: &VideoSource, lanes: u32, first: u32) -> Lowered<Source> {
    let own = |lane: usize| (first + lane as u32) as u8;
    let (bits, parts) = match (lanes, it.part) {
        (1, VideoPart::Whole) => (32, [0; 4]),
        (1, VideoPart::Byte(part @ 0..4)) => (8, [part; 4]),
        (1, VideoPart::Half(part @ 0..2)) => (16, [part; 4]),
        (2, VideoPart::Whole) => (16, std::array::from_fn(own)),
        (4, VideoPart::Whole) => (8, std::array::from_fn(own)),
        (2, VideoPart::Halves([Some(low @ 0..4), Some(high @ 0..4)])) => (16, [low, high, 0, 0]),
        (4, VideoPart::Bytes([Some(a), Some(b), Some(c), Some(d)])) => (8, [a, b, c, d]),
        _ => return Err("a source's part".to_owned()),
    };
    Ok(Source {
        is_signed: it.signed,
        bits,
        parts,
    })
}

fn operation(it: &ptx::Video) -> Lowered<video::Operation> {
    use video::Operation as To;
    Ok(match (it.operator, it.shift) {
        (VideoOperator::Add, _) => To::Add,
        (VideoOperator::Sub, _) => To::Sub,
        (VideoOperator::AbsoluteDifference, _) => To::AbsoluteDifference,
        (VideoOperator::Min, _) => To::Min,
        (VideoOperator::Max, _) => To::Max,
        (VideoOperator::Average, _) => To::Average,
        (VideoOperator::Shl, Some(VideoShift::Clamp)) => To::ShlClamp,
        (VideoOperator::Shl, _) => To::ShlWrap,
        (VideoOperator::Shr, Some(VideoShift::Clamp)) => To::ShrClamp,
        (VideoOperator::Shr, _) => To::ShrWrap,
        (VideoOperator::Set, _) => To::Set(match it.comparison {
            Some(Comparison::Eq) => [false, true, false],
            Some(Comparison::Ne) => [true, false, true],
            Some(Comparison::Lt) => [true, false, false],
            Some(Comparison::Le) => [true, true, false],
            Some(Comparison::Gt) => [false, false, true],
            Some(Comparison::Ge) => [false, true, true],
            _ => return Err("the comparison".to_owned()),
        }),
        (VideoOperator::Mad, _) => return Err("lanes of products".to_owned()),
    })
}
