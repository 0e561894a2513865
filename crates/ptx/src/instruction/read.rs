//! Fields of instructions, read by their types.

use super::Wanted;
use crate::names::Modifier;
use crate::{Address, Operand, Predicate, Reg};

/// An instruction that is being read: its modifiers in any order, and its operands one after another.
pub(crate) trait Source {
    /// Why something cannot be read.
    type Error;

    /// Takes a modifier, which must be there.
    fn modifier<T: Modifier>(&mut self) -> Result<T, Self::Error>;
    /// Takes a modifier if it is there.
    fn optional_modifier<T: Modifier>(&mut self) -> Option<T>;
    /// Takes the modifier of this name if it is there.
    fn flag(&mut self, name: &str) -> bool;
    /// Takes a register.
    fn reg(&mut self) -> Result<Reg, Self::Error>;
    /// Takes an operand of what is wanted there.
    fn operand(&mut self, wanted: Wanted) -> Result<Operand, Self::Error>;
    /// Takes a last operand if it is there.
    fn optional_operand(&mut self, wanted: Wanted) -> Result<Option<Operand>, Self::Error>;
    /// Takes a predicate, which may be negated.
    fn predicate(&mut self) -> Result<Predicate, Self::Error>;
    /// Takes an address in brackets.
    fn address(&mut self) -> Result<Address, Self::Error>;
    /// Takes an integer that the instruction holds itself.
    fn number(&mut self) -> Result<u32, Self::Error>;
}

/// A modifier or an operand that its type tells how to read.
pub(crate) trait Read: Sized {
    /// Reads it: a modifier, or an operand, which is `wanted`.
    ///
    /// # Errors
    /// It is not there.
    fn read<S: Source>(source: &mut S, wanted: Wanted) -> Result<Self, S::Error>;
}

/// A modifier that may be left out.
pub(crate) trait ReadOr<T>: Sized {
    /// Reads it; `given` is its name, or its value where it is left out.
    fn read_or<S: Source>(source: &mut S, given: T) -> Self;
}

/// Whether a modifier of this name is there.
impl ReadOr<&str> for bool {
    fn read_or<S: Source>(source: &mut S, name: &str) -> Self {
        source.flag(name)
    }
}

impl<T: Modifier> ReadOr<T> for T {
    fn read_or<S: Source>(source: &mut S, otherwise: T) -> Self {
        source.optional_modifier().unwrap_or(otherwise)
    }
}

impl<T: Modifier> ReadOr<&T> for T {
    fn read_or<S: Source>(source: &mut S, otherwise: &T) -> Self {
        source.optional_modifier().unwrap_or(*otherwise)
    }
}

impl<T: Modifier> Read for T {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        source.modifier()
    }
}

impl<T: Modifier> Read for Option<T> {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        Ok(source.optional_modifier())
    }
}

impl Read for Reg {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        source.reg()
    }
}

impl Read for Operand {
    fn read<S: Source>(source: &mut S, wanted: Wanted) -> Result<Self, S::Error> {
        source.operand(wanted)
    }
}

impl Read for Option<Operand> {
    fn read<S: Source>(source: &mut S, wanted: Wanted) -> Result<Self, S::Error> {
        source.optional_operand(wanted)
    }
}

impl Read for Predicate {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        source.predicate()
    }
}

impl Read for Address {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        source.address()
    }
}

impl Read for u32 {
    fn read<S: Source>(source: &mut S, _: Wanted) -> Result<Self, S::Error> {
        source.number()
    }
}

/// Reads a payload field by field, where it says so.
macro_rules! read_fields {
    ([] $($payload:tt)*) => {};
    ([read] $name:ident { $($field:ident: $ty:ty [$($wanted:expr)?] [$($given:expr)?],)* }) => {
        impl crate::instruction::Read for $name {
            #[allow(unused_variables, reason = "few fields decide what others take")]
            fn read<S: crate::instruction::Source>(
                source: &mut S,
                _: crate::instruction::Wanted,
            ) -> Result<Self, S::Error> {
                $(let $field: &$ty =
                    &crate::instruction::read_field!(source, $ty, [$($wanted)?] [$($given)?]);)*
                Ok(Self { $($field: *$field),* })
            }
        }

        impl crate::instruction::Read for Box<$name> {
            fn read<S: crate::instruction::Source>(
                source: &mut S,
                wanted: crate::instruction::Wanted,
            ) -> Result<Self, S::Error> {
                $name::read(source, wanted).map(Self::new)
            }
        }
    };
}

/// Reads a field.
macro_rules! read_field {
    ($source:ident, $ty:ty, [] [$given:expr]) => {
        <$ty as crate::instruction::ReadOr<_>>::read_or($source, $given)
    };
    ($source:ident, $ty:ty, [$($wanted:expr)?] []) => {
        <$ty as crate::instruction::Read>::read($source, crate::instruction::wanted!($($wanted)?))?
    };
}

pub(crate) use {read_field, read_fields};
