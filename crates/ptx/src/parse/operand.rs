//! Operands.

use super::lexer::{Lexer, Token};
use super::scope::Name;
use super::{Fail, Parser, Result};
use crate::special;
use crate::{Access, Address, Base, Kind, Operand, Predicate, Reg, Symbol, Type};

impl<'a> Parser<'a> {
    /// A register that is written.
    pub(super) fn reg(&mut self) -> Result<Reg> {
        let begin = self.begin;
        let register = self.any_register()?;
        self.mention(begin, Access::Define, Operand::Register(register));
        Ok(register)
    }

    /// A register.
    pub(super) fn any_register(&mut self) -> Result<Reg> {
        let begin = self.begin;
        let name = self.word("a register")?;
        match self.lookup(name) {
            Some(Name::Register(register)) => Ok(register),
            Some(Name::Vector(first, parts)) => self.part(first, parts),
            Some(_) => Err(Fail::at(
                begin,
                format!("expected a register, and `{name}` is none"),
            )),
            None => Err(Fail::at(begin, format!("`{name}` is not declared"))),
        }
    }

    /// `.x` of a vector of registers.
    fn part(&mut self, first: Reg, parts: u8) -> Result<Reg> {
        let Token::Dotted(name) = self.token else {
            return Err(self.expected("`.x` or another part of the vector"));
        };
        let index = match name {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => u32::MAX,
        };
        if index >= u32::from(parts) {
            return Err(self.expected("a part that the vector has"));
        }
        self.advance()?;
        Ok(Reg(first.0 + index))
    }

    /// A register, or `_`.
    pub(super) fn sink(&mut self) -> Result<Option<Reg>> {
        if self.token == Token::Word("_") {
            self.advance()?;
            return Ok(None);
        }
        self.reg().map(Some)
    }

    /// `d` or `d|p`, where each may be `_`.
    pub(super) fn pair(&mut self) -> Result<(Option<Reg>, Option<Reg>)> {
        let first = self.sink()?;
        let second = if self.eat(b'|')? { self.sink()? } else { None };
        Ok((first, second))
    }

    /// A value of this type that is read.
    pub(super) fn operand(&mut self, ty: Type) -> Result<Operand> {
        let begin = self.begin;
        let operand = self.value_of(ty)?;
        self.mention(begin, Access::Use, operand);
        Ok(operand)
    }

    fn value_of(&mut self, ty: Type) -> Result<Operand> {
        let Token::Word(name) = self.token else {
            return self.immediate(ty);
        };
        let begin = self.begin;
        let operand = match self.lookup(name) {
            Some(Name::Register(register)) => Operand::Register(register),
            Some(Name::Vector(first, parts)) => {
                self.advance()?;
                return Ok(Operand::Register(self.part(first, parts)?));
            }
            Some(Name::Symbol(symbol)) => {
                self.advance()?;
                return Ok(Operand::Symbol {
                    symbol,
                    offset: match self.token {
                        Token::Sign(b'[') => self.element_of(symbol)?,
                        _ => self.addend()?,
                    },
                });
            }
            Some(_) => return Err(Fail::at(begin, format!("`{name}` is no value"))),
            None if name.starts_with('%') => return self.special(name),
            None if name == "WARP_SZ" => return Ok(Operand::Immediate(self.constant()?.bits(ty))),
            None => {
                let symbol = self.undeclared(name, begin)?;
                self.advance()?;
                return Ok(Operand::Symbol {
                    symbol,
                    offset: self.addend()?,
                });
            }
        };
        self.advance()?;
        Ok(operand)
    }

    fn immediate(&mut self, ty: Type) -> Result<Operand> {
        let begin = self.begin;
        let value = self.constant()?;
        match (value.integer().is_some(), ty.kind()) {
            (true, Kind::Float) => Err(Fail::at(
                begin,
                format!("an integer where `.{}` is wanted", ty.name()),
            )),
            (false, Kind::Unsigned | Kind::Signed | Kind::Predicate) => Err(Fail::at(
                begin,
                format!("a float where `.{}` is wanted", ty.name()),
            )),
            _ => Ok(Operand::Immediate(value.bits(ty))),
        }
    }

