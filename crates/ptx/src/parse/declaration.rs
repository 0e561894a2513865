//! The grammar that declarations of variables, registers and parameters share.

use super::lexer::Token;
use super::{Fail, Parser, Result};
use crate::{Pointer, Space, Type};

/// The part of a declaration between its state space and its names.
pub(super) struct Kind {
    pub(super) ty: Type,
    /// 2, 4 or 8 where an element is a vector, else 1.
    pub(super) vector: u8,
    pub(super) alignment: Option<u32>,
    /// `.attribute(.managed)`.
    pub(super) managed: bool,
    /// `.ptr` of a parameter.
    pub(super) pointer: Option<Pointer>,
}

/// Words that begin a declaration of the module, or another directive of it.
pub(super) const OF_MODULE: [&str; 11] = [
    "visible", "extern", "weak", "common", "entry", "func", "global", "const", "shared", "file",
    "section",
];

impl Parser<'_> {
    /// `.align 8 .v2 .f32` and attributes, in any order; of a parameter also `.ptr .global .align 16`.
    pub(super) fn kind(&mut self) -> Result<Kind> {
        let mut ty = None;
        let mut kind = Kind {
            ty: Type::Pred,
            vector: 1,
            alignment: None,
            managed: false,
            pointer: None,
        };
        while let Token::Dotted(name) = self.token {
            self.advance()?;
            let space = Space::from_name(name);
            match (name, &mut kind.pointer, space) {
                ("align", _, _) => self.aligned(&mut kind)?,
                ("attribute", _, _) => kind.managed |= self.attribute()?,
                ("ptr", pointer, _) => {
                    *pointer = Some(Pointer {
                        space: Space::Generic,
                        alignment: 4,
                    });
                }
                ("v2", _, _) => kind.vector = 2,
                ("v4", _, _) => kind.vector = 4,
                ("v8", _, _) => kind.vector = 8,
                (_, Some(pointer), Some(space)) => pointer.space = space,
                _ => {
                    let unknown = || self.before(name, format!("unknown type `.{name}`"));
                    ty = Some(Type::from_name(name).ok_or_else(unknown)?);
                }
            }
        }
        kind.ty = ty.ok_or_else(|| self.expected("a type"))?;
        Ok(kind)
    }

    /// `.align` of the variable, or of what a pointer points to.
    fn aligned(&mut self, kind: &mut Kind) -> Result<()> {
        let given = self.alignment()?;
        match &mut kind.pointer {
            Some(pointer) => pointer.alignment = given,
            None => kind.alignment = Some(given),
        }
        Ok(())
    }

    /// An error at the dotted word that was taken.
    fn before(&self, word: &str, message: String) -> Box<Fail> {
        Fail::at(self.end - word.len() - 1, message)
    }

    pub(super) fn alignment(&mut self) -> Result<u32> {
        let begin = self.begin;
        let alignment = self.count32("an alignment")?;
        if alignment.is_power_of_two() {
            Ok(alignment)
        } else {
            Err(Fail::at(begin, "an alignment is a power of two"))
        }
    }

    /// `(.managed)`, `(.unified(1, 2))`: whether it is managed.
    pub(super) fn attribute(&mut self) -> Result<bool> {
        self.expect(b'(')?;
        let mut managed = false;
        let mut depth = 1;
        while depth > 0 {
            match self.advance()? {
                Token::Dotted("managed") => managed = true,
                Token::Sign(b'(') => depth += 1,
                Token::Sign(b')') => depth -= 1,
                Token::End => return Err(self.expected("`)`")),
                _ => {}
            }
        }
        Ok(managed)
    }

    /// `[2][3]`, and whether the first is `[]`, which counts as 0.
    pub(super) fn dimensions(&mut self) -> Result<(Vec<u64>, bool)> {
        let mut dimensions = Vec::new();
        let mut open = false;
        while self.eat(b'[')? {
            if dimensions.is_empty() && self.token == Token::Sign(b']') {
                open = true;
                dimensions.push(0);
            } else {
                dimensions.push(self.count("a number of elements")?);
            }
            self.expect(b']')?;
        }
        Ok((dimensions, open))
    }

    /// Whether a declaration of the module begins here, or the text ends.
    pub(super) fn at_next_declaration(&self) -> bool {
        match self.token {
            Token::Dotted(name) => OF_MODULE.contains(&name),
            token => token == Token::End,
        }
    }
}
