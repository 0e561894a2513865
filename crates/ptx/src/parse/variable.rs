//! Variables and their first values.

use super::constant::{Constant, DEPTH};
use super::declaration::Kind;
use super::lexer::Token;
use super::scope::Name;
use super::{Fail, Parser, Result};
use crate::{Initial, Linkage, RelocatedAddress, Relocation, Space, Symbol, Type, Variable};

/// Larger first values are refused.
const LARGEST: u64 = 1 << 28;

impl<'a> Parser<'a> {
    /// The names of a declaration, up to its semicolon; the space is taken.
    pub(super) fn variables(&mut self, space: Space, linkage: Linkage) -> Result<()> {
        let space_end = self.end;
        let kind = self.kind()?;
        let variables = self.list(|parser| parser.variable(space, linkage, &kind))?;
        self.expect(b';')?;
        self.note_variables(space_end, variables);
        Ok(())
    }

    fn variable(&mut self, space: Space, linkage: Linkage, kind: &Kind) -> Result<Symbol> {
        let line = self.line;
        let begin = self.begin;
        let name = self.word("the name of a variable")?;
        let element = u64::from(kind.ty.bytes()) * u64::from(kind.vector);
        let (mut dimensions, open) = self.dimensions()?;
        let mut variable = Variable {
            name: name.to_owned(),
            space,
            linkage,
            ty: kind.ty,
            vector: kind.vector,
            dimensions: Vec::new(),
            bytes: 0,
            alignment: kind.alignment.unwrap_or(element as u32),
            initial: None,
            managed: kind.managed,
            line,
        };
        let (symbol, replace) = self.declare_variable(&variable, name, begin)?;
        if self.eat(b'=')? {
            variable.initial = self.initial(kind.ty, element, &mut dimensions, open)?;
        }
        let mut named = variable
            .initial
            .iter()
            .flat_map(|initial| &initial.relocations);
        let of_body = named.any(|it| matches!(it.symbol, Symbol::Body(_)));
        if of_body && !self.is_of_body(space) {
            let message =
                format!("the first value of `{name}` is an address that the kernel alone has");
            return Err(Fail::at(begin, message));
        }
        variable.bytes = size(element, &dimensions)
            .ok_or_else(|| Fail::at(begin, format!("`{name}` is too large")))?;
        variable.dimensions = dimensions;
        match symbol {
            Symbol::Body(slot) => self.local.body.variables[slot as usize] = variable,
            Symbol::Module(slot) if replace => {
                variable.name = self.name_in_module(name);
                self.module.variables[slot as usize] = variable;
            }
            _ => {}
        }
        Ok(symbol)
    }

    /// Whether a variable that is declared here is made anew for each call, or for each block.
    const fn is_of_body(&self, space: Space) -> bool {
        self.local.depth() > 0 && !matches!(space, Space::Global | Space::Const)
    }

    /// Returns a variable's name in the module: of a body with the function's before it, as no text can.
    fn name_in_module(&self, name: &str) -> String {
        match self.local.owner {
            Some(id) if self.local.depth() > 0 => {
                format!("{}.{name}", self.module.functions[id.0 as usize].name)
            }
            _ => name.to_owned(),
        }
    }

