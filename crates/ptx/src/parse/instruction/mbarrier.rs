//! Barriers in shared memory.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    MbarrierArrive, MbarrierInit, MbarrierInval, MbarrierPendingCount, MbarrierTransaction,
    MbarrierWait, Operation, Order, Phase, Scope, Space, Type,
};

impl<'a> Parser<'a> {
    pub(super) fn mbarrier(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("b64")?;
        let action = op.want("an action such as `.arrive`", |part| {
            let known = [
                "init",
                "inval",
                "arrive",
                "arrive_drop",
                "test_wait",
                "try_wait",
                "complete_tx",
                "pending_count",
            ];
            known.contains(&part).then_some(part)
        });
        // `.arrive.expect_tx` was found as `.arrive`.
        let action = if action.is_err() && op.flag("expect_tx") {
            "expect_tx"
        } else {
            action?
        };
        if action == "pending_count" {
            let (d, state) = (self.reg()?, self.then(Type::B64)?);
            return Ok(Operation::MbarrierPendingCount(MbarrierPendingCount {
                d,
                state,
            }));
        }
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        match action {
            "init" => Ok(Operation::MbarrierInit(MbarrierInit {
                space,
                address: self.address()?,
                count: self.then(Type::U32)?,
            })),
            "inval" => Ok(Operation::MbarrierInval(MbarrierInval {
                space,
                address: self.address()?,
            })),
            "expect_tx" | "complete_tx" => {
                self.mbarrier_transaction(op, space, action == "complete_tx")
            }
            "test_wait" | "try_wait" => self.mbarrier_wait(op, space, action == "try_wait"),
            _ => self.mbarrier_arrive(op, space, action == "arrive_drop"),
        }
    }

    fn mbarrier_transaction(
        &mut self,
        op: &mut Opcode<'a>,
        space: Space,
        complete: bool,
    ) -> Result<Operation> {
        op.flag("relaxed");
        let scope = op.take(Scope::from_name).unwrap_or(Scope::Block);
        let (address, count) = (self.address()?, self.then(Type::U32)?);
        Ok(Operation::MbarrierTransaction(MbarrierTransaction {
            complete,
            scope,
            space,
            address,
            count,
        }))
    }

    fn mbarrier_arrive(
        &mut self,
        op: &mut Opcode<'a>,
        space: Space,
        drop: bool,
    ) -> Result<Operation> {
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
        let arrive = MbarrierArrive {
            drop,
            expect_tx,
            no_complete,
            order,
            scope,
            space,
            state,
            address,
            count,
        };
        Ok(Operation::MbarrierArrive(Box::new(arrive)))
    }

    fn mbarrier_wait(
        &mut self,
        op: &mut Opcode<'a>,
        space: Space,
        suspend: bool,
    ) -> Result<Operation> {
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
        Ok(Operation::MbarrierWait(Box::new(MbarrierWait {
            suspend,
            order,
            scope,
            space,
            p,
            address,
            phase,
            time,
        })))
    }
}