    fn special(&mut self, name: &str) -> Result<Operand> {
        let begin = self.begin;
        self.advance()?;
        let axis = match self.token {
            Token::Dotted(axis) => Some(axis),
            _ => None,
        };
        if axis == Some("w") && special::with_axis(name, "x").is_some() {
            self.advance()?;
            return Ok(Operand::Immediate(0));
        }
        if let Some(register) = axis.and_then(|axis| special::with_axis(name, axis)) {
            self.advance()?;
            return Ok(Operand::Special(register));
        }
        match special::alone(name) {
            Some(register) => Ok(Operand::Special(register)),
            None => Err(Fail::at(
                begin,
                format!("`{name}` is not declared, and no register of the hardware"),
            )),
        }
    }

    /// All of `%tid`, where it is next without an axis.
    pub(super) fn special_vector(&mut self) -> Result<Option<Vec<Operand>>> {
        let Token::Word(name) = self.token else {
            return Ok(None);
        };
        let parts: Option<Vec<_>> = ["x", "y", "z"]
            .iter()
            .map(|axis| special::with_axis(name, axis).map(Operand::Special))
            .collect();
        let Some(mut parts) = parts else {
            return Ok(None);
        };
        self.advance()?;
        // The fourth is unused.
        parts.push(Operand::Immediate(0));
        Ok(Some(parts))
    }

    /// `+4`, `-4` or nothing.
    pub(super) fn addend(&mut self) -> Result<i64> {
        if !matches!(self.token, Token::Sign(b'+' | b'-')) {
            return Ok(0);
        }
        let begin = self.begin;
        self.constant()?
            .integer()
            .ok_or_else(|| Fail::at(begin, "an offset is an integer"))
    }

    /// `[2]` behind an array: the offset of an element in bytes.
    fn element_of(&mut self, symbol: Symbol) -> Result<i64> {
        let variable = match symbol {
            Symbol::Module(slot) => self.module.variables.get(slot as usize),
            Symbol::Body(slot) => self.local.body.variables.get(slot as usize),
            Symbol::Parameter(_) | Symbol::Return(_) | Symbol::Function(_) => None,
        };
        let bytes = variable.map(|it| i64::from(it.ty.bytes()) * i64::from(it.vector));
        let bytes = bytes.ok_or_else(|| self.expected("a variable in front of brackets"))?;
        self.expect(b'[')?;
        let begin = self.begin;
        let index = self.constant()?.integer();
        let index = index.ok_or_else(|| Fail::at(begin, "an index is an integer"))?;
        self.expect(b']')?;
        Ok(index.wrapping_mul(bytes))
    }

    /// A comma and a value.
    pub(super) fn then(&mut self, ty: Type) -> Result<Operand> {
        self.comma()?;
        self.operand(ty)
    }

    /// A comma and a value, or nothing.
    pub(super) fn optional(&mut self, ty: Type) -> Result<Option<Operand>> {
        if self.eat(b',')? {
            self.operand(ty).map(Some)
        } else {
            Ok(None)
        }
    }

    /// A comma and a value where `given`.
    pub(super) fn given(&mut self, given: bool, ty: Type) -> Result<Option<Operand>> {
        if given {
            self.then(ty).map(Some)
        } else {
            Ok(None)
        }
    }

    /// `p` or `!p`.
    pub(super) fn predicate(&mut self) -> Result<Predicate> {
        let negated = self.eat(b'!')?;
        Ok(Predicate {
            value: self.operand(Type::Pred)?,
            negated,
        })
    }

    /// `[base+offset]`, or `array[index]`.
    pub(super) fn address(&mut self) -> Result<Address> {
        if let Token::Word(name) = self.token
            && let Some(Name::Symbol(symbol)) = self.lookup(name)
        {
            let begin = self.begin;
            self.advance()?;
            self.mention(begin, Access::Use, Operand::Symbol { symbol, offset: 0 });
            return Ok(Address {
                base: Base::Symbol(symbol),
                offset: self.element_of(symbol)?,
            });
        }
        self.expect(b'[')?;
        let address = self.place_in_memory()?;
        self.expect(b']')?;
        Ok(address)
    }

