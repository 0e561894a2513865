//! Lists of seeds, as words of a command and as files.

use std::fs;

/// Returns the seeds that a text names: numbers and ranges such as `5..9`, with commas, spaces or lines between them.
///
/// # Errors
/// A word is neither, or a range is longer than [`MOST`].
pub fn parse(text: &str) -> Result<Vec<u64>, String> {
    let words = text.split(|it: char| it == ',' || it.is_whitespace());
    let mut seeds = Vec::new();
    for word in words.filter(|it| !it.is_empty()) {
        let wrong = |_| format!("`{word}`: expected a seed, or a range of seeds such as 5..9");
        match word.split_once("..") {
            None => seeds.push(word.parse().map_err(wrong)?),
            Some((first, end)) => {
                let (first, end): (u64, u64) =
                    (first.parse().map_err(wrong)?, end.parse().map_err(wrong)?);
                if end.saturating_sub(first) > MOST {
                    return Err(format!("`{word}`: at most {MOST} seeds at once"));
                }
                seeds.extend(first..end);
            }
        }
    }
    Ok(seeds)
}

/// Seeds of one run.
pub const MOST: u64 = 100_000_000;

/// Returns the seeds of a file.
///
/// # Errors
/// It cannot be read, or see [`parse`].
pub fn read(path: &str) -> Result<Vec<u64>, String> {
    let text = fs::read_to_string(path).map_err(|it| format!("{path}: {it}"))?;
    parse(&text).map_err(|it| format!("{path}: {it}"))
}

/// Returns the text from which [`parse`] makes these seeds: a range where it is one.
pub fn text(seeds: &[u64]) -> String {
    let is_range = seeds
        .windows(2)
        .all(|it| it[0].checked_add(1) == Some(it[1]));
    match (seeds.first(), seeds.last().and_then(|it| it.checked_add(1))) {
        (Some(first), Some(end)) if is_range => format!("{first}..{end}"),
        _ => {
            let words: Vec<String> = seeds.iter().map(u64::to_string).collect();
            words.join(",")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_the_seeds_that_it_was_made_of() {
        for seeds in [&[][..], &[7], &[3, 4, 5], &[9, 2, 9], &[u64::MAX]] {
            assert_eq!(parse(&text(seeds)).as_deref(), Ok(seeds));
        }
        assert_eq!(text(&[3, 4, 5]), "3..6");
        assert_eq!(parse("1, 2\n5..7\n"), Ok(vec![1, 2, 5, 6]));
        for wrong in ["x", "1..", "-1", "0..18446744073709551615"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
