//! The statements of a function.

use super::lexer::Token;
use super::opcode::Opcode;
use super::scope::Name;
use super::{Fail, Parser, Result};
use crate::{
    BranchTargets, CallTargets, FunctionId, Guard, Instruction, Linkage, Prototype, Space,
};

impl<'a> Parser<'a> {
    /// `{ ... }`. The scope of the parameters is open.
    pub(super) fn body(&mut self, id: FunctionId) -> Result<()> {
        let begin = self.begin;
        self.expect(b'{')?;
        // A scope of its own: a register may be called like a parameter.
        self.local.open_scope();
        while self.local.depth() > 1 {
            if self.spans.is_some() {
                self.statement_or_text(id)?;
            } else {
                self.statement(id)?;
            }
        }
        self.note_body(begin);
        self.local.close_scope()?;
        let (body, lines) = std::mem::take(&mut self.local).finish();
        self.names.want(id.0 as usize, lines);
        self.module.functions[id.0 as usize].body = Some(body);
        Ok(())
    }

    pub(super) fn statement(&mut self, id: FunctionId) -> Result<()> {
        self.directive_begin = self.begin;
        match self.token {
            Token::Word(word) => {
                if self.labelled()? {
                    self.labelled_statement(word)
                } else {
                    self.instruction(self.begin, None)
                }
            }
            Token::Sign(b'@') => self.guarded(),
            Token::Dotted(name) => self.advance().and_then(|_| self.body_directive(name, id)),
            Token::Sign(b'{') => {
                self.local.open_scope();
                self.advance().map(drop)
            }
            Token::Sign(b'}') => {
                self.local.close_scope()?;
                self.advance().map(drop)
            }
            Token::Sign(b';') => self.advance().map(drop),
            _ => Err(self.expected("an instruction, a label or a directive")),
        }
    }

    /// Whether a colon follows the word.
    fn labelled(&self) -> Result<bool> {
        let mut ahead = self.lexer;
        ahead.skip_space()?;
        Ok(self.source[ahead.offset..].starts_with(':'))
    }

    fn body_directive(&mut self, name: &'a str, id: FunctionId) -> Result<()> {
        match name {
            "reg" => self.registers(),
            "loc" => self.loc(),
            "file" => self.file(),
            "section" => self.section(),
            "pragma" => {
                let pragmas = self.pragma()?;
                self.module.functions[id.0 as usize]
                    .directives
                    .pragmas
                    .extend(pragmas);
                Ok(())
            }
            _ => match Space::from_name(name).filter(|&space| space != Space::Generic) {
                Some(space) => self.variables(space, Linkage::Private),
                None => Err(Fail::at(
                    self.end - name.len() - 1,
                    format!("unknown directive `.{name}`"),
                )),
            },
        }
    }

    /// `.reg .b32 %r<17>, a, b;`; the first word is taken.
    fn registers(&mut self) -> Result<()> {
        let kind = self.kind()?;
        loop {
            let begin = self.begin;
            let name = self.word("the name of a register")?;
            if self.eat(b'<')? {
                let count = u64::from(self.plain("a number of registers")?);
                self.expect(b'>')?;
                self.local.declare_family(name, kind.ty, kind.vector, count);
            } else {
                let meaning = self.local.register(name, kind.ty, kind.vector);
                if !self.local.declare(name, meaning) {
                    return Err(Fail::at(begin, format!("`{name}` is declared twice")));
                }
            }
            if !self.eat(b',')? {
                return self.expect(b';');
            }
        }
    }

    /// A label, or a list that has one.
    fn labelled_statement(&mut self, name: &'a str) -> Result<()> {
        let begin = self.begin;
        self.advance()?;
        self.expect(b':')?;
        let meaning = match self.token {
            Token::Dotted("branchtargets") => self.branch_targets(name)?,
            Token::Dotted("calltargets") => self.call_targets(name)?,
            Token::Dotted("callprototype") => self.prototype(name)?,
            _ => {
                let free = self.local.place_label(name, begin);
                return if free {
                    Ok(())
                } else {
                    Err(Fail::at(begin, format!("label `{name}` is there twice")))
                };
            }
        };
        if self.local.declare(name, meaning) {
            Ok(())
        } else {
            Err(Fail::at(begin, format!("`{name}` is declared twice")))
        }
    }

    fn branch_targets(&mut self, name: &str) -> Result<Name> {
        self.advance()?;
        let labels = self.list(|parser| {
            let begin = parser.begin;
            let label = parser.word("a label")?;
            Ok(parser.local.label(label, begin))
        })?;
        self.expect(b';')?;
        let lists = &mut self.local.body.branch_targets;
        lists.push(BranchTargets {
            name: name.to_owned(),
            labels,
        });
        Ok(Name::BranchTargets(lists.len() as u32 - 1))
    }

    fn call_targets(&mut self, name: &str) -> Result<Name> {
        self.advance()?;
        let functions = self.list(Self::function_name)?;
        self.expect(b';')?;
        let lists = &mut self.local.body.call_targets;
        lists.push(CallTargets {
            name: name.to_owned(),
            functions,
        });
        Ok(Name::CallTargets(lists.len() as u32 - 1))
    }

    /// `.callprototype (.param .b32 _) _ (.param .b64 _);`
    fn prototype(&mut self, name: &str) -> Result<Name> {
        self.advance()?;
        let returns = if self.token == Token::Sign(b'(') {
            self.parameters()?.0.list
        } else {
            Vec::new()
        };
        self.word("`_`")?;
        let parameters = if self.token == Token::Sign(b'(') {
            self.parameters()?.0
        } else {
            Default::default()
        };
        let mut noreturn = false;
        while let Token::Dotted(directive) = self.token {
            match directive {
                "noreturn" => noreturn = true,
                "abi_preserve" | "abi_preserve_control" => {
                    self.advance()?;
                    self.count("a number of registers")?;
                    continue;
                }
                _ => return Err(self.expected("`;`")),
            }
            self.advance()?;
        }
        self.expect(b';')?;
        let lists = &mut self.local.body.prototypes;
        lists.push(Prototype {
            name: name.to_owned(),
            returns,
            parameters: parameters.list,
            variadic: parameters.variadic,
            noreturn,
        });
        Ok(Name::Prototype(lists.len() as u32 - 1))
    }

    /// `@p instruction`, `@!p instruction`.
    fn guarded(&mut self) -> Result<()> {
        let begin = self.begin;
        self.advance()?;
        let negated = self.eat(b'!')?;
        let register = self.any_register()?;
        self.instruction(begin, Some(Guard { register, negated }))
    }

    fn instruction(&mut self, begin: usize, guard: Option<Guard>) -> Result<()> {
        let Token::Word(name) = self.token else {
            return Err(self.expected("an instruction"));
        };
        let line = self.line;
        let mut opcode = Opcode::new(name, self.begin);
        while let Some(part) = self.lexer.modifier()? {
            opcode.push(part)?;
        }
        self.advance()?;
        let operation = self.operation(&mut opcode);
        // A modifier that nobody took explains best why operands do not fit.
        opcode.finish(self.source)?;
        let operation = operation?;
        if self.token != Token::Sign(b';') {
            return Err(self.expected(&format!("`;` at the end of `{name}`")));
        }
        let span = begin as u32..self.lexer.offset as u32;
        self.advance()?;
        let location = self.local.lines.current;
        self.local.body.instructions.push(Instruction {
            guard,
            operation,
            location,
            line,
            span,
        });
        Ok(())
    }
}