    /// Makes the name known before its first value, which may name it. Returns what it stands for, and
    /// whether this declaration replaces what is there.
    fn declare_variable(
        &mut self,
        variable: &Variable,
        name: &'a str,
        begin: usize,
    ) -> Result<(Symbol, bool)> {
        let twice = || Fail::at(begin, format!("`{name}` is declared twice"));
        if self.local.depth() > 0 && !self.is_of_body(variable.space) {
            // One for the module's whole life, whose name the braces keep to themselves.
            let symbol = Symbol::Module(self.module.variables.len() as u32);
            if name != "_" && !self.local.declare(name, Name::Symbol(symbol)) {
                return Err(twice());
            }
            self.module.variables.push(variable.clone());
            return Ok((symbol, true));
        }
        if self.local.depth() > 0 {
            let symbol = Symbol::Body(self.local.body.variables.len() as u32);
            if name != "_" && !self.local.declare(name, Name::Symbol(symbol)) {
                return Err(twice());
            }
            self.local.body.variables.push(variable.clone());
            return Ok((symbol, true));
        }
        if let Some(&known) = self.globals.names.get(name) {
            let Symbol::Module(slot) = known else {
                return Err(twice());
            };
            let declared_only = |linkage| linkage == Linkage::External;
            let replace = declared_only(self.module.variables[slot as usize].linkage);
            if !replace && !declared_only(variable.linkage) {
                return Err(twice());
            }
            return Ok((known, replace));
        }
        let symbol = Symbol::Module(self.module.variables.len() as u32);
        self.globals.names.insert(name, symbol);
        self.module.variables.push(variable.clone());
        Ok((symbol, true))
    }

    fn initial(
        &mut self,
        ty: Type,
        element: u64,
        dimensions: &mut [u64],
        open: bool,
    ) -> Result<Option<Initial>> {
        if matches!(ty, Type::TexRef | Type::SamplerRef | Type::SurfRef) {
            self.skip_braces()?;
            return Ok(None);
        }
        let mut filler = Filler {
            ty,
            bytes: Vec::new(),
            relocations: Vec::new(),
        };
        let inner = size(element, dimensions.get(1..).unwrap_or_default());
        if open {
            let inner = inner
                .filter(|&inner| inner > 0 && inner <= LARGEST)
                .ok_or_else(|| self.fail("an array of nothing, or one that is too large"))?;
            self.fill(
                &mut filler,
                0,
                None,
                &[&[inner], &strides(element, dimensions)[1..]].concat(),
                0,
            )?;
            dimensions[0] = (filler.bytes.len() as u64).div_ceil(inner);
            filler.bytes.resize((dimensions[0] * inner) as usize, 0);
        } else {
            let bytes = size(element, dimensions)
                .filter(|&bytes| bytes <= LARGEST)
                .ok_or_else(|| self.fail("a first value of more than 256 MiB"))?;
            self.fill(
                &mut filler,
                0,
                Some(bytes),
                &strides(element, dimensions),
                0,
            )?;
            filler.bytes.resize(bytes as usize, 0);
        }
        Ok(Some(Initial {
            bytes: filler.bytes,
            relocations: filler.relocations,
        }))
    }

    /// A value or a list in braces at `begin`, which must not pass `end`. `strides` are the bytes of
    /// the items that braces here have, then those of the braces within. Returns where it ended.
    fn fill(
        &mut self,
        filler: &mut Filler,
        begin: u64,
        end: Option<u64>,
        strides: &[u64],
        depth: u32,
    ) -> Result<u64> {
        if depth > DEPTH {
            return Err(self.fail("these braces are nested too deeply"));
        }
        if !self.eat(b'{')? {
            return self.value(filler, begin, end);
        }
        let scalar = u64::from(filler.ty.bytes());
        let (&stride, within) = strides.split_first().unwrap_or((&scalar, &[]));
        let mut at = begin;
        while !self.eat(b'}')? {
            if self.token == Token::Sign(b'{') {
                let last = at
                    .checked_add(stride)
                    .filter(|&last| last <= end.unwrap_or(LARGEST));
                let last = last.ok_or_else(|| self.fail("more values than the variable has"))?;
                self.fill(filler, at, Some(last), within, depth + 1)?;
                at = last;
                filler.reach(at);
            } else {
                at = self.value(filler, at, end)?;
            }
            if !self.eat(b',')? {
                self.expect(b'}')?;
                break;
            }
        }
        Ok(at)
    }

