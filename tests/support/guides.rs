//! The samples of output in guides, beside what the commands print.
//!
//! A sample is a block of `text` in a page of `docs`. It is compared line by line: each of its lines is one of the
//! output's, in the same order. What depends on the host's speed is masked (times, rates, their noise), and so are the
//! lines of tables. A line of `..` stands for any, and one that ends in `..` for all that begin like it.

use std::fs;
use std::path::Path;

/// The blocks of a language in a page of `docs`.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let begin = format!("```{language}\n");
    let blocks = text.split(&begin).skip(1);
    let blocks = blocks.map(|it| it.split("```").next().unwrap_or_default().to_owned());
    blocks.collect()
}

/// Asserts that a command printed what a page shows: its sample that begins with `begin`.
#[track_caller]
#[allow(dead_code, reason = "one test asks for the blocks alone")]
pub(crate) fn shows(page: &str, begin: &str, printed: &str) {
    let samples = blocks(page, "text");
    let mut fitting = samples.iter().filter(|it| it.starts_with(begin));
    let sample = fitting.next();
    let sample =
        sample.unwrap_or_else(|| panic!("{page} has no sample that begins with {begin:?}"));
    assert!(
        fitting.next().is_none(),
        "{page}: two samples begin with {begin:?}"
    );
    if let Some(missing) = missing(sample, printed) {
        panic!("{page} shows {missing:?}, which was not printed, or not there:\n{printed}");
    }
}

/// The first line of a sample that the output does not have, behind the line before it.
pub(crate) fn missing(sample: &str, printed: &str) -> Option<String> {
    let printed: Vec<String> = printed.lines().filter_map(plain).collect();
    let mut from = 0;
    for line in sample.lines().filter_map(plain) {
        let is_it = |it: &String| match line.strip_suffix("..") {
            Some(begin) => it.starts_with(begin.trim_end()),
            None => *it == line,
        };
        match printed[from..].iter().position(is_it) {
            Some(at) if line != ".." => from += at + 1,
            Some(_) => {}
            None => return Some(line),
        }
    }
    None
}

/// A line without what differs from host to host and from run to run. None of it is left of a table's rules.
fn plain(line: &str) -> Option<String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['┌', '╞', '└']) {
        return None;
    }
    let words = line.split("  flagged: ").next()?.split_whitespace();
    let words: Vec<&str> = words.collect();
    if words.contains(&"┆") && words.contains(&"ms") {
        // A measured launch: what was launched.
        return Some(words.join(" ").split(" ┆").next()?.to_owned());
    }
    // What is predicted, or a data sheet's, is the same everywhere.
    if ["predicted", "f32 roofs"]
        .iter()
        .any(|it| line.starts_with(it))
    {
        return Some(words.join(" "));
    }
    let is_measured = |at: usize| {
        let next = |count: usize| words.get(at + count).copied().unwrap_or_default();
        let unit = next(1).trim_end_matches(['s', ')', ',', ':']);
        let is_rate = ["GB/", "GFLOP/", "m", "needed", "core"].contains(&unit);
        is_rate
            || at > 0 && ["±", "from"].contains(&words[at - 1])
            || next(1) == "%" && next(2) == "of"
    };
    let masked = words.iter().enumerate().map(|(at, word)| {
        let is_number = word
            .trim_start_matches('(')
            .starts_with(|it: char| it.is_ascii_digit());
        if is_number && is_measured(at) {
            "#"
        } else {
            word
        }
    });
    Some(masked.collect::<Vec<_>>().join(" "))
}
