//! Which operands an instruction takes.
//!
//! The rules are those of the PTX ISA, "Operand Type Checking" and "Operand Size Exceeding Instruction-Type Size", as
//! `ptxas` applies them.

use crate::{Kind, SpecialRegister, Type};

/// The operands that an instruction takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Any operand: another rule looks at it.
    Any,
    /// A value of exactly this many bits, of a kind that goes with the type.
    Exactly(Type),
    /// The same, or a wider register: the operands of `ld`, `st` and `cvt`.
    AtLeast(Type),
    /// The same as one of several elements of a vector, whose registers have one size.
    Element(Type),
    /// The source of a `mov`: also an address and a register of the hardware.
    Moved(Type),
    /// The source of a `cvt`: also a register of the hardware.
    Converted(Type),
    /// The source of a `cvta`: also the address of a variable.
    Located(Type),
    /// The base of an address.
    Address,
    /// An address as a value, 32 or 64 bits.
    Pointer,
}

impl Wanted {
    /// A predicate.
    pub(crate) const PREDICATE: Self = Self::Exactly(Type::Pred);
    /// 32 bits that are no float: a count, a mask, a distance.
    pub(crate) const WORD: Self = Self::Exactly(Type::U32);
    /// Any 32 bits.
    pub(crate) const BITS: Self = Self::Exactly(Type::B32);
    /// Any 64 bits that are no float: a state, a policy.
    pub(crate) const LONG: Self = Self::Exactly(Type::U64);

    /// One of so many elements.
    pub(crate) const fn among(ty: Type, count: usize) -> Self {
        if count > 1 {
            Self::Element(ty)
        } else {
            Self::AtLeast(ty)
        }
    }

    /// The operand of this type of a `cvt` from or to the other: the newer types take registers of exactly their size
    /// on both sides.
    pub(crate) const fn of_conversion(ty: Type, other: Type) -> Self {
        if is_newer(ty) || is_newer(other) {
            Self::Exactly(ty)
        } else {
            Self::AtLeast(ty)
        }
    }

    /// The type of a constant that stands there.
    pub(crate) const fn immediate(self) -> Type {
        match self {
            Self::Exactly(ty)
            | Self::AtLeast(ty)
            | Self::Element(ty)
            | Self::Moved(ty)
            | Self::Converted(ty)
            | Self::Located(ty) => ty,
            Self::Any => Type::B64,
            Self::Address | Self::Pointer => Type::U64,
        }
    }

    /// Whether a register of this type may stand there.
    pub(crate) const fn takes(self, register: Type) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(ty) | Self::Moved(ty) | Self::Located(ty) => {
                register.bits() == ty.bits() && goes_with(ty, register)
            }
            Self::AtLeast(ty) | Self::Converted(ty) | Self::Element(ty) => {
                register.bits() >= ty.bits() && goes_with(ty, register)
            }
            Self::Address => {
                register.bits() <= 64 && goes_with(Type::U64, register) && !register.is_float()
            }
            Self::Pointer => {
                matches!(register.bits(), 32 | 64)
                    && goes_with(Type::U64, register)
                    && !register.is_float()
            }
        }
    }

    /// Whether this register of the hardware may stand there.
    pub(crate) const fn takes_special(self, special: SpecialRegister) -> bool {
        let ty = match self {
            Self::Any => return true,
            Self::Moved(ty) | Self::Converted(ty) => ty,
            _ => return false,
        };
        match (self, bits_of(special)) {
            (_, Some(1)) => matches!(ty.kind(), Kind::Predicate),
            (_, None) | (Self::Converted(_), _) => !ty.is_float(),
            (_, Some(64)) => ty.bits() == 64 && !ty.is_float(),
            _ => matches!(ty.bits(), 16 | 32) && !ty.is_float(),
        }
    }

    /// Whether the address of a variable or a function may stand there as a value.
    pub(crate) const fn takes_symbol(self) -> bool {
        match self {
            Self::Any | Self::Address => true,
            Self::Moved(ty) | Self::Located(ty) => {
                ty.bits() >= 16 && !matches!(ty.kind(), Kind::Float | Kind::Predicate)
            }
            _ => false,
        }
    }

    /// In words, for what was found in its place.
    pub(crate) fn described(self) -> String {
        match self {
            Self::Any => "an operand".to_owned(),
            Self::Exactly(ty) | Self::Moved(ty) | Self::Located(ty) => sized(ty, ty.bits(), ""),
            Self::AtLeast(ty) | Self::Converted(ty) | Self::Element(ty) => {
                sized(ty, ty.bits(), " or more")
            }
            Self::Address => "an address in a register of integers or bits".to_owned(),
            Self::Pointer => "an address of 32 or 64 bits".to_owned(),
        }
    }
}

fn sized(ty: Type, bits: u32, more: &str) -> String {
    match ty.kind() {
        Kind::Predicate => "a predicate".to_owned(),
        Kind::Bits => format!("{bits} bits{more}"),
        Kind::Float => format!("`.{}` or {bits} bits{more}", ty.name()),
        _ => format!("an integer or bits, {bits} of them{more}"),
    }
}

/// Whether values of an instruction's type may be in a register of the other type, sizes apart. A register of two
/// halves counts as 32 bits without a meaning, as `ptxas` has it.
const fn goes_with(instruction: Type, register: Type) -> bool {
    let untyped = matches!(register.kind(), Kind::Bits);
    let halves = matches!(register, Type::F16x2);
    match instruction.kind() {
        Kind::Predicate => matches!(register.kind(), Kind::Predicate),
        Kind::Bits => !matches!(register.kind(), Kind::Predicate | Kind::Opaque),
        Kind::Unsigned | Kind::Signed if is_packed(instruction) => untyped || halves,
        Kind::Unsigned | Kind::Signed => {
            untyped || halves || matches!(register.kind(), Kind::Unsigned | Kind::Signed)
        }
        Kind::Float => untyped || same(instruction, register),
        Kind::Opaque => true,
    }
}

/// Floating point that came to `cvt` later than its rule of wider registers.
const fn is_newer(ty: Type) -> bool {
    let older = matches!(ty, Type::F16 | Type::F16x2 | Type::F32 | Type::F64);
    ty.is_float() && !older
}

const fn is_packed(ty: Type) -> bool {
    matches!(ty, Type::U16x2 | Type::S16x2 | Type::U8x4 | Type::S8x4)
}

/// Whether both are one type (`==` is no `const fn`).
const fn same(a: Type, b: Type) -> bool {
    a as u8 == b as u8
}

/// Bits of a register of the hardware; None: 32 or 64, as the instruction has it.
const fn bits_of(special: SpecialRegister) -> Option<u32> {
    use SpecialRegister as S;
    match special {
        S::IsExplicitCluster => Some(1),
        S::Gridid => None,
        S::Clock64 | S::Globaltimer | S::Pm64(_) | S::CurrentGraphExec => Some(64),
        _ => Some(32),
    }
}
