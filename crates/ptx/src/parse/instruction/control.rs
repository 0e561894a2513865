//! Branches, calls and what else concerns the thread itself.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::scope::Name;
use super::super::{Fail, Parser, Result};
use crate::{
    Access, Alloca, Branch, BranchIndexed, Call, Callee, FunctionId, IndirectTargets, Operand,
    Returned, Setmaxnreg, Symbol, Type,
};

impl<'a> Parser<'a> {
    pub(crate) fn branch(&mut self, op: &mut Opcode<'a>) -> Result<Branch> {
        let uniform = op.flag("uni");
        let begin = self.begin;
        let name = self.word("a label")?;
        Ok(Branch {
            uniform,
            target: self.local.label(name, begin),
        })
    }

    pub(crate) fn branch_indexed(&mut self, op: &mut Opcode<'a>) -> Result<BranchIndexed> {
        let uniform = op.flag("uni");
        let index = self.operand(Type::U32)?;
        self.comma()?;
        let begin = self.begin;
        let name = self.word("the label of a `.branchtargets` list")?;
        match self.lookup(name) {
            Some(Name::BranchTargets(targets)) => Ok(BranchIndexed {
                uniform,
                index,
                targets,
            }),
            _ => Err(Fail::at(
                begin,
                format!("no `.branchtargets` list `{name}` is before this"),
            )),
        }
    }

    /// `call (returned), callee, (arguments), targets`.
    pub(crate) fn call(&mut self, op: &mut Opcode<'a>) -> Result<Call> {
        let uniform = op.flag("uni");
        let returns = if self.token == Token::Sign(b'(') {
            let returns = self.in_parentheses(|parser, _| parser.returned())?;
            self.comma()?;
            returns
        } else {
            Vec::new()
        };
        let mut callee = self.callee()?;
        let mut arguments = Vec::new();
        let mut more = self.eat(b',')?;
        if more && self.token == Token::Sign(b'(') {
            arguments = self.in_parentheses(|parser, index| {
                parser.operand(parser.argument_type(callee, index))
            })?;
            more = self.eat(b',')?;
        }
        if more {
            let known = self.indirect_targets()?;
            if let Callee::Indirect { targets, .. } = &mut callee {
                *targets = Some(known);
            }
        }
        Ok(Call {
            uniform,
            callee,
            returns,
            arguments,
        })
    }

    /// Items in parentheses, maybe none.
    fn in_parentheses<T>(
        &mut self,
        mut item: impl FnMut(&mut Self, usize) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        self.expect(b'(')?;
        if self.eat(b')')? {
            return Ok(items);
        }
        loop {
            items.push(item(self, items.len())?);
            if !self.eat(b',')? {
                self.expect(b')')?;
                return Ok(items);
            }
        }
    }

    fn returned(&mut self) -> Result<Returned> {
        let begin = self.begin;
        let name = self.word("where to put what is returned")?;
        match self.lookup(name) {
            _ if name == "_" => Ok(Returned::Nowhere),
            Some(Name::Register(register)) => {
                self.mention(begin, Access::Define, Operand::Register(register));
                Ok(Returned::Register(register))
            }
            Some(Name::Symbol(symbol)) => Ok(Returned::Variable(symbol)),
            Some(Name::Vector(..)) => Err(Fail::at(
                begin,
                format!("`{name}` is a vector: a call takes its parts"),
            )),
            _ => Err(Fail::at(begin, format!("`{name}` is not declared"))),
        }
    }

    fn callee(&mut self) -> Result<Callee> {
        let begin = self.begin;
        let name = self.word("a function")?;
        match self.lookup(name) {
            Some(Name::Symbol(Symbol::Function(id))) => Ok(Callee::Direct(id)),
            Some(Name::Register(register)) => {
                let address = Operand::Register(register);
                self.mention(begin, Access::Use, address);
                Ok(Callee::Indirect {
                    address,
                    targets: None,
                })
            }
            Some(_) => Err(Fail::at(begin, format!("`{name}` is no function"))),
            None => Ok(Callee::Direct(self.undeclared_function(name, begin)?)),
        }
    }

    fn argument_type(&self, callee: Callee, index: usize) -> Type {
        let Callee::Direct(FunctionId(id)) = callee else {
            return Type::B64;
        };
        self.module.functions[id as usize]
            .parameters
            .get(index)
            .map_or(Type::B64, |parameter| parameter.ty)
    }

    fn indirect_targets(&mut self) -> Result<IndirectTargets> {
        let begin = self.begin;
        let name = self.word("the label of a `.callprototype` or `.calltargets`")?;
        match self.lookup(name) {
            Some(Name::CallTargets(targets)) => Ok(IndirectTargets::Targets(targets)),
            Some(Name::Prototype(prototype)) => Ok(IndirectTargets::Prototype(prototype)),
            _ => Err(Fail::at(
                begin,
                format!("no `.callprototype` or `.calltargets` `{name}` is before this"),
            )),
        }
    }

    pub(crate) fn setmaxnreg(&mut self, op: &mut Opcode<'a>) -> Result<Setmaxnreg> {
        let increase = op.flag("inc");
        if !increase {
            op.need("dec")?;
        }
        Ok(Setmaxnreg {
            increase,
            count: self.number32()?,
        })
    }

    pub(crate) fn alloca(&mut self, op: &mut Opcode<'a>) -> Result<Alloca> {
        let ty = op.ty()?;
        let (d, size) = (self.reg()?, self.then(ty)?);
        let alignment = if self.eat(b',')? {
            Some(self.alignment()?)
        } else {
            None
        };
        Ok(Alloca {
            ty,
            d,
            size,
            alignment,
        })
    }
}
