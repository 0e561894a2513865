//! A project, checked.

use std::env;
use std::path::{Path, PathBuf};

use cargo_metadata::{Error, MetadataCommand};
use simt::record::{self, Record};

use super::checked::Checked;
use super::{instrumented_cargo, status};
use crate::cli::{Failure, streams};

/// Runs cargo's command, or its tests, and says what was looked at.
pub(super) fn check(
    command: Option<&str>,
    arguments: &[String],
    seeds: u64,
) -> Result<(), Failure> {
    if value_of("--target-dir", arguments).is_some() {
        return Err(Failure::Usage(
            "--target-dir is not for a check, which makes a folder of its own in cargo's target \
             folder: set CARGO_TARGET_DIR"
                .to_owned(),
        ));
    }
    let target = folder_of_checks(value_of("--manifest-path", arguments).map(Path::new))?;
    let words = words_of_cargo(command, arguments);
    let what = format!("this project: `cargo {}`", joined(&words));
    let cargo = Instrumented {
        what: &what,
        words: &words,
        replay: replay(command, arguments),
        seeds,
    };
    cargo.run(&target)
}

/// A command of cargo's, in a build with checks.
pub(super) struct Instrumented<'a> {
    /// What is checked, for people.
    pub(super) what: &'a str,
    /// Cargo's command and its arguments.
    pub(super) words: &'a [String],
    /// The command line that a finding is repeated with.
    pub(super) replay: String,
    pub(super) seeds: u64,
}

impl Instrumented<'_> {
    /// Runs it with this target folder, and says what was looked at.
    pub(super) fn run(self, target: &Path) -> Result<(), Failure> {
        let records = tempfile::tempdir().map_err(Failure::failed)?;
        streams::complain(&format!(
            "Checking {}, built with checks in {}, which takes minutes the first time.",
            self.what,
            target.display()
        ));
        let mut cargo = instrumented_cargo(target)?;
        cargo
            .args(self.words)
            .env("RIDGEPOINT_SEEDS", self.seeds.to_string())
            .env(record::FOLDER, records.path())
            .env(record::REPLAY, self.replay);
        let has_passed = status(cargo)?.success();
        let records = Record::all_in(records.path()).map_err(Failure::failed)?;
        let checked = Checked::new(records);
        streams::print(checked.to_string().as_bytes());
        checked.verdict(has_passed)
    }
}

/// The folder for checks in cargo's target folder: that of the project in this folder, or of the one that
/// the manifest describes.
pub(super) fn folder_of_checks(manifest: Option<&Path>) -> Result<PathBuf, Failure> {
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(manifest) = manifest {
        command.manifest_path(manifest);
    }
    match command.exec() {
        Ok(metadata) => Ok(metadata.target_directory.join("check").into()),
        Err(Error::CargoMetadata { stderr }) => Err(Failure::Usage(format!(
            "no project to check: {}",
            stderr.trim().trim_start_matches("error: ")
        ))),
        Err(error) => Err(Failure::Failed(format!("cannot run cargo: {error}"))),
    }
}

fn words_of_cargo(command: Option<&str>, arguments: &[String]) -> Vec<String> {
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
fn own(arguments: &[String]) -> &[String] {
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
pub(super) fn joined(words: &[String]) -> String {
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
    fn the_folder_is_in_the_target_folder_of_the_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = |manifest: &str| folder_of_checks(Some(&root.join(manifest))).ok();
        let own = folder("Cargo.toml").expect("this is a package");
        assert!(own.ends_with("check"), "{}", own.display());
        assert_eq!(folder("crates/simt/Cargo.toml"), Some(own));
        assert_eq!(folder("no/Cargo.toml"), None);
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
