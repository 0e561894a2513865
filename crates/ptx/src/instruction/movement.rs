//! Values from register to register, lane to lane, type to type.

use crate::instruction::types::fits;
use crate::instruction::{Meeting, Wanted, operations};
use crate::names::named;
use crate::{Getctarank, Isspacep, Mapa, Operand, Reg, Rounding, Space, Type};

named! {
    /// Which lane a shuffle reads.
    pub enum ShuffleMode {
        /// b below.
        Up = "up",
        /// b above.
        Down = "down",
        /// The own one, with the bits of b flipped.
        Butterfly = "bfly",
        /// b.
        Index = "idx",
    }
}

named! {
    /// How `prmt` picks bytes; without one, by the four nibbles of c.
    pub enum PrmtMode {
        /// Four bytes from c on, forwards.
        F4e = "f4e",
        /// Four bytes from c on, backwards.
        B4e = "b4e",
        /// One byte four times.
        Rc8 = "rc8",
        /// Clamped to the left.
        Ecl = "ecl",
        /// Clamped to the right.
        Ecr = "ecr",
        /// One halfword twice.
        Rc16 = "rc16",
    }
}

named! {
    /// Treatment of values that the destination lacks.
    pub enum Saturation {
        /// `.sat`: the nearest one; floats into 0 to 1.
        Sat = "sat",
        /// `.satfinite`: the nearest finite one; NaN to NaN where there is one.
        Satfinite = "satfinite",
    }
}

named! {
    /// Which way an address is converted.
    pub enum CvtaDirection {
        /// From a space to generic.
        ToGeneric = "",
        /// From generic to a space.
        FromGeneric = "to",
    }
}

operations! {
    /// Several values in one register, the first in the lowest bits.
    pub struct Pack {
        /// Of d.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// 2, 4 or 8 of them.
        pub a: Vec<Operand> as part(*ty, a.len()),
    }

    /// One register in several, the lowest bits in the first.
    pub struct Unpack {
        /// Of a.
        pub ty: Type,
        /// 2, 4 or 8 of them; None: `_`.
        pub d: Vec<Option<Reg>> as part(*ty, d.len()),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    }

    /// Several values into as many registers.
    pub struct MovVector {
        /// Of each.
        pub ty: Type,
        /// Destinations; None: `_`.
        pub d: Vec<Option<Reg>> as Wanted::Exactly(*ty),
        /// As many sources.
        pub a: Vec<Operand> as Wanted::Moved(*ty),
    }

    /// The value of another lane.
    pub struct Shfl {
        /// Of `shfl.sync`: the lanes that take part, `u32`. None: the old `shfl`.
        pub mask: Option<Operand> as Wanted::WORD,
        /// Which lane.
        pub mode: ShuffleMode,
        /// Destination, 32 bits; None: `_`.
        pub d: Option<Reg> as Wanted::BITS,
        /// Whether that lane is within bounds.
        pub p: Option<Reg> as Wanted::PREDICATE,
        /// The own value.
        pub a: Operand as Wanted::BITS,
        /// The lane or distance, `u32`.
        pub b: Operand as Wanted::BITS,
        /// Bits 0 to 4: the clamp; 8 to 12: the mask of segments.
        pub c: Operand as Wanted::BITS,
    }

    /// A conversion.
    pub struct Cvt {
        /// Of d.
        pub to: Type,
        /// Of a and b.
        pub from: Type,
        /// None: it is exact, or it is between integers.
        pub rounding: Option<Rounding>,
        /// `.ftz`.
        pub ftz: bool,
        /// Treatment of values that `to` lacks.
        pub saturation: Option<Saturation>,
        /// `.relu`: 0 where it is negative, and canonical NaN.
        pub relu: bool,
        /// Destination.
        pub d: Reg as Wanted::of_conversion(*to, *from),
        /// Source: where two are packed, the upper half.
        pub a: Operand as source(*to, *from),
        /// The lower half where two are packed (`cvt.rn.f16x2.f32 d, a, b`).
        pub b: Option<Operand> as Wanted::of_conversion(*from, *to),
        /// Random bits of [`Rounding::Rs`].
        pub random: Option<Operand> as Wanted::BITS,
    }

    /// Two integers saturated into the lower bits of d, with c above them.
    pub struct CvtPack {
        /// `u16`, `s16`, `u8`, `s8`, `u4`, `s4`, `u2` or `s2`.
        pub to: Type,
        /// `s32`.
        pub from: Type,
        /// Destination, 32 bits.
        pub d: Reg as Wanted::AtLeast(Type::U32),
        /// The upper one.
        pub a: Operand as Wanted::AtLeast(*from),
        /// The lower one.
        pub b: Operand as Wanted::AtLeast(*from),
        /// The value that is shifted up.
        pub c: Option<Operand> as Wanted::AtLeast(Type::B32),
    }

    /// Four floats of few bits from four of `f32`, rounded by random bits and saturated (`.satfinite`).
    pub struct CvtFour {
        /// `e4m3x4`, `e5m2x4`, `e2m3x4`, `e3m2x4` or `e2m1x4`.
        pub to: Type,
        /// `.relu`: 0 where it is negative.
        pub relu: bool,
        /// Destination: 16 bits for `e2m1x4`, else 32.
        pub d: Reg as Wanted::Exactly(*to),
        /// The four, that of the highest bits first.
        pub a: Vec<Operand> as Wanted::Exactly(Type::F32),
        /// Random bits.
        pub random: Operand as Wanted::BITS,
    }

    /// An address of another space.
    pub struct Cvta read {
        /// Which way.
        pub direction: CvtaDirection = CvtaDirection::ToGeneric,
        /// The space that is not generic.
        pub space: Space,
        /// `u32` or `u64`.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as located(*direction, *ty),
    }
}

