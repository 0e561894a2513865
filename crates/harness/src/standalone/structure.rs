//! A structure as people write it, `{f32[1024]=ones,i32:5}`: its parts, and where they lie.

use super::argument::{Kind, kind};

/// Parts one behind the other, each at a multiple of its alignment, as in C.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Structure {
    pub(super) parts: Vec<Kind>,
}

impl Structure {
    /// Reads what stands between the braces.
    pub(super) fn parse(text: &str) -> Result<Structure, String> {
        if depth(text) >= MAX_DEPTH {
            return Err(format!("structures lie more than {MAX_DEPTH} deep"));
        }
        let parts: Vec<Kind> = split(text).map(kind).collect::<Result<_, _>>()?;
        Ok(Structure { parts })
    }

    /// Returns the bytes, with those of each part by its number.
    pub(super) fn bytes<E>(
        &self,
        mut part: impl FnMut(usize, &Kind) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let mut bytes = Vec::new();
        for (number, kind) in self.parts.iter().enumerate() {
            bytes.resize(bytes.len().next_multiple_of(kind.alignment()), 0);
            bytes.extend(part(number, kind)?);
        }
        bytes.resize(bytes.len().next_multiple_of(self.alignment()), 0);
        Ok(bytes)
    }

    pub(super) fn alignment(&self) -> usize {
        self.parts.iter().map(Kind::alignment).max().unwrap_or(1)
    }
}

/// How many structures may lie within each other.
const MAX_DEPTH: usize = 16;

/// The most braces that are open at once.
fn depth(text: &str) -> usize {
    let mut open = 0_usize;
    let depths = text.bytes().map(|letter| {
        match letter {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open
    });
    depths.max().unwrap_or(0)
}

/// Splits at the commas outside braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}
