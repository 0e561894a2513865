//! Video instructions: parts of two operands, an operation in more bits than a register has, then saturation, and a second
//! operation or a merge with the third operand.
//!
//! No GPU since Maxwell has those of one lane: ptxas makes them of instructions on pairs of registers, and results are
//! what these give on `sm_90`. They differ from the PTX ISA's pseudo-code, whose intermediate results have 34 bits (`vmad`: 128):
//!
//! | instruction | PTX ISA | `sm_90` |
//! |---|---|---|
//! | `.sat` to `.u32` of `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax` | held within 0 and 2^32 - 1 | 0 in the place of negative numbers, else the lower 32 bits |
//! | second operation after `vadd`, `vsub`; after a shift with `.sat`; after `.sat` to `.s32` | on the intermediate result | on its lower 32 bits, extended by their sign |
//! | second `.min`, `.max` of `.u32` | of numbers with a sign | of 64 bits without: a negative number is the greatest |
//! | second operation after `vset` | of numbers without a sign | with one if the first operand has one |
//! | `vmad`: `.u32` operands of 32 bits, and c | extended by 0 where they have no sign | all extended by their sign, in 64 bits |
//! | `vmad.sat.shr7`, `.shr15` of results without a sign | as without a shift | 0 is shifted in, so that a negative sum becomes 2^32 - 1 |
//!
//! A result that goes to a part of the destination is the pseudo-code's. What ptxas (CUDA 13.0) makes of these is neither: it takes
//! the upper half of the result for `.h1`, and saturates a negative one to the greatest number.

/// How parts of operands are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whether a part is extended by its sign.
    pub is_signed: bool,
    /// Bits of a part: 8, 16 or 32.
    pub bits: u32,
    /// Which of the parts of (b, a) each lane takes, counted from the lowest of a; of one lane, which of its operand.
    pub parts: [u8; 4],
}

impl Source {
    /// Returns the part that a lane takes, extended.
    fn of(&self, operands: u64, lane: usize) -> i64 {
        let part = operands >> (self.bits * u32::from(self.parts[lane]));
        let above = 64 - self.bits;
        match self.is_signed {
            true => (part << above) as i64 >> above,
            false => (part << above >> above) as i64,
        }
    }
}

/// The operation of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Its magnitude.
    AbsoluteDifference,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Half of the sum, rounded up where that is not negative, else down.
    Average,
    /// To the left, by 32 at most.
    ShlClamp,
    /// To the left, by five bits of the amount.
    ShlWrap,
    /// To the right, by 32 at most.
    ShrClamp,
    /// To the right, by five bits of the amount.
    ShrWrap,
    /// 1 where the order is one of these three: less, equal, greater.
    Set([bool; 3]),
}

/// The second operation, with the third operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Nothing: of lanes that have no result the third operand's parts are kept.
    Merge,
    /// Sum.
    Add,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// An instruction of one, two or four lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Video {
    /// The operation of each lane.
    pub operation: Operation,
    /// 1, 2 or 4.
    pub lanes: usize,
    /// The first source.
    pub a: Source,
    /// The second one.
    pub b: Source,
    /// Whether the result, and the third operand, has a sign.
    pub is_signed: bool,
    /// Whether the result is the nearest number that its bits hold.
    pub saturates: bool,
    /// Bits of a lane's result: what it is saturated and merged to.
    pub bits: u32,
    /// Of one lane the part of the destination that it goes to, counted in `bits`; of several a bit for each that has a
    /// result.
    pub destination: u32,
    /// The second operation.
    pub second: Second,
}

impl Video {
    /// The result.
    #[must_use]
    pub fn of(&self, a: u32, b: u32, c: u32) -> u32 {
        match self.lanes {
            1 => self.of_one(a, b, c),
            _ => self.of_lanes(a, b, c),
        }
    }

    fn of_one(&self, a: u32, b: u32, c: u32) -> u32 {
        let (a, b) = (self.a.of(a.into(), 0), self.b.of(b.into(), 0));
        let result = compute(self.operation, a, b);
        if self.bits < 32 {
            return self.merged(self.saturated(result) as u32, self.destination, c);
        }
        let result = self.whole(result);
        let is_less = match self.is_signed {
            true => result < i64::from(c.cast_signed()),
            false => result.cast_unsigned() < u64::from(c),
        };
        let result = result as u32;
        match self.second {
            Second::Merge => result,
            Second::Add => result.wrapping_add(c),
            Second::Min if is_less => result,
            Second::Max if !is_less => result,
            Second::Min | Second::Max => c,
        }
    }

