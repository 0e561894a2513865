//! Which registers an instruction writes and reads, told by the types of its fields, and which operands it takes
//! there, told by what stands behind them.

use super::Wanted;
use crate::names::Modifier;
use crate::{Address, Base, FunctionId, LabelId, Operand, Predicate, Reg, SpecialRegister, Symbol};

/// How an instruction accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It writes it.
    Define,
    /// It reads it.
    Use,
}

/// An operand that an instruction names, with what it takes in that place.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    Register(Access, Reg, Wanted),
    Symbol(Symbol, Wanted),
    Special(SpecialRegister, Wanted),
}

/// Something that names registers and symbols.
pub(crate) trait Visit {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named));
}

/// A register by itself is written; what is read is an [`Operand`].
impl Visit for Reg {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
        visitor(Named::Register(Access::Define, *self, wanted));
    }
}

impl Visit for Operand {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
        match *self {
            Self::Register(register) => visitor(Named::Register(Access::Use, register, wanted)),
            Self::Symbol { symbol, .. } => visitor(Named::Symbol(symbol, wanted)),
            Self::Special(special) => visitor(Named::Special(special, wanted)),
            Self::Immediate(_) => {}
        }
    }
}

impl Visit for Predicate {
    fn visit(&self, _: Wanted, visitor: &mut dyn FnMut(Named)) {
        self.value.visit(Wanted::PREDICATE, visitor);
    }
}

impl Visit for Address {
    fn visit(&self, _: Wanted, visitor: &mut dyn FnMut(Named)) {
        match self.base {
            Base::Register(register) => {
                visitor(Named::Register(Access::Use, register, Wanted::Address));
            }
            Base::Symbol(symbol) => visitor(Named::Symbol(symbol, Wanted::Address)),
            Base::Absolute => {}
        }
    }
}

impl<T: Modifier> Visit for T {
    fn visit(&self, _: Wanted, _: &mut dyn FnMut(Named)) {}
}

impl<T: Visit> Visit for Option<T> {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
        if let Some(value) = self {
            value.visit(wanted, visitor);
        }
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
        for value in self {
            value.visit(wanted, visitor);
        }
    }
}

macro_rules! without_registers {
    ($($name:ty),*) => {
        $(impl Visit for $name {
            fn visit(&self, _: Wanted, _: &mut dyn FnMut(Named)) {}
        })*
    };
}

without_registers!(bool, u8, u32, u64, i64, String, LabelId, FunctionId);

impl Visit for Symbol {
    fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
        visitor(Named::Symbol(*self, wanted));
    }
}

/// Payloads of operations. `as` behind a field tells which operands stand there, in terms of the fields before it; `=` a
/// modifier's name, or its value where it is left out. A payload that is `read` is read field by field.
macro_rules! operations {
    ($($(#[$outer:meta])* pub struct $name:ident $($read:ident)? {
        $($(#[$inner:meta])* pub $field:ident: $ty:ty $(= $flag:literal)? $(= $otherwise:path)? $(as $wanted:expr)?),* $(,)?
    })*) => {
        $(
            $(#[$outer])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name { $($(#[$inner])* pub $field: $ty),* }

            impl crate::instruction::Visit for $name {
                #[allow(unused_variables, reason = "few fields decide what others take")]
                fn visit(&self, _: crate::instruction::Wanted, visitor: &mut dyn FnMut(crate::instruction::Named)) {
                    let Self { $($field),* } = self;
                    $(crate::instruction::Visit::visit($field, crate::instruction::wanted!($($wanted)?), visitor);)*
                }
            }

            crate::instruction::read_fields! { [$($read)?] $name { $($field: $ty [$($wanted)?] [$($flag)? $($otherwise)?],)* } }
        )*
    };
}

/// Expands to what was given, or to anything.
macro_rules! wanted {
    () => {
        crate::instruction::Wanted::Any
    };
    ($wanted:expr) => {
        $wanted
    };
}

pub(crate) use {operations, wanted};
