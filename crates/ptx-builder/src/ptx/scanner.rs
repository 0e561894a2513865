//! A position in a text.

pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Scanner { text, at: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// What lies between `start` and here, without the blanks at its end.
    pub(crate) fn before(&self, start: usize) -> &'t str {
        self.text[start..self.at].trim_end()
    }

    /// Counted from 1.
    pub(crate) fn line_number(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    pub(crate) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes past a `//` or `/* */` comment that begins here and returns it.
    pub(crate) fn comment(&mut self) -> Option<&'t str> {
        if self.rest().starts_with("//") {
            return Some(self.line());
        }
        if !self.rest().starts_with("/*") {
            return None;
        }
        let length = self
            .rest()
            .find("*/")
            .map_or(self.rest().len(), |end| end + 2);
        Some(self.take(length))
    }

    /// Goes past the rest of the line and returns it.
    pub(crate) fn line(&mut self) -> &'t str {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.take(length)
    }

    /// Goes to the first of these characters and returns what lies before it, without the blanks
    /// at its end.
    pub(crate) fn until(&mut self, stops: &[char]) -> Option<&'t str> {
        let length = self.rest().find(stops)?;
        Some(self.take(length).trim_end())
    }

    /// Goes past `expected`, if it stands here.
    pub(crate) fn eat(&mut self, expected: char) -> bool {
        let here = self.rest().starts_with(expected);
        if here {
            self.at += expected.len_utf8();
        }
        here
    }

    /// Goes past a bracketed group that begins here and returns what is in it.
    pub(crate) fn group(&mut self, open: char, close: char) -> Option<&'t str> {
        let mut depth = 0_usize;
        for (offset, c) in self.rest().char_indices() {
            if c == open {
                depth += 1;
            } else if c == close {
                depth -= 1;
            }
            if depth == 0 {
                let length = offset + c.len_utf8();
                let group = self.take(length);
                return group.strip_prefix(open)?.strip_suffix(close);
            }
        }
        None
    }

    pub(crate) fn take(&mut self, length: usize) -> &'t str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }
}
