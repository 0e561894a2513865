//! Where the parts lie in the text, and what becomes of statements that are not known.

use super::lexer::{Lexer, Token};
use super::scope::Name;
use super::{Fail, Parser, Result};
use crate::{
    Access, Argument, Declaration, FunctionId, FunctionSpans, Instruction, Mention, Operand,
    Operation, Other, Reg, Span, Symbol, Unknown,
};

/// A place between two tokens.
struct Position<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    begin: usize,
    line: u32,
    end: usize,
    mentions: usize,
}

impl<'a> Parser<'a> {
    /// Notes an operand that began at `begin` and ended before the next token.
    pub(super) fn mention(&mut self, begin: usize, access: Access, operand: Operand) {
        let span = begin as u32..self.end as u32;
        if let Some(function) = self.function_spans() {
            function.mentions.push(Mention {
                span,
                access,
                operand,
            });
        }
    }

    /// Notes a declaration that is complete. Its space ended at `space_end`.
    pub(super) fn note_variables(&mut self, space_end: usize, variables: Vec<Symbol>) {
        let span = self.directive_begin as u32..self.end as u32;
        let in_body = self.local.depth() > 0;
        let Some(spans) = &mut self.spans else {
            return;
        };
        let space = self.source[..space_end].rfind('.').unwrap_or(space_end);
        let declarations = match spans.functions.last_mut() {
            Some(function) if in_body => &mut function.declarations,
            _ => &mut spans.declarations,
        };
        declarations.push(Declaration {
            span,
            space: space as u32..space_end as u32,
            variables,
        });
    }

    /// Notes a function of which all but the body has been read.
    pub(super) fn note_function(&mut self, function: FunctionId, directives: usize) {
        let span = self.directive_begin as u32..self.end as u32;
        if let Some(spans) = &mut self.spans {
            spans.functions.push(FunctionSpans {
                function,
                span,
                directives: directives as u32,
                body: None,
                declarations: Vec::new(),
                mentions: Vec::new(),
            });
        }
    }

    /// Notes the end of the body that began here.
    pub(super) fn note_body(&mut self, begin: usize) {
        let end = self.end as u32;
        if let Some(function) = self.function_spans() {
            function.span.end = end;
            function.body = Some(begin as u32..end);
        }
    }

    fn function_spans(&mut self) -> Option<&mut FunctionSpans> {
        self.spans.as_mut()?.functions.last_mut()
    }

    /// A statement, or one that is not known and is kept as text.
    pub(super) fn statement_or_text(&mut self, id: FunctionId) -> Result<()> {
        let position = Position {
            lexer: self.lexer,
            token: self.token,
            begin: self.begin,
            line: self.line,
            end: self.end,
            mentions: self.function_spans().map_or(0, |it| it.mentions.len()),
        };
        match self.statement(id) {
            Err(fail) if !matches!(position.token, Token::Sign(b'{' | b'}')) => {
                self.go_back(&position);
                self.unknown_statement(id, fail)
            }
            done => done,
        }
    }

    fn go_back(&mut self, to: &Position<'a>) {
        (self.lexer, self.token) = (to.lexer, to.token);
        (self.begin, self.line, self.end) = (to.begin, to.line, to.end);
        if let Some(function) = self.function_spans() {
            function.mentions.truncate(to.mentions);
        }
    }

    /// All up to the semicolon. What it names counts as read and written.
    fn unknown_statement(&mut self, id: FunctionId, fail: Box<Fail>) -> Result<()> {
        let (begin, line) = (self.begin, self.line);
        let mut operands = Vec::new();
        if self.eat(b'@')? {
            self.eat(b'!')?;
            self.unknown_operand(&mut operands)?;
        }
        let (Token::Word(name) | Token::Dotted(name)) = self.advance()? else {
            return Err(fail);
        };
        let mut braces = 0_usize;
        while braces > 0 || self.token != Token::Sign(b';') {
            match self.token {
                Token::End => return Err(fail),
                Token::Sign(b'{') => braces += 1,
                Token::Sign(b'}') if braces == 0 => return Err(fail),
                Token::Sign(b'}') => braces -= 1,
                _ => {}
            }
            self.unknown_operand(&mut operands)?;
        }
        self.advance()?;
        let span = begin as u32..self.end as u32;
        self.keep_unknown(id, &fail, name, operands, line, span);
        Ok(())
    }

    /// Takes a token, and notes what it names.
    fn unknown_operand(&mut self, operands: &mut Vec<Argument>) -> Result<()> {
        let (begin, token) = (self.begin, self.token);
        self.advance()?;
        let Token::Word(name) = token else {
            return Ok(());
        };
        let (first, count) = match self.lookup(name) {
            Some(Name::Register(register)) => (register, 1),
            Some(Name::Vector(first, parts)) => (first, u32::from(parts)),
            Some(Name::Symbol(symbol)) => return self.unknown_symbol(begin, symbol, operands),
            None if !name.starts_with('%') && !matches!(name, "_" | "WARP_SZ") => {
                let symbol = self.undeclared(name, begin)?;
                return self.unknown_symbol(begin, symbol, operands);
            }
            _ => return Ok(()),
        };
        let registers = (first.0..first.0 + count).map(|index| Operand::Register(Reg(index)));
        operands.extend(registers.map(Argument::Value));
        if count == 1 {
            self.mention(begin, Access::Use, Operand::Register(first));
        }
        Ok(())
    }

    fn unknown_symbol(
        &mut self,
        begin: usize,
        symbol: Symbol,
        operands: &mut Vec<Argument>,
    ) -> Result<()> {
        let operand = Operand::Symbol { symbol, offset: 0 };
        operands.push(Argument::Value(operand));
        self.mention(begin, Access::Use, operand);
        Ok(())
    }

    fn keep_unknown(
        &mut self,
        function: FunctionId,
        fail: &Fail,
        name: &str,
        operands: Vec<Argument>,
        line: u32,
        span: Span,
    ) {
        let error = fail.locate(self.source);
        if let Some(spans) = &mut self.spans {
            spans.unknown.push(Unknown { function, error });
        }
        let other = Other {
            name: name.to_owned(),
            modifiers: Vec::new(),
            operands,
        };
        self.local.body.instructions.push(Instruction {
            guard: None,
            operation: Operation::Other(Box::new(other)),
            location: self.local.lines.current,
            line,
            span,
        });
    }
}
