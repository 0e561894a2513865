//! Text that others have written: files, kernels, the network.

use std::borrow::Cow;

/// Returns text such that a terminal shows its control characters and does not obey them, ends of lines included. Those
/// that turn the direction of writing are control characters here, too.
///
/// ```
/// use ridgepoint_driver::printable;
///
/// assert_eq!(printable("saxpy"), "saxpy");
/// assert_eq!(printable("a\u{1b}[2Jb\nc"), r"a\u{1b}[2Jb\nc");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, obeys)
}

/// Returns text of several lines as [`printable`] does, with its ends of lines and tabs as they are.
///
/// ```
/// use ridgepoint_driver::printable_lines;
///
/// assert_eq!(printable_lines("a\u{7}\tb\nc"), "a\\u{7}\tb\nc");
/// ```
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    shown(text, |letter| {
        obeys(letter) && !matches!(letter, '\n' | '\t')
    })
}

fn shown(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_hidden(letter) {
            true => shown.extend(letter.escape_debug()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something else than to show it.
fn obeys(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let all: String = ('\0'..='\u{2fff}').collect();
        assert!(!printable(&all).contains(obeys));
        let lines = printable_lines(&all).into_owned();
        assert_eq!(lines.matches(obeys).collect::<String>(), "\t\n");
        let plain: String = all.chars().filter(|letter| !obeys(*letter)).collect();
        assert!(matches!(printable(&plain), Cow::Borrowed(_)));
    }
}
