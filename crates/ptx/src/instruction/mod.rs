//! Instructions.
//!
//! Field names are the manual's: `d` is written, `a`, `b` and `c` are read, `p` is a predicate that
//! is written.

mod asynchronous;
mod cluster_launch;
mod compare;
mod control;
mod facts;
mod float;
mod integer;
mod isa;
mod matrix;
mod memory;
mod movement;
mod read;
mod synchronisation;
mod table;
mod tcgen05;
mod types;
mod video;
mod visit;
mod wanted;

pub use asynchronous::*;
pub use cluster_launch::*;
pub use compare::*;
pub use control::*;
pub use facts::{Class, Facts, Flow, Meeting};
pub use float::*;
pub use integer::*;
pub use matrix::*;
pub use memory::*;
pub use movement::*;
pub use synchronisation::*;
pub use table::*;
pub use tcgen05::*;
pub use video::*;
pub use visit::Access;

use std::ops::Range;

use crate::{Address, Operand, Reg, SpecialRegister, Symbol, Type};
use isa::{is_pure, isa, payload_type};
pub(crate) use read::{Read, ReadOr, Source, read_field, read_fields};
pub(crate) use table::row_readers;
pub(crate) use visit::{Named, Visit, operations, wanted};
pub(crate) use wanted::Wanted;

/// Bytes of the text.
pub type Span = Range<u32>;

/// An instruction of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Lanes in which it is executed; None: all.
    pub guard: Option<Guard>,
    /// The operation.
    pub operation: Operation,
    /// Where in the source it is from: an index into [`Body::locations`](crate::Body::locations).
    pub location: Option<u32>,
    /// Its line in the PTX text, from 1.
    pub line: u32,
    /// Its bytes in the PTX text, guard and semicolon included.
    pub span: Span,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// A predicate register.
    pub register: Reg,
    /// Whether lanes execute it in which the predicate is false.
    pub negated: bool,
}

impl Instruction {
    /// Calls `visitor` for each register that is written or read, a register as often as it is named.
    /// A write under a guard, or by an instruction that faults, leaves the register of other lanes as it was.
    pub fn visit(&self, mut visitor: impl FnMut(Access, Reg)) {
        if let Some(guard) = self.guard {
            visitor(Access::Use, guard.register);
        }
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Register(access, register, _) = named {
                visitor(access, register);
            }
        });
    }

    /// Calls `visitor` for each variable, parameter and function that is named, a function that is
    /// called directly too.
    pub fn visit_symbols(&self, mut visitor: impl FnMut(Symbol)) {
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Symbol(symbol, _) = named {
                visitor(symbol);
            }
        });
    }

    /// The registers that it writes.
    #[must_use]
    pub fn definitions(&self) -> Vec<Reg> {
        self.accessed(Access::Define)
    }

    /// The registers that it reads: operands, bases of addresses, arguments and the guard.
    #[must_use]
    pub fn uses(&self) -> Vec<Reg> {
        self.accessed(Access::Use)
    }

    /// Calls `visitor` for each register of the hardware that is read.
    pub fn visit_specials(&self, mut visitor: impl FnMut(SpecialRegister)) {
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Special(special, _) = named {
                visitor(special);
            }
        });
    }

    /// Whether the address of a variable or a function is one of its values, not the base of an access.
    #[must_use]
    pub fn reads_symbol(&self) -> bool {
        let mut found = false;
        self.operation.visit(Wanted::Any, &mut |named| {
            found |= matches!(named, Named::Symbol(_, wanted) if wanted != Wanted::Address);
        });
        found
    }

    /// Whether it goes to a label: `bra` and `brx.idx`.
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.operation.facts().flow == Flow::Branches
    }

    /// Whether it ends a basic block: a branch, `ret`, `exit` or `trap`.
    #[must_use]
    pub fn is_terminator(&self) -> bool {
        let flow = self.operation.facts().flow;
        matches!(flow, Flow::Branches | Flow::Returns | Flow::Ends)
    }

    /// Whether the instruction behind it can be the next: false for an unguarded terminator.
    #[must_use]
    pub fn falls_through(&self) -> bool {
        !self.is_terminator() || self.guard.is_some()
    }

    /// Its text in `source`, the text that was parsed.
    #[must_use]
    pub fn text<'source>(&self, source: &'source str) -> &'source str {
        source
            .get(self.span.start as usize..self.span.end as usize)
            .unwrap_or_default()
    }

    /// Its opcode with all modifiers in `source`, the text that was parsed: `ld.global.v2.b32`.
    #[must_use]
    pub fn opcode<'source>(&self, source: &'source str) -> &'source str {
        let text = self.text(source);
        let guarded = text
            .strip_prefix('@')
            .and_then(|rest| rest.split_once(char::is_whitespace));
        let text = guarded.map_or(text, |(_, rest)| rest.trim_start());
        let end = text.find(|c: char| c.is_whitespace() || c == ';');
        &text[..end.unwrap_or(text.len())]
    }

    fn accessed(&self, wanted: Access) -> Vec<Reg> {
        let mut registers = Vec::new();
        self.visit(|access, register| {
            if access == wanted {
                registers.push(register);
            }
        });
        registers
    }
}
