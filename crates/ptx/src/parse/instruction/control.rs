//! Branches, calls and what else concerns the thread itself.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::scope::Name;
use super::super::{Fail, Parser, Result};
use crate::{
    Access, Alloca, Branch, BranchIndexed, Call, Callee, FunctionId, IndirectTargets, Operand,
    Operation, Pmevent, Ret, Returned, Setmaxnreg, Stackrestore, Stacksave, Symbol, Type,
};

impl<'a> Parser<'a> {
    pub(super) fn branch(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let uniform = op.flag("uni");
        let begin = self.begin;
        match op.name {
            "ret" => Ok(Operation::Ret(Ret { uniform })),
            "bra" => {
                let name = self.word("a label")?;
                Ok(Operation::Branch(Branch {
                    uniform,
                    target: self.local.label(name, begin),
                }))
            }
            _ => {
                op.need("idx")?;
                let index = self.operand(Type::U32)?;
                self.comma()?;
                let begin = self.begin;
                let name = self.word("the label of a `.branchtargets` list")?;
                match self.lookup(name) {
                    Some(Name::BranchTargets(targets)) => {
                        Ok(Operation::BranchIndexed(BranchIndexed {
                            uniform,
                            index,
                            targets,
                        }))
                    }
                    _ => Err(Fail::at(
                        begin,
                        format!("no `.branchtargets` list `{name}` is before this"),
                    )),
                }
            }
        }
    }

    /// `call (returned), callee, (arguments), targets`.
    pub(super) fn call(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
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
        Ok(Operation::Call(Box::new(Call {
            uniform,
            callee,
            returns,
            arguments,
        })))
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

    pub(super) fn thread(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        Ok(match op.name {
            "nanosleep" => {
                op.need("u32")?;
                Operation::Nanosleep(self.operand(Type::U32)?)
            }
            "pmevent" => Operation::Pmevent(Pmevent {
                mask: op.flag("mask"),
                a: self.operand(Type::U32)?,
            }),
            _ => {
                let increase = op.flag("inc");
                if !increase {
                    op.need("dec")?;
                }
                for part in ["sync", "aligned", "u32"] {
                    op.need(part)?;
                }
                Operation::Setmaxnreg(Setmaxnreg {
                    increase,
                    count: self.number32()?,
                })
            }
        })
    }

    pub(super) fn stack(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let ty = op.ty()?;
        Ok(match op.name {
            "stacksave" => Operation::Stacksave(Stacksave { ty, d: self.reg()? }),
            "stackrestore" => Operation::Stackrestore(Stackrestore {
                ty,
                a: self.operand(ty)?,
            }),
            _ => {
                let (d, size) = (self.reg()?, self.then(ty)?);
                let alignment = if self.eat(b',')? {
                    Some(self.alignment()?)
                } else {
                    None
                };
                Operation::Alloca(Alloca {
                    ty,
                    d,
                    size,
                    alignment,
                })
            }
        })
    }
}
