//! Arithmetic on integers.

use ptx::{IntegerSum, Operation};

use super::handler::{handler, with_type};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::integer;
use crate::exec::op::{Handler, binary};

impl Lowering<'_> {
    /// Lowers arithmetic on integers; none for other instructions.
    pub(super) fn integer(&mut self, operation: &Operation) -> Option<Lowered<()>> {
        Some(match operation {
            Operation::IntegerAdd(it) => self.sum(it),
            _ => return None,
        })
    }

    fn sum(&mut self, it: &IntegerSum) -> Lowered<()> {
        if it.carry_in || it.carry_out {
            return Err("carries".to_owned());
        }
        let run = with_type!(it.ty, T of integers, match it.saturate {
            false => handler!(|c, op| binary(c, op, |a: T, b: T| integer::add(a, b))),
            true => handler!(|c, op| binary(c, op, |a: T, b: T| integer::add_sat(a, b))),
        });
        let run: Option<Handler> = run;
        let run = run.ok_or("this type")?;
        let sources = [self.read(&it.a, kind(it.ty))?, self.read(&it.b, kind(it.ty))?];
        self.emit(run, it.d, &sources);
        Ok(())
    }
}
