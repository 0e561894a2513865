//! Why a text is no PTX that is known here.

/// Where and why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The reason, and the text that was expected.
    pub message: String,
    /// The line, without spaces at its ends.
    pub text: String,
}

impl ParseError {
    /// At this byte of the text.
    pub(crate) fn at(source: &str, offset: usize, message: String) -> Self {
        let before = source.get(..offset.min(source.len())).unwrap_or(source);
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = source[begin..].lines().next().unwrap_or_default();
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1,
            column: before[begin..].chars().count() as u32 + 1,
            message,
            text: line.trim().to_owned(),
        }
    }

    /// At the begin of this line, from 1.
    pub(crate) fn in_line(source: &str, line: u32, message: String) -> Self {
        let before = source
            .split_inclusive('\n')
            .take((line as usize).saturating_sub(1));
        let offset = before.map(str::len).sum();
        Self::at(source, offset, message)
    }
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "PTX line {}, column {}: {}: {}",
            self.line, self.column, self.message, self.text
        )
    }
}

impl std::error::Error for ParseError {}
