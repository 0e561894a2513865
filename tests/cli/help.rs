//! The help of every command, word for word: `tests/help` is what a reviewer reads.
//!
//! `RIDGEPOINT_BLESS=1 cargo test --test cli help::` writes it anew.

use crate::support;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The help of these words, at 100 characters.
fn help(words: &[&str]) -> String {
    let output = Command::new(support::ridgepoint())
        .args(words)
        .arg("--help")
        .env("COLUMNS", "100")
        .output();
    let output = output.expect("the command starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(str::trim_end);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The names of all commands.
pub(crate) fn commands() -> Vec<String> {
    let all = help(&[]);
    let (_, commands) = all.split_once("Commands:\n").expect("commands");
    let commands = commands.lines().take_while(|line| line.starts_with("  "));
    let names = commands.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let names: Vec<_> = names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    assert!(names.len() >= 20, "{names:?}");
    names
}

#[test]
fn the_help_of_every_command_is_as_it_was_reviewed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/help");
    let is_blessed = env::var_os("RIDGEPOINT_BLESS").is_some();
    let texts = commands().into_iter().map(|name| {
        let text = help(&[&name]);
        (name, text)
    });
    let texts = texts.chain([("ridgepoint".to_owned(), help(&[]))]);
    let mut files = BTreeSet::new();
    for (name, text) in texts {
        let path = folder.join(format!("{name}.txt"));
        if is_blessed {
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(&path, &text).expect("writable");
        }
        let reviewed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == reviewed,
            "{name} --help is not tests/cli/help/{name}.txt; RIDGEPOINT_BLESS=1 writes it:\n{text}"
        );
        files.insert(path);
    }
    let there = fs::read_dir(&folder).expect("the folder");
    let there = there.map(|entry| entry.expect("readable").path()).collect();
    assert_eq!(files, there, "files of commands that are no more");
}
