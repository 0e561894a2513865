//! Atomics.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use super::memory::order;
use crate::{Atom, AtomicOperator, Order, Red, Scope, Space, Type};

/// The parts of an atomic's name.
struct Kind {
    space: Space,
    order: Option<Order>,
    scope: Scope,
    operator: AtomicOperator,
    noftz: bool,
    has_policy: bool,
    ty: Type,
}

fn kind(op: &mut Opcode<'_>) -> Result<Kind> {
    let order = order(op);
    let scope = op.take(Scope::from_name).unwrap_or(Scope::Device);
    let space = op.take(Space::from_name).unwrap_or(Space::Generic);
    let operator = op.want("an operation such as `.add`", AtomicOperator::from_name)?;
    let (noftz, has_policy) = (op.flag("noftz"), op.flag("L2::cache_hint"));
    // The operands tell how many.
    op.take(|part| matches!(part, "v2" | "v4" | "v8").then_some(()));
    Ok(Kind {
        space,
        order,
        scope,
        operator,
        noftz,
        has_policy,
        ty: op.ty()?,
    })
}

impl<'a> Parser<'a> {
    pub(crate) fn atom(&mut self, op: &mut Opcode<'a>) -> Result<Atom> {
        let Kind {
            space,
            order,
            scope,
            operator,
            noftz,
            has_policy,
            ty,
        } = kind(op)?;
        let d = self.destinations()?;
        let address = self.then_address()?;
        self.comma()?;
        let swaps = operator == AtomicOperator::CompareAndSwap;
        let first = self.sources(ty)?;
        let (comparand, a) = if swaps {
            (first.first().copied(), vec![self.then(ty)?])
        } else {
            (None, first)
        };
        self.same_length(d.len(), a.len())?;
        let policy = self.given(has_policy, Type::B64)?;
        Ok(Atom {
            space,
            order,
            scope,
            operator,
            ty,
            noftz,
            policy,
            d,
            address,
            comparand,
            a,
        })
    }

    pub(crate) fn red(&mut self, op: &mut Opcode<'a>) -> Result<Red> {
        let Kind {
            space,
            order,
            scope,
            operator,
            noftz,
            has_policy,
            ty,
        } = kind(op)?;
        let address = self.address()?;
        self.comma()?;
        let a = self.sources(ty)?;
        let policy = self.given(has_policy, Type::B64)?;
        Ok(Red {
            space,
            order,
            scope,
            operator,
            ty,
            noftz,
            policy,
            address,
            a,
        })
    }
}