    /// A result that goes to the whole destination, as the second operation sees it.
    fn whole(&self, result: i128) -> i64 {
        use Operation::{Add, ShlClamp, ShlWrap, ShrClamp, ShrWrap, Sub};
        let is_left = matches!(self.operation, ShlClamp | ShlWrap);
        let is_shift = is_left || matches!(self.operation, ShrClamp | ShrWrap);
        // What is shifted to the left is saturated from 34 bits on, others from 64.
        let of_34_bits = |x: i128| x << 94 >> 94;
        let result = match (self.saturates, is_left) {
            (false, _) => result,
            (true, true) => self.saturated(of_34_bits(result)),
            (true, false) if self.is_signed => self.saturated(result),
            (true, false) => result.max(0),
        };
        let of_saturated = self.saturates && (self.is_signed || is_shift);
        match of_saturated || matches!(self.operation, Add | Sub) {
            true => i64::from(result as i32),
            false => result as i64,
        }
    }

    fn of_lanes(&self, a: u32, b: u32, c: u32) -> u32 {
        let operands = u64::from(b) << 32 | u64::from(a);
        let mut d = c;
        for lane in (0..self.lanes).filter(|lane| self.destination >> lane & 1 == 1) {
            let (a, b) = (self.a.of(operands, lane), self.b.of(operands, lane));
            let result = self.saturated(compute(self.operation, a, b)) as u32;
            d = match self.second {
                Second::Add => d.wrapping_add(result),
                _ => self.merged(result, lane as u32, d),
            };
        }
        d
    }

    /// The nearest number that the destination's bits hold, where that is asked for.
    fn saturated(&self, result: i128) -> i128 {
        if !self.saturates {
            return result;
        }
        let (least, most) = match self.is_signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        };
        result.clamp(least, most)
    }

    /// The third operand with the result's bits in the place of one of its parts.
    fn merged(&self, result: u32, part: u32, c: u32) -> u32 {
        let mask = u32::MAX >> (32 - self.bits);
        let shift = self.bits * part;
        c & !(mask << shift) | (result & mask) << shift
    }
}

/// In more bits than it needs.
fn compute(operation: Operation, a: i64, b: i64) -> i128 {
    let (a, b) = (i128::from(a), i128::from(b));
    // An amount is unsigned.
    let (clamped, wrapped) = (b.min(32) as u32, b as u32 & 31);
    match operation {
        Operation::Add => a + b,
        Operation::Sub => a - b,
        Operation::AbsoluteDifference => (a - b).abs(),
        Operation::Min => a.min(b),
        Operation::Max => a.max(b),
        Operation::Average => (a + b + i128::from(a + b >= 0)) >> 1,
        Operation::ShlClamp => a << clamped,
        Operation::ShlWrap => a << wrapped,
        Operation::ShrClamp => a >> clamped,
        Operation::ShrWrap => a >> wrapped,
        Operation::Set(orders) => i128::from(orders[(a.cmp(&b) as i8 + 1) as usize]),
    }
}

/// `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mad {
    /// The first factor.
    pub a: Source,
    /// The second one.
    pub b: Source,
    /// Whether the product is negated.
    pub negates_product: bool,
    /// Whether the third operand is.
    pub negates_c: bool,
    /// `.po`.
    pub plus_one: bool,
    /// How far the sum is shifted to the right.
    pub scale: u32,
    /// Whether the result is the nearest number of 32 bits.
    pub saturates: bool,
}

impl Mad {
    /// The result.
    #[must_use]
    pub fn of(&self, a: u32, b: u32, c: u32) -> u32 {
        // An operand of 32 bits has a sign, whatever its type.
        let factor = |source: &Source, x: u32| i64::from(source.of(x.into(), 0) as i32);
        let product = factor(&self.a, a) * factor(&self.b, b);
        let is_signed =
            self.a.is_signed || self.b.is_signed || self.negates_product || self.negates_c;
        let c = if self.negates_c && !self.negates_product && !self.plus_one {
            !c
        } else {
            c
        };
        let product = if self.negates_product && !self.plus_one {
            !product
        } else {
            product
        };
        let one = self.plus_one || self.negates_product || self.negates_c;
        // A product has at most 2^62.
        let sum = product + i64::from(c.cast_signed()) + i64::from(one);
        let scaled = sum >> self.scale;
        match (self.saturates, is_signed, self.scale) {
            (false, ..) => scaled as u32,
            (true, true, _) => scaled.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            (true, false, 0) => sum.clamp(0, u32::MAX.into()) as u32,
            (true, false, scale) => (sum.cast_unsigned() >> scale).min(u32::MAX.into()) as u32,
        }
    }
}

/// A video instruction, as handlers find it.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// On parts of the operands.
    Lanes(Video),
    /// `vmad`.
    Mad(Mad),
}

impl Instruction {
    /// Returns the value for these operands.
    pub fn of(&self, a: u32, b: u32, c: u32) -> u32 {
        match self {
            Instruction::Lanes(video) => video.of(a, b, c),
            Instruction::Mad(mad) => mad.of(a, b, c),
        }
    }
}
