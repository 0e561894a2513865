//! The fields of an instruction in a text.

use super::opcode::Opcode;
use super::{Fail, Parser, Result};
use crate::instruction::{Read, Source, Wanted};
use crate::names::Modifier;
use crate::{Address, Operand, Predicate, Reg};

/// An instruction whose opcode has been taken apart, and whose operands come next.
struct Fields<'p, 'a> {
    parser: &'p mut Parser<'a>,
    op: &'p mut Opcode<'a>,
}

impl<'a> Parser<'a> {
    /// Reads what its type tells how to read: the fields of a payload, or an only operand.
    pub(super) fn fields<T: Read>(&mut self, op: &mut Opcode<'a>) -> Result<T> {
        T::read(&mut Fields { parser: self, op }, Wanted::Any)
    }
}

impl Fields<'_, '_> {
    /// Takes the comma before an operand, unless it is the first.
    fn separate(&mut self) -> Result<()> {
        match self.op.next_operand() {
            0 => Ok(()),
            _ => self.parser.comma(),
        }
    }
}

impl Source for Fields<'_, '_> {
    type Error = Box<Fail>;

    fn modifier<T: Modifier>(&mut self) -> Result<T> {
        self.op.want_modifier()
    }

    fn optional_modifier<T: Modifier>(&mut self) -> Option<T> {
        self.op.take(T::of_name)
    }

    fn flag(&mut self, name: &str) -> bool {
        self.op.flag(name)
    }

    fn reg(&mut self) -> Result<Reg> {
        self.separate()?;
        self.parser.reg()
    }

    fn operand(&mut self, wanted: Wanted) -> Result<Operand> {
        self.separate()?;
        self.parser.operand(wanted.immediate())
    }

    fn optional_operand(&mut self, wanted: Wanted) -> Result<Option<Operand>> {
        self.parser.optional(wanted.immediate())
    }

    fn predicate(&mut self) -> Result<Predicate> {
        self.separate()?;
        self.parser.predicate()
    }

    fn address(&mut self) -> Result<Address> {
        self.separate()?;
        self.parser.address()
    }

    fn number(&mut self) -> Result<u32> {
        self.separate()?;
        self.parser.number32()
    }
}
