//! Why a text is no PTX that is known here.

/// Where and why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The line, without spaces at its ends.
    pub text: String,
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