    /// A comma and an address.
    pub(super) fn then_address(&mut self) -> Result<Address> {
        self.comma()?;
        self.address()
    }

    /// Parses the address at the front of brackets, which stay open.
    pub(super) fn place_in_memory(&mut self) -> Result<Address> {
        let Token::Word(name) = self.token else {
            let begin = self.begin;
            let offset = self
                .constant()?
                .integer()
                .ok_or_else(|| Fail::at(begin, "an address is an integer"))?;
            return Ok(Address {
                base: Base::Absolute,
                offset,
            });
        };
        let begin = self.begin;
        self.advance()?;
        let base = match self.lookup(name) {
            Some(Name::Register(register)) => Base::Register(register),
            Some(Name::Vector(first, parts)) => Base::Register(self.part(first, parts)?),
            Some(Name::Symbol(symbol)) => Base::Symbol(symbol),
            Some(_) => return Err(Fail::at(begin, format!("`{name}` is no address"))),
            None => Base::Symbol(self.undeclared(name, begin)?),
        };
        let operand = match base {
            Base::Register(register) => Operand::Register(register),
            Base::Symbol(symbol) => Operand::Symbol { symbol, offset: 0 },
            Base::Absolute => Operand::Immediate(0),
        };
        self.mention(begin, Access::Use, operand);
        Ok(Address {
            base,
            offset: self.addend()?,
        })
    }

    /// `{a, _, b}`, one register, or a vector of registers.
    pub(super) fn destinations(&mut self) -> Result<Vec<Option<Reg>>> {
        if self.eat(b'{')? {
            let list = self.list(Self::sink)?;
            self.expect(b'}')?;
            return Ok(list);
        }
        if let Some((first, parts)) = self.whole_vector()? {
            return Ok((0..u32::from(parts))
                .map(|index| Some(Reg(first.0 + index)))
                .collect());
        }
        Ok(vec![self.sink()?])
    }

    /// The same without `_`.
    pub(super) fn registers_of(&mut self) -> Result<Vec<Reg>> {
        let begin = self.begin;
        let list: Option<Vec<_>> = self.destinations()?.into_iter().collect();
        list.ok_or_else(|| Fail::at(begin, "`_` cannot stand here"))
    }

    /// `{a, b}`, one value, or a vector of registers.
    pub(super) fn sources(&mut self, ty: Type) -> Result<Vec<Operand>> {
        if self.eat(b'{')? {
            let list = self.list(|parser| parser.operand(ty))?;
            self.expect(b'}')?;
            return Ok(list);
        }
        if let Some((first, parts)) = self.whole_vector()? {
            return Ok((0..u32::from(parts))
                .map(|index| Operand::Register(Reg(first.0 + index)))
                .collect());
        }
        Ok(vec![self.operand(ty)?])
    }

    /// The name of a vector of registers without a part behind it.
    fn whole_vector(&mut self) -> Result<Option<(Reg, u8)>> {
        let Token::Word(name) = self.token else {
            return Ok(None);
        };
        let Some(Name::Vector(first, parts)) = self.lookup(name) else {
            return Ok(None);
        };
        if !self.is_whole_vector(self.token, self.lexer) {
            return Ok(None);
        }
        self.advance()?;
        Ok(Some((first, parts)))
    }

    /// Whether a token, with the text behind it, is the name of a vector of registers without a part.
    pub(super) fn is_whole_vector(&mut self, token: Token<'a>, mut behind: Lexer<'a>) -> bool {
        let Token::Word(name) = token else {
            return false;
        };
        let is_vector = matches!(self.lookup(name), Some(Name::Vector(..)));
        is_vector && matches!(behind.modifier(), Ok(None))
    }

    /// An integer that the instruction holds itself.
    pub(super) fn number32(&mut self) -> Result<u32> {
        self.count32("a number")
    }
}