/// One of the parts of a packed value.
const fn part(ty: Type, count: usize) -> Wanted {
    match ty.bits() as usize / if count == 0 { 1 } else { count } {
        8 => Wanted::Exactly(Type::B8),
        16 => Wanted::Exactly(Type::B16),
        32 => Wanted::Exactly(Type::B32),
        64 => Wanted::Exactly(Type::B64),
        _ => Wanted::Any,
    }
}

fn parts(ty: Type, count: usize) -> Result<(), String> {
    match part(ty, count) {
        Wanted::Any => Err(format!("`.{}` has no {count} parts", ty.name())),
        _ => Ok(()),
    }
}

impl Pack {
    pub(super) fn rule(&self) -> Result<(), String> {
        parts(self.ty, self.a.len())
    }
}

impl Unpack {
    pub(super) fn rule(&self) -> Result<(), String> {
        parts(self.ty, self.d.len())
    }
}

/// The source of a `cvt`: between integers also a register of the hardware.
const fn source(to: Type, from: Type) -> Wanted {
    match Wanted::of_conversion(from, to) {
        Wanted::AtLeast(ty) if !to.is_float() => Wanted::Converted(ty),
        wanted => wanted,
    }
}

/// The source of a `cvta`: from a space also the address of a variable.
const fn located(direction: CvtaDirection, ty: Type) -> Wanted {
    match direction {
        CvtaDirection::ToGeneric => Wanted::Located(ty),
        CvtaDirection::FromGeneric => Wanted::Exactly(ty),
    }
}

/// Types between which `cvt` converts one value.
const fn is_scalar(ty: Type) -> bool {
    use Type::*;
    matches!(
        ty,
        U8 | S8 | U16 | S16 | U32 | S32 | U64 | S64 | F16 | Bf16 | F32 | F64
    )
}

/// Whether every value of one integer type is one of the other.
const fn contains(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (true, false) => from.bits() < to.bits(),
        (false, true) => false,
        _ => from.bits() <= to.bits(),
    }
}

/// How a `cvt` rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounded {
    /// Not at all: it is exact.
    Never,
    /// In one of the directions of arithmetic, which it must name.
    Always,
    /// In one of them or, where it is exact, in none.
    Maybe,
    /// To an integer, which it must name.
    ToInteger,
    /// To an integer, or not at all.
    MaybeToInteger,
}

