//! Video instructions: integers of parts of registers, with a second operation on the result.

use crate::instruction::{Named, Visit, Wanted, operations};
use crate::names::named;
use crate::{Comparison, Operand, Reg};

named! {
    /// The operation of a video instruction on parts of a and b.
    pub enum VideoOperator {
        /// a + b.
        Add = "vadd",
        /// a - b.
        Sub = "vsub",
        /// |a - b|.
        AbsoluteDifference = "vabsdiff",
        /// The lesser.
        Min = "vmin",
        /// The greater.
        Max = "vmax",
        /// The average, of lanes alone: rounded up, or towards 0 where the sum is negative.
        Average = "vavrg",
        /// a shifted to the left.
        Shl = "vshl",
        /// a shifted to the right.
        Shr = "vshr",
        /// a * b + c.
        Mad = "vmad",
        /// Whether they compare so.
        Set = "vset",
    }
}

named! {
    /// The second operation, with c.
    pub enum VideoSecond {
        /// Sum.
        Add = "add",
        /// The lesser.
        Min = "min",
        /// The greater.
        Max = "max",
    }
}

named! {
    /// Treatment of amounts by which nothing can be shifted.
    pub enum VideoShift {
        /// They are 32.
        Clamp = "clamp",
        /// Their lower five bits count.
        Wrap = "wrap",
    }
}

/// Which part of a register is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VideoPart {
    /// The default: all of it.
    #[default]
    Whole,
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
    /// `.h10`: halves of (b, a), or of the destination, that of the lowest lane first.
    Halves([Option<u8>; 2]),
    /// `.b3210`: the same of bytes.
    Bytes([Option<u8>; 4]),
}

impl Visit for VideoPart {
    fn visit(&self, _: Wanted, _: &mut dyn FnMut(Named)) {}
}

operations! {
    /// An operand of a video instruction.
    pub struct VideoSource {
        /// The value that it is a part of.
        pub value: Operand as Wanted::WORD,
        /// Of `vmad`: `-a`.
        pub negated: bool,
        /// Whether the part is extended by its sign: it is `.s32`.
        pub signed: bool,
        /// Which part.
        pub part: VideoPart,
    }

    /// `vadd`, `vset4` and the like.
    pub struct Video {
        /// The operation.
        pub operator: VideoOperator,
        /// 1, 2 or 4.
        pub lanes: u32,
        /// Whether the result is `.s32`.
        pub signed: bool,
        /// `.sat`: the nearest number that the destination, or its part, has.
        pub saturates: bool,
        /// Of `vset`.
        pub comparison: Option<Comparison>,
        /// Of `vshl` and `vshr`.
        pub shift: Option<VideoShift>,
        /// `.po` of `vmad`: 1 more.
        pub plus_one: bool,
        /// `.shr7` and `.shr15` of `vmad`, else 0.
        pub scale: u32,
        /// The second operation, with c; of lanes their sum alone.
        pub second: Option<VideoSecond>,
        /// Destination.
        pub d: Reg as Wanted::WORD,
        /// The part of it that the result goes to; the rest is c's.
        pub part: VideoPart,
        /// First source.
        pub a: VideoSource,
        /// Second source.
        pub b: VideoSource,
        /// Third source, whole.
        pub c: Option<VideoSource>,
    }
}
