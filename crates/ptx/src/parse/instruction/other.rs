//! Instructions that are only taken apart.

use super::super::constant::DEPTH;
use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Fail, Parser, Result};
use crate::{Argument, Other, Type};

impl<'a> Parser<'a> {
    pub(crate) fn other(&mut self, op: &mut Opcode<'a>) -> Result<Other> {
        let (name, modifiers) = (op.name.to_owned(), op.drain());
        let mut operands = Vec::new();
        if self.token != Token::Sign(b';') {
            operands = self.list(|parser| parser.argument(0))?;
        }
        Ok(Other {
            name,
            modifiers,
            operands,
        })
    }

    fn argument(&mut self, depth: u32) -> Result<Argument> {
        if depth > DEPTH {
            return Err(self.fail("these braces are nested too deeply"));
        }
        match self.token {
            Token::Sign(b'{') => {
                self.advance()?;
                let list = self.list(|parser| parser.argument(depth + 1))?;
                self.expect(b'}')?;
                self.paired(Argument::List(list))
            }
            Token::Sign(b'[') => {
                self.advance()?;
                let address = self.place_in_memory()?;
                let rest = if self.eat(b',')? {
                    self.list(|parser| parser.argument(depth + 1))?
                } else {
                    Vec::new()
                };
                self.expect(b']')?;
                Ok(Argument::Address(address, rest))
            }
            Token::Sign(b'!') => {
                self.advance()?;
                Ok(Argument::Negated(self.operand(Type::Pred)?))
            }
            Token::Word("_") => self.advance().and_then(|_| self.paired(Argument::Nothing)),
            _ => {
                let value = Argument::Value(self.operand(Type::B64)?);
                self.paired(value)
            }
        }
    }

    /// `|p` behind a destination.
    fn paired(&mut self, first: Argument) -> Result<Argument> {
        let begin = self.begin;
        if !self.eat(b'|')? {
            return Ok(first);
        }
        let second = self.argument(DEPTH)?;
        match (first, second) {
            (Argument::Value(first), Argument::Value(second)) => Ok(Argument::Pair(first, second)),
            (Argument::List(mut list), second) => {
                list.push(second);
                Ok(Argument::List(list))
            }
            (Argument::Nothing, second) => Ok(second),
            _ => Err(Fail::at(begin, "a pair of this is not known")),
        }
    }
}
