//! Where the parts of a module lie in its text.

use crate::{Access, FunctionId, Instruction, Operand, ParseError, Span, Symbol};

/// Where the parts of a [`Module`](crate::Module) lie in the text that was parsed, for who changes them there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    /// Behind `.address_size 64`, where declarations may be put.
    pub head_end: u32,
    /// Declarations of variables outside functions, in order.
    pub declarations: Vec<Declaration>,
    /// Declarations and definitions of functions, in order. One that is declared and then defined is here twice.
    pub functions: Vec<FunctionSpans>,
    /// Statements of bodies that are not known, in order. [`parse_with_spans`](crate::parse_with_spans) tells what
    /// becomes of them.
    pub unknown: Vec<Unknown>,
}

/// A declaration of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// From its first word to its semicolon.
    pub span: Span,
    /// Its state space, with the dot.
    pub space: Span,
    /// The variables that it declares: [`Symbol::Module`] or [`Symbol::Body`].
    pub variables: Vec<Symbol>,
}

/// A declaration or a definition of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSpans {
    /// Which one.
    pub function: FunctionId,
    /// From its first word to its closing brace or its semicolon.
    pub span: Span,
    /// Behind its parameters, where directives may be put.
    pub directives: u32,
    /// Its braces and all between them, where it is defined.
    pub body: Option<Span>,
    /// Declarations of variables in the body, in order.
    pub declarations: Vec<Declaration>,
    /// Operands of all instructions, in order.
    pub mentions: Vec<Mention>,
}

impl FunctionSpans {
    /// The operands of an instruction of the body in the text's order, without its guard, labels and whole vectors of
    /// registers.
    #[must_use]
    pub fn mentions(&self, instruction: &Instruction) -> &[Mention] {
        let starts_before = |offset: u32| move |it: &Mention| it.span.start < offset;
        let begin = self
            .mentions
            .partition_point(starts_before(instruction.span.start));
        let end = self
            .mentions
            .partition_point(starts_before(instruction.span.end));
        &self.mentions[begin..end]
    }
}

/// An operand of an instruction: one of several where they stand in braces, and in brackets what the address begins at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its bytes in the text.
    pub span: Span,
    /// Whether it is written or read. Accumulators that are both are here as written.
    pub access: Access,
    /// The operand itself.
    pub operand: Operand,
}

/// A statement that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The function that it is in.
    pub function: FunctionId,
    /// Where and why.
    pub error: ParseError,
}
