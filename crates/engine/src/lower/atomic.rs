//! An atomic or a reduction, before it is lowered.

use ptx::{Address, AtomicOperator, Operand, Order, Reg, Scope, Space, Type};

/// An atomic or a reduction.
pub(crate) struct Change<'i> {
    pub(crate) space: Space,
    pub(crate) order: Option<Order>,
    pub(crate) scope: Scope,
    pub(crate) operator: AtomicOperator,
    pub(crate) ty: Type,
    pub(crate) address: &'i Address,
    pub(crate) comparand: Option<&'i Operand>,
    pub(crate) operands: &'i [Operand],
    pub(crate) destinations: &'i [Option<Reg>],
}
