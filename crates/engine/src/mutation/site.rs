//! An instruction and its text, as changes see it.

use std::ops::Range;

use ptx::{Instruction, Mention, Operand};

/// An instruction in its text.
pub(super) struct Site<'a> {
    pub(super) instruction: &'a Instruction,
    /// Its text, with its guard and its semicolon.
    pub(super) text: &'a str,
    /// Its operands in the order of the text.
    mentions: &'a [Mention],
}

impl<'a> Site<'a> {
    pub(super) fn new(
        instruction: &'a Instruction,
        source: &'a str,
        mentions: &'a [Mention],
    ) -> Site<'a> {
        Site {
            instruction,
            text: instruction.text(source),
            mentions,
        }
    }

    /// The text with another part.
    pub(super) fn with(&self, part: Range<usize>, other: &str) -> String {
        format!(
            "{}{other}{}",
            &self.text[..part.start],
            &self.text[part.end..]
        )
    }

    /// The guard with the space behind it: empty where there is none.
    fn guard(&self) -> Range<usize> {
        let Some(_) = self.instruction.guard else {
            return 0..0;
        };
        let word = self.text.find(char::is_whitespace).unwrap_or(0);
        let space = self.text[word..].find(|it: char| !it.is_whitespace());
        0..word + space.unwrap_or(0)
    }

    /// The text without its guard.
    pub(super) fn without_guard(&self) -> String {
        self.with(self.guard(), "")
    }

    /// Its guard, and another instruction.
    pub(super) fn under_guard(&self, other: &str) -> String {
        format!("{}{other}", &self.text[self.guard()])
    }

    /// Where the opcode stands.
    pub(super) fn opcode(&self) -> Range<usize> {
        let start = self.guard().end;
        let rest = &self.text[start..];
        let length = rest.find(|it: char| it.is_whitespace() || it == ';');
        start..start + length.unwrap_or(rest.len())
    }

    /// The text with another modifier; none where the opcode does not have the first. The other may be empty.
    pub(super) fn with_modifier(&self, from: &str, to: &str) -> Option<String> {
        let opcode = self.opcode();
        let mut begin = opcode.start;
        for part in self.text[opcode].split('.') {
            let end = begin + part.len();
            if part == from {
                return Some(match to {
                    "" => self.with(begin - 1..end, ""),
                    to => self.with(begin..end, to),
                });
            }
            begin = end + 1;
        }
        None
    }

    /// The immediate operands outside brackets: where they stand, and their bits.
    pub(super) fn immediates(&self) -> impl Iterator<Item = (Range<usize>, u64)> {
        self.mentions.iter().filter_map(|mention| {
            let Operand::Immediate(bits) = mention.operand else {
                return None;
            };
            let span = self.span(mention);
            let before = &self.text[..span.start];
            let is_inside = before.rfind('[') > before.rfind(']');
            (!is_inside).then_some((span, bits))
        })
    }

    /// The offset of each address in brackets, with where its text stands: what is behind its base.
    pub(super) fn offsets(&self) -> Vec<(Range<usize>, i64)> {
        let mut offsets = Vec::new();
        let opening = self.text.match_indices('[').map(|(at, _)| at);
        for open in opening {
            let inside = |it: &&Mention| self.span(it).start > open;
            let Some(base) = self.mentions.iter().find(inside) else {
                continue;
            };
            let begin = self.span(base).end;
            let Some(length) = self.text[begin..].find([']', ',']) else {
                continue;
            };
            let text: String = self.text[begin..begin + length]
                .chars()
                .filter(|it| !it.is_whitespace())
                .collect();
            let number = text.strip_prefix('+').unwrap_or(&text);
            let offset = match number {
                "" => Ok(0),
                number => number.parse(),
            };
            if let Ok(offset) = offset {
                offsets.push((begin..begin + length, offset));
            }
        }
        offsets
    }

    fn span(&self, mention: &Mention) -> Range<usize> {
        let begin = self.instruction.span.start;
        (mention.span.start - begin) as usize..(mention.span.end - begin) as usize
    }
}
