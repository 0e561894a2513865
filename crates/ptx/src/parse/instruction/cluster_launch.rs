//! Blocks that take over the work of others: `clusterlaunchcontrol`.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{FirstCanceled, IsCanceled, Space, TryCancel, Type};

impl<'a> Parser<'a> {
    pub(crate) fn try_cancel(&mut self, op: &mut Opcode<'a>) -> Result<TryCancel> {
        op.need("async")?;
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        op.need("mbarrier::complete_tx::bytes")?;
        let multicast = op.flag("multicast::cluster::all");
        op.need("b128")?;
        Ok(TryCancel {
            space,
            multicast,
            response: self.address()?,
            mbarrier: self.then_address()?,
        })
    }

    pub(crate) fn is_canceled(&mut self, op: &mut Opcode<'a>) -> Result<IsCanceled> {
        op.need("pred")?;
        op.need("b128")?;
        let p = self.reg()?;
        Ok(IsCanceled {
            p,
            response: self.then(Type::B128)?,
        })
    }

    pub(crate) fn first_canceled(&mut self, op: &mut Opcode<'a>) -> Result<FirstCanceled> {
        let what = "`.get_first_ctaid::x`, `::y`, `::z`, or `.get_first_ctaid.v4`";
        let count = op.want(what, |part| match part {
            "get_first_ctaid" => Some(4),
            "get_first_ctaid::x" | "get_first_ctaid::y" | "get_first_ctaid::z" => Some(1),
            _ => None,
        })?;
        if count == 4 {
            op.need("v4")?;
        }
        op.need("b32")?;
        op.need("b128")?;
        let d = self.registers_of()?;
        if d.len() != count {
            return Err(op.error(&format!(
                "it writes {count} registers, and there are {}",
                d.len()
            )));
        }
        Ok(FirstCanceled {
            d,
            response: self.then(Type::B128)?,
        })
    }
}
