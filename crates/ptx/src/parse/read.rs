//! Fields of instructions, read by their types.

use super::opcode::Opcode;
use super::{Parser, Result};
use crate::instruction::Wanted;
use crate::{Address, Operand, Predicate, Reg};

/// A modifier or an operand that its type tells how to read.
pub(crate) trait Read: Sized {
    /// Reads it: a modifier from the opcode, an operand, which is `wanted`, from the text.
    ///
    /// # Errors
    /// It is not there.
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, wanted: Wanted) -> Result<Self>;
}

/// A modifier that may be left out.
pub(crate) trait ReadOr<T>: Sized {
    /// Reads it; `given` is its name, or its value where it is left out.
    fn read_or(op: &mut Opcode<'_>, given: T) -> Self;
}

/// Whether a modifier of this name is there.
impl ReadOr<&str> for bool {
    fn read_or(op: &mut Opcode<'_>, name: &str) -> Self {
        op.flag(name)
    }
}

impl<T: Read> Read for Box<T> {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, wanted: Wanted) -> Result<Self> {
        T::read(parser, op, wanted).map(Self::new)
    }
}

impl Read for Reg {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, _: Wanted) -> Result<Self> {
        parser.separate(op)?;
        parser.reg()
    }
}

impl Read for Operand {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, wanted: Wanted) -> Result<Self> {
        parser.separate(op)?;
        parser.operand(wanted.immediate())
    }
}

/// A last operand that may be left out.
impl Read for Option<Operand> {
    fn read<'a>(parser: &mut Parser<'a>, _: &mut Opcode<'a>, wanted: Wanted) -> Result<Self> {
        parser.optional(wanted.immediate())
    }
}

impl Read for Predicate {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, _: Wanted) -> Result<Self> {
        parser.separate(op)?;
        parser.predicate()
    }
}

impl Read for Address {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, _: Wanted) -> Result<Self> {
        parser.separate(op)?;
        parser.address()
    }
}

/// An integer that the instruction holds itself.
impl Read for u32 {
    fn read<'a>(parser: &mut Parser<'a>, op: &mut Opcode<'a>, _: Wanted) -> Result<Self> {
        parser.separate(op)?;
        parser.number32()
    }
}

impl<'a> Parser<'a> {
    /// Takes the comma before an operand, unless it is the first.
    fn separate(&mut self, op: &mut Opcode<'a>) -> Result<()> {
        match op.next_operand() {
            0 => Ok(()),
            _ => self.comma(),
        }
    }
}
