//! Values of lanes, and their types.

use std::fmt;

use engine::arith::half::{Bf16, F16, Half};
use ptx::Type as Declared;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Pred,
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    U128,
    F16,
    Bf16,
    F32,
    F64,
}

/// Types by their names in expressions: those of PTX, of Rust and, of bits without a meaning, as numbers.
const NAMES: [(&str, Type); 23] = [
    ("pred", Type::Pred),
    ("u8", Type::U8),
    ("s8", Type::S8),
    ("u16", Type::U16),
    ("s16", Type::S16),
    ("u32", Type::U32),
    ("s32", Type::S32),
    ("u64", Type::U64),
    ("s64", Type::S64),
    ("u128", Type::U128),
    ("f16", Type::F16),
    ("bf16", Type::Bf16),
    ("f32", Type::F32),
    ("f64", Type::F64),
    ("i8", Type::S8),
    ("i16", Type::S16),
    ("i32", Type::S32),
    ("i64", Type::S64),
    ("b8", Type::U8),
    ("b16", Type::U16),
    ("b32", Type::U32),
    ("b64", Type::U64),
    ("b128", Type::U128),
];

impl Type {
    pub(crate) fn of_name(name: &str) -> Option<Type> {
        let mut all = NAMES.iter();
        all.find(|it| it.0 == name).map(|it| it.1)
    }

    /// That of a declaration; of a type that it has no name for the bits.
    pub(crate) fn of(declared: Declared) -> Type {
        Type::of_name(declared.name()).unwrap_or(match declared.bits() {
            1 => Type::Pred,
            2..=8 => Type::U8,
            16 => Type::U16,
            64 => Type::U64,
            128 => Type::U128,
            _ => Type::U32,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        let mut all = NAMES.iter();
        all.find(|it| it.1 == self).map_or("", |it| it.0)
    }

    pub(crate) fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::U8 | Type::S8 => 1,
            Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::U32 | Type::S32 | Type::F32 => 4,
            Type::U64 | Type::S64 | Type::F64 => 8,
            Type::U128 => 16,
        }
    }

    /// The value of bits, of which the lowest count.
    pub(crate) fn value(self, bits: u128) -> Value {
        let number = match self {
            Type::Pred => Number::Integer((bits & 1) as i128),
            Type::U8 => Number::Integer((bits as u8).into()),
            Type::S8 => Number::Integer((bits as i8).into()),
            Type::U16 => Number::Integer((bits as u16).into()),
            Type::S16 => Number::Integer((bits as i16).into()),
            Type::U32 => Number::Integer((bits as u32).into()),
            Type::S32 => Number::Integer((bits as i32).into()),
            Type::U64 => Number::Integer((bits as u64).into()),
            Type::S64 => Number::Integer((bits as i64).into()),
            Type::U128 => Number::Integer(bits as i128),
            Type::F16 => Number::Float(F16::to_f32(bits as u16).into()),
            Type::Bf16 => Number::Float(Bf16::to_f32(bits as u16).into()),
            Type::F32 => Number::Float(f32::from_bits(bits as u32).into()),
            Type::F64 => Number::Float(f64::from_bits(bits as u64)),
        };
        Value { number, ty: self }
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn is_true(self) -> bool {
        match self {
            Number::Integer(it) => it != 0,
            Number::Float(it) => it != 0.0,
        }
    }

    pub(crate) fn float(self) -> f64 {
        match self {
            Number::Integer(it) => it as f64,
            Number::Float(it) => it,
        }
    }
}

/// A number, and the type by which it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) number: Number,
    pub(crate) ty: Type,
}

impl Value {
    pub(crate) fn integer(it: i128) -> Value {
        Value {
            number: Number::Integer(it),
            ty: Type::S64,
        }
    }

    pub(crate) fn float(it: f64) -> Value {
        Value {
            number: Number::Float(it),
            ty: Type::F64,
        }
    }
}

/// With as few digits as tell it from other numbers of its type.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.number, self.ty) {
            (Number::Integer(it), Type::Pred) => write!(formatter, "{}", it != 0),
            (Number::Integer(it), _) => write!(formatter, "{it}"),
            (Number::Float(it), Type::F64) => write!(formatter, "{it:?}"),
            (Number::Float(it), _) => write!(formatter, "{:?}", it as f32),
        }
    }
}
