//! Changes to a text, collected first and made in one go.

use ::ptx::Span;

/// Replacements of parts of one text. The parts do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Span, String)>);

impl Edits {
    pub(crate) fn replace(&mut self, part: Span, new: impl Into<String>) {
        self.0.push((part, new.into()));
    }

    pub(crate) fn insert(&mut self, at: u32, new: impl Into<String>) {
        self.replace(at..at, new);
    }

    /// Insertions at one place come out in the order in which they were asked for.
    pub(crate) fn apply(self, text: &str) -> String {
        self.apply_within(text, 0..text.len() as u32)
    }

    /// As [`Edits::apply`], of a part of the text that all edits lie in.
    pub(crate) fn apply_within(mut self, text: &str, whole: Span) -> String {
        self.0.sort_by_key(|(part, _)| (part.start, part.end));
        let mut result = String::with_capacity(whole.len() + 64 * self.0.len());
        let mut done = whole.start as usize;
        for (part, new) in self.0 {
            let (start, end) = (part.start as usize, part.end as usize);
            debug_assert!(done <= start, "{part:?} was changed before");
            result.push_str(&text[done..start]);
            result.push_str(&new);
            done = end;
        }
        result.push_str(&text[done..whole.end as usize]);
        result
    }
}

/// Where `part`, a slice of `text`, lies in it.
pub(crate) fn position(text: &str, part: &str) -> Span {
    let start = (part.as_ptr() as usize - text.as_ptr() as usize) as u32;
    start..start + part.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_by_position_and_insertions_at_one_place_in_order() {
        let text = "add a, b;";
        let mut edits = Edits::default();
        edits.replace(position(text, &text[7..8]), "long");
        edits.insert(0, "1 ");
        edits.insert(0, "2 ");
        edits.replace(4..5, "");
        assert_eq!(edits.apply(text), "1 2 add , long;");
    }
}
