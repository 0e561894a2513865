//! Barriers in shared memory.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{MbarrierArrive, MbarrierTransaction, MbarrierWait, Order, Phase, Scope, Space, Type};

impl<'a> Parser<'a> {
    pub(crate) fn mbarrier_transaction(
        &mut self,
        op: &mut Opcode<'a>,
    ) -> Result<MbarrierTransaction> {
        let complete = op.names("complete_tx");
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        op.flag("relaxed");
        let scope = op.take(Scope::from_name).unwrap_or(Scope::Block);
        let (address, count) = (self.address()?, self.then(Type::U32)?);
        Ok(MbarrierTransaction {
            complete,
            scope,
            space,
            address,
            count,
        })
    }

    pub(crate) fn mbarrier_arrive(&mut self, op: &mut Opcode<'a>) -> Result<MbarrierArrive> {
        let drop = op.names("arrive_drop");
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let (expects, no_complete) = (op.flag("expect_tx"), op.flag("noComplete"));
        let order = op.take(Order::from_name).unwrap_or(Order::Release);
        let scope = op.take(Scope::from_name).unwrap_or(Scope::Block);
        let state = if self.token == Token::Sign(b'[') {
            None
        } else {
            let state = self.sink()?;
            self.comma()?;
            state
        };
        let address = self.address()?;
        let number = self.optional(Type::U32)?;
        let (expect_tx, count) = if expects {
            (number, None)
        } else {
            (None, number)
        };
        Ok(MbarrierArrive {
            drop,
            expect_tx,
            no_complete,
            order,
            scope,
            space,
            state,
            address,
            count,
        })
    }

    pub(crate) fn mbarrier_wait(&mut self, op: &mut Opcode<'a>) -> Result<MbarrierWait> {
        let suspend = op.names("try_wait");
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let parity = op.flag("parity");
        let order = op.take(Order::from_name).unwrap_or(Order::Acquire);
        let scope = op.take(Scope::from_name).unwrap_or(Scope::Block);
        let (p, address) = (self.reg()?, self.then_address()?);
        let phase = if parity {
            Phase::Parity(self.then(Type::U32)?)
        } else {
            Phase::State(self.then(Type::B64)?)
        };
        let time = self.optional(Type::U32)?;
        Ok(MbarrierWait {
            suspend,
            order,
            scope,
            space,
            p,
            address,
            phase,
            time,
        })
    }
}