impl Rounded {
    const fn takes(self, rounding: Option<Rounding>) -> bool {
        use Rounding::*;
        match rounding {
            None => !matches!(self, Self::Always | Self::ToInteger),
            Some(Rn | Rz | Rm | Rp) => matches!(self, Self::Always | Self::Maybe),
            Some(Rni | Rzi | Rmi | Rpi) => matches!(self, Self::ToInteger | Self::MaybeToInteger),
            Some(Rna | Rs) => false,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Never => "takes no rounding",
            Self::Always => "takes a rounding: `.rn`, `.rz`, `.rm` or `.rp`",
            Self::Maybe => "takes `.rn`, `.rz`, `.rm`, `.rp` or no rounding",
            Self::ToInteger => "takes a rounding to integers: `.rni`, `.rzi`, `.rmi` or `.rpi`",
            Self::MaybeToInteger => "takes `.rni`, `.rzi`, `.rmi`, `.rpi` or no rounding",
        }
    }
}

impl Cvt {
    pub(super) fn rule(&self) -> Result<(), String> {
        let (to, from) = (self.to, self.from);
        if to == Type::Tf32 || self.b.is_some() {
            return Ok(());
        }
        if !is_scalar(to) || !is_scalar(from) {
            let packed = to.is_float() && from.is_float();
            return fits(packed, from.name(), to);
        }
        let rounded = self.rounded();
        if !rounded.takes(self.rounding) {
            let pair = format!("from `.{}` to `.{}`", from.name(), to.name());
            return Err(format!("a conversion {pair} {}", rounded.words()));
        }
        let bf16 = to == Type::Bf16 || from == Type::Bf16;
        fits(!self.ftz || to == Type::F32 || from == Type::F32, "ftz", to)?;
        let relu = matches!(to, Type::F16 | Type::Bf16) && from == Type::F32;
        fits(!self.relu || relu, "relu", to)?;
        match self.saturation {
            None => Ok(()),
            Some(Saturation::Satfinite) => fits(relu, "satfinite", to),
            Some(Saturation::Sat) => {
                let integers = !to.is_float() && !from.is_float();
                fits(!bf16 && !(integers && contains(to, from)), "sat", to)
            }
        }
    }

    const fn rounded(&self) -> Rounded {
        let (to, from) = (self.to, self.from);
        match (to.is_float(), from.is_float()) {
            (false, false) => Rounded::Never,
            (false, true) => Rounded::ToInteger,
            (true, false) => Rounded::Always,
            _ if to.bits() < from.bits() => Rounded::Always,
            _ if matches!(
                (to, from),
                (Type::Bf16, Type::Bf16) | (Type::F16, Type::F16)
            ) =>
            {
                Rounded::MaybeToInteger
            }
            _ if matches!(from, Type::Bf16) || matches!(to, Type::Bf16) => Rounded::Maybe,
            _ if to.bits() == from.bits() => Rounded::MaybeToInteger,
            _ => Rounded::Never,
        }
    }
}

/// Whether the space is one of these.
pub(super) fn space_is(space: Space, spaces: &[Space]) -> Result<(), String> {
    if spaces.contains(&space) {
        return Ok(());
    }
    let names: Vec<String> = spaces
        .iter()
        .map(|space| match space {
            Space::Generic => "no space".to_owned(),
            space => format!("`.{}`", space.name()),
        })
        .collect();
    let found = match space {
        Space::Generic => "without a state space".to_owned(),
        space => format!("in `.{}`", space.name()),
    };
    Err(format!(
        "it is not {found}: expected one of {}",
        names.join(", ")
    ))
}

/// Spaces that a generic address may be of.
const IN_GENERIC: &[Space] = &[
    Space::Global,
    Space::Shared,
    Space::SharedCluster,
    Space::Local,
    Space::Const,
    Space::Param,
    Space::ParamEntry,
];

impl Isspacep {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, IN_GENERIC)
    }
}

impl Shfl {
    pub(super) const fn meeting(&self) -> Meeting {
        match self.mask {
            Some(_) => Meeting::Warp,
            None => Meeting::Lanes,
        }
    }
}

impl Cvta {
    /// Whether the address is the same in all blocks: that of shared memory is the block's, of local memory the thread's.
    pub(super) const fn is_pure(&self) -> bool {
        !matches!(
            self.space,
            Space::Shared | Space::SharedCluster | Space::Local
        )
    }

    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, IN_GENERIC)
    }
}

impl Mapa {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, &[Space::Generic, Space::SharedCluster])
    }
}

impl Getctarank {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, &[Space::Generic, Space::SharedCluster])
    }
}
