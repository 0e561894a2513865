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

/// Something with registers in it.
pub(crate) trait Visit {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg));
}

/// A register by itself is written; what is read is an [`Operand`].
impl Visit for Reg {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        visitor(Access::Define, *self);
    }
}

impl Visit for Operand {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        if let Self::Register(register) = self {
            visitor(Access::Use, *register);
        }
    }
}

impl Visit for Predicate {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        self.value.visit(visitor);
    }
}

impl Visit for Address {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        if let Base::Register(register) = self.base {
            visitor(Access::Use, register);
        }
    }
}

impl<T: Visit> Visit for Option<T> {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        if let Some(value) = self {
            value.visit(visitor);
        }
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit(&self, visitor: &mut dyn FnMut(Access, Reg)) {
        for value in self {
            value.visit(visitor);
        }
    }
}

macro_rules! without_registers {
    ($($name:ty),*) => {
        $(impl Visit for $name {
            fn visit(&self, _: &mut dyn FnMut(Access, Reg)) {}
        })*
    };
}

without_registers!(bool, u8, u32, u64, i64, String, LabelId, FunctionId, Symbol);

/// Payloads of operations.
macro_rules! operations {
    ($($(#[$outer:meta])* pub struct $name:ident { $($(#[$inner:meta])* pub $field:ident: $ty:ty),* $(,)? })*) => {
        $(
            $(#[$outer])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name { $($(#[$inner])* pub $field: $ty),* }

            impl crate::instruction::Visit for $name {
                fn visit(&self, visitor: &mut dyn FnMut(crate::Access, crate::Reg)) {
                    $(crate::instruction::Visit::visit(&self.$field, visitor);)*
                }
            }
        )*
    };
}

pub(crate) use operations;
