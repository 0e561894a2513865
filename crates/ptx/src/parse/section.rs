//! `.section`: debugging information, which compilers write as numbers and labels.

use super::constant::Constant;
use super::lexer::Token;
use super::{Fail, Parser, Result};
use crate::{Section, SectionAddress};

impl Parser<'_> {
    /// `.section .debug_info { .b32 4, .debug_abbrev; ... }`; the first word is taken.
    pub(super) fn section(&mut self) -> Result<()> {
        let name = match self.token {
            Token::Dotted(name) => format!(".{name}"),
            Token::Word(name) => name.to_owned(),
            _ => return Err(self.expected("the name of a section")),
        };
        self.advance()?;
        self.expect(b'{')?;
        // Parts of one section may stand apart.
        let before = self.module.sections.iter().position(|it| it.name == name);
        let mut section = match before {
            Some(index) => self.module.sections.swap_remove(index),
            None => Section {
                name,
                ..Section::default()
            },
        };
        while !self.eat(b'}')? {
            match self.token {
                Token::Word(label) => {
                    self.advance()?;
                    self.expect(b':')?;
                    section.labels.push((label.to_owned(), section.bytes.len()));
                }
                Token::Dotted(ty @ ("b8" | "b16" | "b32" | "b64")) => {
                    self.advance()?;
                    let bits: u32 = ty[1..].parse().map_err(|_| self.expected("a type"))?;
                    self.list(|parser| parser.section_value(&mut section, bits))?;
                }
                _ => return Err(self.expected("a label, `.b8`, `.b16`, `.b32` or `.b64`")),
            }
        }
        self.module.sections.push(section);
        Ok(())
    }

    /// A number, or an address: `symbol`, `symbol+4`, `label-label`.
    fn section_value(&mut self, section: &mut Section, bits: u32) -> Result<()> {
        let begin = self.begin;
        let bytes = (bits / 8) as usize;
        let symbol = match self.token {
            Token::Word(symbol) => symbol.to_owned(),
            Token::Dotted(symbol) => format!(".{symbol}"),
            _ => {
                let value = self.section_number(bits)?;
                section.bytes.extend(&value.to_le_bytes()[..bytes]);
                return Ok(());
            }
        };
        if bits < 32 {
            let text = format!("the address of `{symbol}` has 32 or 64 bits, and not {bits}");
            return Err(Fail::at(begin, text));
        }
        self.advance()?;
        let (mut addend, mut minus) = (0, None);
        if self.eat(b'+')? {
            addend = self.section_number(64)?;
        } else if self.eat(b'-')? {
            minus = Some(self.word("a label to subtract")?.to_owned());
        }
        section.addresses.push(SectionAddress {
            offset: section.bytes.len(),
            bytes: bytes as u8,
            symbol,
            addend,
            minus,
        });
        section.bytes.extend(&[0; 8][..bytes]);
        Ok(())
    }

    fn section_number(&mut self, bits: u32) -> Result<i64> {
        let begin = self.begin;
        let value = match self.constant()? {
            Constant::Signed(value) => i128::from(value),
            Constant::Unsigned(value) => i128::from(value),
            _ => return Err(Fail::at(begin, "expected an integer or a label")),
        };
        let range = -(1 << (bits - 1))..1_i128 << bits;
        if !range.contains(&value) {
            let text = format!("{value} does not fit into {bits} bits");
            return Err(Fail::at(begin, text));
        }
        Ok(value as i64)
    }
}
