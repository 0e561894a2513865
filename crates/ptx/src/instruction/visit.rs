//! Which registers an instruction writes and reads, told by the types of its fields.

use crate::{Address, Base, FunctionId, LabelId, Operand, Predicate, Reg, Symbol};

/// How an instruction accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It writes it.
    Define,
    /// It reads it.
    Use,
}

/// What an instruction names.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    Register(Access, Reg),
    Symbol(Symbol),
}

/// Something that names registers and symbols.
pub(crate) trait Visit {
    fn visit(&self, visitor: &mut dyn FnMut(Named));
}

/// A register by itself is written; what is read is an [`Operand`].
impl Visit for Reg {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        visitor(Named::Register(Access::Define, *self));
    }
}

impl Visit for Operand {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        match *self {
            Self::Register(register) => visitor(Named::Register(Access::Use, register)),
            Self::Symbol { symbol, .. } => visitor(Named::Symbol(symbol)),
            Self::Immediate(_) | Self::Special(_) => {}
        }
    }
}

impl Visit for Predicate {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        self.value.visit(visitor);
    }
}

impl Visit for Address {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        match self.base {
            Base::Register(register) => visitor(Named::Register(Access::Use, register)),
            Base::Symbol(symbol) => visitor(Named::Symbol(symbol)),
            Base::Absolute => {}
        }
    }
}

impl<T: Visit> Visit for Option<T> {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        if let Some(value) = self {
            value.visit(visitor);
        }
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        for value in self {
            value.visit(visitor);
        }
    }
}

macro_rules! without_registers {
    ($($name:ty),*) => {
        $(impl Visit for $name {
            fn visit(&self, _: &mut dyn FnMut(Named)) {}
        })*
    };
}

without_registers!(bool, u8, u32, u64, i64, String, LabelId, FunctionId);

impl Visit for Symbol {
    fn visit(&self, visitor: &mut dyn FnMut(Named)) {
        visitor(Named::Symbol(*self));
    }
}

/// Payloads of operations.
macro_rules! operations {
    ($($(#[$outer:meta])* pub struct $name:ident { $($(#[$inner:meta])* pub $field:ident: $ty:ty),* $(,)? })*) => {
        $(
            $(#[$outer])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name { $($(#[$inner])* pub $field: $ty),* }

            impl crate::instruction::Visit for $name {
                fn visit(&self, visitor: &mut dyn FnMut(crate::instruction::Named)) {
                    $(crate::instruction::Visit::visit(&self.$field, visitor);)*
                }
            }
        )*
    };
}

pub(crate) use operations;