    /// One number or address.
    fn value(&mut self, filler: &mut Filler, at: u64, end: Option<u64>) -> Result<u64> {
        let bytes = filler.ty.bytes();
        let next = at + u64::from(bytes);
        if end.is_some_and(|end| next > end) || next > LARGEST {
            return Err(self.fail("more values than the variable has"));
        }
        filler.reach(next);
        if let Some(relocation) = self.relocation(at, bytes as u8)? {
            filler.relocations.push(relocation);
            return Ok(next);
        }
        let value = self.constant()?;
        // A 128-bit value has its upper half from the sign.
        let fill = if matches!(value, Constant::Signed(value) if value < 0) {
            0xff
        } else {
            0
        };
        let low = value
            .bits(if bytes > 8 { Type::B64 } else { filler.ty })
            .to_le_bytes();
        for (index, byte) in filler.bytes[at as usize..next as usize]
            .iter_mut()
            .enumerate()
        {
            *byte = low.get(index).copied().unwrap_or(fill);
        }
        Ok(next)
    }

    /// `x+4`, `generic(x)+4` or `0xFF00(x)`, where one of them is next.
    fn relocation(&mut self, offset: u64, bytes: u8) -> Result<Option<Relocation>> {
        let shift = self.mask()?;
        let Token::Word(word) = self.token else {
            return if shift.is_some() {
                Err(self.expected("a name"))
            } else {
                Ok(None)
            };
        };
        if word == "WARP_SZ" {
            return Ok(None);
        }
        let first = self.begin;
        self.advance()?;
        let (name, begin, address) = if word == "generic" && self.eat(b'(')? {
            let begin = self.begin;
            let name = self.word("a name")?;
            self.expect(b')')?;
            (name, begin, RelocatedAddress::Generic)
        } else {
            (word, first, RelocatedAddress::InSpace)
        };
        let Some(Name::Symbol(symbol)) = self.lookup(name) else {
            return Err(Fail::at(begin, format!("`{name}` is not declared")));
        };
        let addend = self.addend()?;
        let bytes = match shift {
            Some(_) => {
                self.expect(b')')?;
                1
            }
            None => bytes,
        };
        Ok(Some(Relocation {
            offset,
            bytes,
            symbol,
            addend,
            address,
            shift: shift.unwrap_or(0),
        }))
    }

    /// `0xFF00(`: which byte of the address is meant, as bits to shift by.
    fn mask(&mut self) -> Result<Option<u8>> {
        let Token::Number(text) = self.token else {
            return Ok(None);
        };
        let mut ahead = self.lexer;
        ahead.skip_space()?;
        if ahead.token()? != Token::Sign(b'(') {
            return Ok(None);
        }
        let digits = text.trim_start_matches("0x").trim_start_matches("0X");
        let mask = u64::from_str_radix(digits, 16)
            .ok()
            .filter(|mask| mask.trailing_zeros() % 8 == 0);
        let mask = mask.filter(|&mask| mask != 0 && mask >> mask.trailing_zeros() == 0xff);
        let shift = mask
            .ok_or_else(|| self.expected("a mask of one byte such as `0xFF00`"))?
            .trailing_zeros();
        self.advance()?;
        self.expect(b'(')?;
        Ok(Some(shift as u8))
    }

    /// `{...}` that is not looked at.
    fn skip_braces(&mut self) -> Result<()> {
        self.expect(b'{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.advance()? {
                Token::Sign(b'{') => depth += 1,
                Token::Sign(b'}') => depth -= 1,
                Token::End => return Err(self.expected("`}`")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The bytes of a first value, so far.
struct Filler {
    ty: Type,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Filler {
    /// Zeros up to there.
    fn reach(&mut self, end: u64) {
        if (self.bytes.len() as u64) < end {
            self.bytes.resize(end as usize, 0);
        }
    }
}

/// Bytes of an array.
fn size(element: u64, dimensions: &[u64]) -> Option<u64> {
    dimensions
        .iter()
        .try_fold(element, |bytes, &count| bytes.checked_mul(count))
}

/// Bytes of an item of each dimension, then of an element.
fn strides(element: u64, dimensions: &[u64]) -> Vec<u64> {
    (0..dimensions.len())
        .map(|index| size(element, &dimensions[index + 1..]).unwrap_or(u64::MAX))
        .chain([element])
        .collect()
}
