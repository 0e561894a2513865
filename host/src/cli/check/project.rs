//! A project, checked.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{Error, MetadataCommand};
use clap::ColorChoice;

use super::{How, Observed};
use crate::cli::console::Target;
use crate::cli::{Failure, colours, streams};
use crate::driver::record;

/// Runs cargo's command, or its tests, and says what was looked at.
pub(super) fn check(
    command: Option<&str>,
    arguments: &[String],
    how: How<'_>,
) -> Result<(), Failure> {
    expect_project(arguments)?;
    let words = words_of_cargo(command, arguments);
    if how.printed.target() != Target::Nothing {
        streams::complain(&format!(
            "Checking this project: `cargo {}`",
            joined(&words)
        ));
    }
    let mut program = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    program.args(words);
    let typed: Vec<OsString> = env::args_os().collect();
    match colours::asked_for(&typed) {
        ColorChoice::Auto => {}
        choice => {
            program.env("CARGO_TERM_COLOR", choice.to_string());
        }
    }
    let observed = Observed {
        program,
        replay: replay(command, arguments),
        how,
    };
    observed.run()
}

/// Fails where there is no project in this folder, or none that the manifest describes.
pub(in crate::cli) fn expect_project(arguments: &[String]) -> Result<(), Failure> {
    let manifest = value_of("--manifest-path", arguments).map(Path::new);
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(manifest) = manifest {
        command.manifest_path(manifest);
    }
    match command.exec() {
        Ok(_) => Ok(()),
        Err(Error::CargoMetadata { stderr }) => Err(Failure::Usage(format!(
            "no project to check: {}",
            stderr.trim().trim_start_matches("error: ")
        ))),
        Err(error) => Err(Failure::Failed(format!("cannot run cargo: {error}"))),
    }
}

/// The words behind `cargo`: a command, or its tests without those in documentation.
pub(in crate::cli) fn words_of_cargo(command: Option<&str>, arguments: &[String]) -> Vec<String> {
    let names_targets = own(arguments)
        .iter()
        .any(|argument| names_targets(argument));
    let words: &[&str] = match command {
        Some(command) => &[command],
        None if names_targets => &["test"],
        // Without those in documentation, which rustdoc compiles by itself.
        None => &["test", "--tests"],
    };
    let words = words.iter().map(|&word| word.to_owned());
    words.chain(arguments.iter().cloned()).collect()
}

/// Cargo's own arguments: those before another `--`, behind which a program's begin.
pub(in crate::cli) fn own(arguments: &[String]) -> &[String] {
    let end = arguments.iter().position(|argument| argument == "--");
    &arguments[..end.unwrap_or(arguments.len())]
}

/// Whether an argument of `cargo test` says which tests are meant.
fn names_targets(argument: &str) -> bool {
    [
        "--test",
        "--lib",
        "--bin",
        "--example",
        "--bench",
        "--all-targets",
    ]
    .iter()
    .any(|flag| argument.starts_with(flag))
}

/// The value of one of cargo's own options.
fn value_of<'a>(option: &str, arguments: &'a [String]) -> Option<&'a str> {
    let arguments = own(arguments);
    let joined = |argument: &'a String| argument.strip_prefix(option)?.strip_prefix('=');
    let apart = |pair: &'a [String]| (pair[0] == option).then_some(&*pair[1]);
    let mut pairs = arguments.windows(2);
    arguments
        .iter()
        .find_map(joined)
        .or_else(|| pairs.find_map(apart))
}

/// This command as it is typed again, in the same folder. A test program's arguments are left out,
/// because those that name a single test come in their place.
fn replay(command: Option<&str>, arguments: &[String]) -> String {
    let program = env::args().next();
    let mut words = vec![program.unwrap_or_else(|| "ridgepoint".to_owned())];
    words.push("check".to_owned());
    if let Some(command) = command {
        words.extend(["--cargo".to_owned(), command.to_owned()]);
    }
    words.push("--".to_owned());
    match command {
        None | Some("test" | "t" | "bench") => {
            words.extend(without_filter(own(arguments)));
            joined(&words) + record::EXACT
        }
        Some(_) => {
            words.extend(arguments.iter().cloned());
            joined(&words)
        }
    }
}

/// Arguments of `cargo test` without the one that is not an option's: part of tests' names.
fn without_filter(arguments: &[String]) -> impl Iterator<Item = String> {
    const WITH_VALUE: [&str; 21] = [
        "-p",
        "--package",
        "--exclude",
        "--test",
        "--bin",
        "--example",
        "--bench",
        "-F",
        "--features",
        "-j",
        "--jobs",
        "--profile",
        "--target",
        "--manifest-path",
        "--lockfile-path",
        "--color",
        "--message-format",
        "--config",
        "-Z",
        "-C",
        "--artifact-dir",
    ];
    let mut is_value = false;
    let is_kept = move |argument: &&String| {
        let is_kept = is_value || argument.starts_with('-');
        is_value = !is_value && WITH_VALUE.contains(&argument.as_str());
        is_kept
    };
    arguments.iter().filter(is_kept).cloned()
}

/// As a shell reads them.
pub(in crate::cli) fn joined(words: &[String]) -> String {
    let words = words.iter().map(String::as_str);
    // An argument of a process has no byte 0.
    shlex::try_join(words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn cargo_runs_tests_or_what_it_is_told_to() {
        for (command, arguments, expected) in [
            (None, "", "test --tests"),
            (None, "-p demo", "test --tests -p demo"),
            (None, "--test scale", "test --test scale"),
            (
                None,
                "-- --test-threads 1",
                "test --tests -- --test-threads 1",
            ),
            (Some("run"), "--bin x -- -n 1", "run --bin x -- -n 1"),
        ] {
            let actual = words_of_cargo(command, &words(arguments));
            assert_eq!(actual, words(expected), "{arguments}");
        }
    }

    #[test]
    fn a_replay_has_cargos_own_options_and_no_other_filter() {
        for (command, arguments, expected) in [
            (None, "", "check -- -- --exact"),
            (None, "-p demo scale", "check -- -p demo -- --exact"),
            (
                None,
                "--release --features=a,b x -j 2 -- --nocapture y",
                "check -- --release '--features=a,b' -j 2 -- --exact",
            ),
            (
                Some("bench"),
                "--bench b",
                "check --cargo bench -- --bench b -- --exact",
            ),
            (
                Some("run"),
                "--bin x -- -n 1",
                "check --cargo run -- --bin x -- -n 1",
            ),
        ] {
            let actual = replay(command, &words(arguments));
            assert!(actual.ends_with(&format!(" {expected}")), "{actual}");
        }
    }

    #[test]
    fn an_options_value_is_beside_it_or_behind_an_equals_sign() {
        for (arguments, expected) in [
            ("--manifest-path a/Cargo.toml", Some("a/Cargo.toml")),
            ("-p x --manifest-path=a/Cargo.toml", Some("a/Cargo.toml")),
            ("-p x -- --manifest-path b", None),
            ("--manifest-path", None),
        ] {
            let arguments = words(arguments);
            assert_eq!(value_of("--manifest-path", &arguments), expected);
        }
    }
}
