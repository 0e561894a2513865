//! How what is undefined of an operation's sources makes its result undefined.

/// The rule of an operation, by which [`undefined`](super::undefined) steps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spread {
    /// The whole result of a lane is undefined where something of a source is.
    #[default]
    Whole,
    /// Each bit of the result comes from at most one bit of each of the first so many sources; the others choose which.
    Bits(u8),
    /// Sums and differences: the undefined bits, and those that a carry out of them reaches.
    Sum,
    /// Products: what is above the lowest undefined bit is undefined.
    Carries,
    /// Whether two values are equal: a difference of defined bits decides, and two copies of one undefined value are equal.
    Equality,
    /// Which of two integers of so many bits is less: decided where it is for the least and the greatest that each may be.
    Order(u8),
    /// As [`Spread::Whole`], by the second source being what is divided by.
    Divides,
    /// Registers of parts: each part of the result comes from that of each source.
    Parts(Widths),
    /// Two parts of so many bits: the upper one comes from the first source, the lower one from the second.
    Packs(u8),
    /// Each lane has the first source's of another lane.
    Shuffle,
    /// The result of all lanes is undefined where a source of any is.
    Across,
    /// Addresses, and what is loaded, stored or changed there.
    Access,
}

/// Bits of a part of a source and of a result, powers of two: each by its logarithm, because an operation has room for a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths(u8);

impl Widths {
    pub(crate) fn new(from: u32, to: u32) -> Widths {
        Widths((from.ilog2() << 4 | to.ilog2()) as u8)
    }

    pub(crate) fn from(self) -> u32 {
        1 << (self.0 >> 4)
    }

    pub(crate) fn to(self) -> u32 {
        1 << (self.0 & 15)
    }
}
