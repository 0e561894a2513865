//! The commands of guides, for tests to run word for word, and the samples of output beside what the commands print.
//!
//! A sample is a block of `text` in a page of `docs`. It is compared line by line: each of its lines is one of the
//! output's, in the same order. What depends on the host's speed is masked (times, rates, their noise), and so are the
//! lines of tables. A line of `..` stands for any, and one that ends in `..` for all that begin like it.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A command of a page, word for word: this one, or the only one that begins like this.
///
/// `tests/cli/guide_coverage.rs` looks for these calls: a command without one has no test.
#[track_caller]
#[allow(dead_code, reason = "not every test runs commands")]
pub(crate) fn command(page: &str, begin: &str) -> String {
    let commands = commands(&blocks(page, "sh").concat());
    let [command] = fitting(&commands, begin)[..] else {
        panic!("one command of {page} must begin with {begin:?}: {commands:#?}");
    };
    command.clone()
}

/// The commands that are this one, or else all that begin like this.
#[allow(dead_code, reason = "not every test runs commands")]
pub(crate) fn fitting<'a>(commands: &'a [String], begin: &str) -> Vec<&'a String> {
    let is_whole = commands.iter().any(|it| it == begin);
    let fits = |it: &&String| match is_whole {
        true => *it == begin,
        false => it.starts_with(begin),
    };
    commands.iter().filter(fits).collect()
}

/// The commands of a block: lines without comments, with those that they go on in.
#[allow(dead_code, reason = "not every test runs commands")]
pub(crate) fn commands(block: &str) -> Vec<String> {
    let block = block.replace("\\\n", " ");
    let lines = block.lines().map(|line| {
        let command = line.split("  #").next().unwrap_or_default();
        command.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let is_command = |line: &String| !line.is_empty() && !line.starts_with('#');
    lines.filter(is_command).collect()
}

/// Has a shell run a command in a folder, where `ridgepoint` is the one that is tested.
#[allow(dead_code, reason = "not every test runs commands")]
pub(crate) fn typed(ridgepoint: &Path, folder: &Path, command: &str) -> Command {
    let own = ridgepoint.parent().expect("a program is in a folder");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = [own.to_path_buf()]
        .into_iter()
        .chain(std::env::split_paths(&others));
    let path = std::env::join_paths(all).expect("folders");
    let mut shell = Command::new("bash");
    for (name, _) in std::env::vars_os() {
        // What cargo told this test is not what a user's shell tells cargo.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            shell.env_remove(&name);
        }
    }
    shell.args(["-euo", "pipefail", "-c", command]);
    shell
        .current_dir(folder)
        .env("PATH", path)
        .env("CARGO_NET_OFFLINE", "true");
    shell
}

/// The blocks of a language in a page of `docs`.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    // A crate's own tests read the guides of the tree, too.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let docs = folders.find_map(|it| Some(it.join("docs")).filter(|it| it.is_dir()));
    let path = docs.expect("the tree's guides").join(page);
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
