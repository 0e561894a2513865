//! `--color`, which every command has.

use std::ffi::OsString;

use clap::{Args, ColorChoice, ValueEnum};

use crate::report::Paint;

#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// When to color the output: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        display_order = 990
    )]
    color: ColorChoice,
}

const OPTION: &str = "--color";

/// Returns the choice that these words ask for. Clap writes help and errors before it has read the option, so they are
/// looked through first; a value that clap will refuse counts as none.
pub(super) fn asked_for(words: &[OsString]) -> ColorChoice {
    let own = words.iter().take_while(|word| *word != "--");
    let words: Vec<String> = own
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let joined = words
        .iter()
        .filter_map(|word| word.strip_prefix(OPTION)?.strip_prefix('='));
    let apart = words.windows(2).filter(|pair| pair[0] == OPTION);
    let value = joined.chain(apart.map(|pair| pair[1].as_str())).next_back();
    let choice = value.and_then(|value| ColorChoice::from_str(value, false).ok());
    choice.unwrap_or(ColorChoice::Auto)
}

/// How many words at the beginning are this option and its value.
pub(super) fn length(words: &[OsString]) -> usize {
    let mut length = 0;
    while let Some(word) = words.get(length) {
        let word = word.to_string_lossy();
        length += match word.strip_prefix(OPTION) {
            Some("") => 2,
            Some(value) if value.starts_with('=') => 1,
            _ => break,
        };
    }
    length
}

/// Colours all that is written from now on, or nothing; or as the streams are. The result is for clap, which
/// otherwise colours the terminal of a CI job even where `TERM` is `dumb`.
pub(super) fn choose(choice: ColorChoice) -> ColorChoice {
    let always = match choice {
        ColorChoice::Auto if console::colors_enabled() || console::colors_enabled_stderr() => {
            return choice;
        }
        ColorChoice::Auto => return ColorChoice::Never,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
    };
    console::set_colors_enabled(always);
    console::set_colors_enabled_stderr(always);
    choice
}

/// Whether what is drawn on standard output has colours.
pub(super) fn of_charts() -> Paint {
    match console::colors_enabled() {
        true => Paint::Ansi,
        false => Paint::Plain,
    }
}

/// A message with the word that it begins with, `error:` or `warning:`, in the colour that clap gives it.
pub(super) fn of_message(text: &str) -> String {
    let styled = console::Style::new().for_stderr().bold();
    let words = [
        ("error:", styled.clone().red()),
        ("warning:", styled.clone().yellow()),
        ("note:", styled.cyan()),
    ];
    let found = words
        .iter()
        .find_map(|(word, style)| Some((word, style, text.strip_prefix(word)?)));
    match found {
        Some((word, style, rest)) => format!("{}{rest}", style.apply_to(word)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_before_the_two_dashes_counts() {
        for (line, expected) in [
            ("list", ColorChoice::Auto),
            ("--color never list", ColorChoice::Never),
            ("list --color=always", ColorChoice::Always),
            ("list --color=always --color never", ColorChoice::Never),
            ("check -- --color always", ColorChoice::Auto),
            ("list --color", ColorChoice::Auto),
            ("list --color=mauve", ColorChoice::Auto),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(asked_for(&words), expected, "{line}");
        }
    }
}
