//! Text to tokens, which are pieces of it.

use super::{Fail, Result};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name: letters, digits, `_`, `$`, and `%` at the begin.
    Word(&'a str),
    /// `.name`, without the dot; `::` belongs to it.
    Dotted(&'a str),
    /// Begins with a digit, or with a dot and a digit.
    Number(&'a str),
    /// Without its quotes, escapes as they stand.
    Text(&'a str),
    /// Any other character; `<<`, `>>`, `&&`, `||`, `==`, `!=`, `<=` and `>=` are two.
    Sign(u8),
    /// Nothing is left.
    End,
}

/// Where in the text the lexer stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    source: &'a str,
    /// Of the next byte.
    pub(super) offset: usize,
    /// Of the next byte, from 1.
    pub(super) line: u32,
}

const fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(source: &'a str) -> Self {
        Self {
            source,
            offset: 0,
            line: 1,
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source
            .as_bytes()
            .get(self.offset + ahead)
            .copied()
            .unwrap_or(0)
    }

    /// Skips spaces and comments.
    pub(super) fn skip_space(&mut self) -> Result<()> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.line += 1;
                    self.offset += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.offset += 1,
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.skip_comment()?,
                0 if self.offset + 1 == self.source.len() => self.offset += 1,
                _ => return Ok(()),
            }
        }
    }

    /// Goes to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.source.as_bytes()[self.offset..];
        self.offset += rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) -> Result<()> {
        let begin = self.offset;
        let rest = &self.source.as_bytes()[begin + 2..];
        let Some(end) = rest.windows(2).position(|pair| pair == b"*/") else {
            return Err(Fail::at(begin, "this comment has no end `*/`"));
        };
        self.line += rest[..end].iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.offset = begin + end + 4;
        Ok(())
    }

    /// The next token; spaces before it are skipped already.
    pub(super) fn token(&mut self) -> Result<Token<'a>> {
        if self.offset >= self.source.len() {
            return Ok(Token::End);
        }
        let begin = self.offset;
        let first = self.byte(0);
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.offset += 1;
                // `%` alone is the operator.
                if first == b'%' && !continues_word(self.byte(0)) {
                    return Ok(Token::Sign(b'%'));
                }
                self.skip_word();
                Ok(Token::Word(&self.source[begin..self.offset]))
            }
            b'0'..=b'9' => Ok(self.number(begin)),
            b'.' if self.byte(1).is_ascii_digit() => Ok(self.number(begin)),
            b'.' if continues_word(self.byte(1)) => {
                self.offset += 1;
                self.skip_modifier();
                Ok(Token::Dotted(&self.source[begin + 1..self.offset]))
            }
            b'"' => self.text(begin),
            0x80.. => Err(Fail::at(begin, "PTX has no such character")),
            _ => {
                self.offset += 1;
                Ok(Token::Sign(first))
            }
        }
    }

    fn skip_word(&mut self) {
        while continues_word(self.byte(0)) {
            self.offset += 1;
        }
    }

    /// A modifier's letters, with `::` between them.
    fn skip_modifier(&mut self) {
        loop {
            self.skip_word();
            if self.byte(0) == b':' && self.byte(1) == b':' && continues_word(self.byte(2)) {
                self.offset += 2;
            } else {
                return;
            }
        }
    }

    /// The modifier that follows here, if one does: `.ftz`, also `.2d`, after spaces too.
    pub(super) fn modifier(&mut self) -> Result<Option<&'a str>> {
        if self.byte(0) != b'.' {
            let before = *self;
            self.skip_space()?;
            if self.byte(0) != b'.' {
                *self = before;
                return Ok(None);
            }
        }
        self.offset += 1;
        let begin = self.offset;
        self.skip_modifier();
        if begin == self.offset {
            return Err(Fail::at(begin, "expected a modifier after the dot"));
        }
        Ok(Some(&self.source[begin..self.offset]))
    }

    fn number(&mut self, begin: usize) -> Token<'a> {
        let letter = self.byte(1);
        if self.byte(0) == b'0'
            && matches!(
                letter,
                b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B'
            )
        {
            self.skip_word();
            return Token::Number(&self.source[begin..self.offset]);
        }
        let mut previous = 0;
        loop {
            let byte = self.byte(0);
            let sign_of_exponent = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || sign_of_exponent) {
                break;
            }
            previous = byte;
            self.offset += 1;
        }
        Token::Number(&self.source[begin..self.offset])
    }

    fn text(&mut self, begin: usize) -> Result<Token<'a>> {
        let bytes = self.source.as_bytes();
        let mut end = begin + 1;
        while end < bytes.len() && bytes[end] != b'"' && bytes[end] != b'\n' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        // A backslash may stand before a character of several bytes, or at the end.
        if bytes.get(end) != Some(&b'"') || !self.source.is_char_boundary(end) {
            return Err(Fail::at(begin, "this string has no end"));
        }
        self.offset = end + 1;
        Ok(Token::Text(&self.source[begin + 1..end]))
    }
}
