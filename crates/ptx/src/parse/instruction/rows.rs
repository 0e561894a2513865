//! The reader of each row of the table.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::instruction::row_readers;
use crate::{Operation, Row, Type};

impl<'a> Parser<'a> {
    /// Reads the operation of this opcode: the next token is its first operand.
    pub(crate) fn operation(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        match self.row(op) {
            Some(row) => self.operation_of(row, op),
            None => Err(op.unknown(Row::ALL)),
        }
    }
}

/// Reads a payload by its reader, or field by field.
macro_rules! read_payload {
    ($parser:ident, $op:ident, $reader:path) => {
        $reader($parser, $op).map(Into::into)
    };
    ($parser:ident, $op:ident) => {
        $parser.fields($op)
    };
}

row_readers!();

/// Whether it computes with integers or bits: its first type is no float.
fn is_integer(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    !op.peek_type().is_some_and(Type::is_float)
}

/// Whether it moves the elements of vectors.
fn has_vector(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    op.has("v2") || op.has("v4") || op.has("v8")
}

/// Whether it makes four floats of few bits.
fn has_four(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    use Type::{E2m1x4, E2m3x4, E3m2x4, E4m3x4, E5m2x4};
    let first = op.peek_type();
    first.is_some_and(|ty| matches!(ty, E4m3x4 | E5m2x4 | E3m2x4 | E2m3x4 | E2m1x4))
}

/// Whether it waits for loads or stores of tensor memory.
fn is_tcgen05_wait(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    op.has("wait::ld") || op.has("wait::st")
}

/// Whether it is a fence of tensor memory.
fn is_tcgen05_fence(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    op.has("fence::before_thread_sync") || op.has("fence::after_thread_sync")
}

/// Whether it only loads.
fn is_not_reduced(_: &mut Parser<'_>, op: &Opcode<'_>) -> bool {
    !op.has("red")
}
