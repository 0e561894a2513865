//! docs/style.md, as far as a program can tell: phrases that were wrong once are in nothing that users read.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The phrases that the style sheet refuses.
fn refused() -> Vec<String> {
    let sheet = fs::read_to_string(root().join("docs/style.md")).expect("the style sheet");
    let (_, last) = sheet
        .split_once("## Refused phrases\n")
        .expect("its last section");
    let parts = plain(last);
    let lists = parts
        .split(". ")
        .flat_map(|part| part.split_once(": ").map(|(_, list)| list.to_owned()));
    let phrases = lists.flat_map(|list| {
        let phrases = list
            .split(", ")
            .map(|it| it.trim_end_matches('.').to_lowercase());
        phrases.collect::<Vec<_>>()
    });
    phrases.collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// `bytes a thread`, `copies an iteration` and the like: shares, which are written with "per".
fn shares() -> Vec<String> {
    let counted = [
        "bytes",
        "threads",
        "registers",
        "elements",
        "flop",
        "operations",
        "instructions",
        "loads",
        "lanes",
        "warps",
        "launches",
        "copies",
        "calls",
    ];
    let whole = [
        "a thread",
        "a lane",
        "a warp",
        "a cycle",
        "a second",
        "an element",
        "an iteration",
        "a step",
    ];
    let shares = counted.iter().flat_map(|counted| {
        whole
            .iter()
            .map(move |whole| format!(" {counted} {whole} "))
    });
    shares.collect()
}

/// In one line, in lower case, without the marks of comments.
fn plain(text: &str) -> String {
    let marks = ["//!", "///", "//"];
    let line = |line: &str| {
        let line = line.trim();
        let mark = marks.iter().find_map(|mark| line.strip_prefix(mark));
        mark.unwrap_or(line).trim_end_matches('\\').to_owned()
    };
    let text: Vec<String> = text.lines().map(line).collect();
    text.join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// The refused phrases in a text.
fn found<'a>(text: &str, refused: &'a [String]) -> Vec<&'a str> {
    let text = plain(text);
    let is_in = |phrase: &&String| text.contains(phrase.as_str());
    refused.iter().filter(is_in).map(String::as_str).collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
        let path = entry.expect("readable").path();
        // What was printed on some day stays as it was.
        let is_result = path.ends_with("docs/results");
        match path.is_dir() {
            true if !is_result => found.extend(files(&path, ending)),
            false if path.extension().is_some_and(|it| it == ending) => found.push(path),
            _ => {}
        }
    }
    found
}

#[test]
fn no_page_message_or_help_text_has_a_refused_phrase() {
    let refused = refused();
    assert!(refused.len() >= 22, "{refused:?}");
    let refused = [refused, shares()].concat();
    let pages = files(&root().join("docs"), "md").into_iter();
    let pages = pages.filter(|path| !path.ends_with("style.md"));
    let sources = ["host/src", "crates/harness/src"].into_iter();
    let sources = sources.flat_map(|folder| files(&root().join(folder), "rs"));
    let template = files(&root().join("host/src/cli/new/template"), "md");
    let readmes = files(&root().join("crates"), "md").into_iter();
    let readmes = readmes.filter(|path| path.ends_with("README.md"));
    let own = ["README.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    let all: Vec<PathBuf> = pages
        .chain(sources)
        .chain(template)
        .chain(readmes)
        .chain(own)
        .collect();
    assert!(all.len() > 100, "{} files", all.len());
    let wrong = all.iter().filter_map(|path| {
        let text = fs::read_to_string(path).expect("text");
        let phrases = found(&text, &refused);
        (!phrases.is_empty()).then(|| format!("{}: {phrases:?}", path.display()))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_refused_phrase_is_found_in_comments_in_strings_and_over_lines() {
    let refused = [refused(), shares()].concat();
    for text in [
        "/// Threads a\n/// block, as asked for.",
        "so many copies an\niteration are counted",
        "nothing is read that nobody has written",
        "\"so many bytes a \\\n   thread\"",
        "there are 8 blocks a multiprocessor",
    ] {
        assert!(!found(text, &refused).is_empty(), "{text}");
    }
    assert!(found("threads per block, bytes per thread", &refused).is_empty());
}

/// The first line of each comment of documentation that begins with "What": it does not say what a thing is.
fn beginning_with_what(text: &str) -> Vec<&str> {
    fn documented(line: &str) -> Option<&str> {
        let rest = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))?;
        Some(rest.trim())
    }
    let mut before = None;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let words = documented(line);
        if before.is_none_or(str::is_empty) && words.is_some_and(|it| it.starts_with("What ")) {
            found.push(line);
        }
        before = words;
    }
    found
}

#[test]
fn documentation_begins_with_what_a_type_is_or_a_function_does() {
    let folders = [
        "benches",
        "crates",
        "examples",
        "host",
        "kernels-gpu",
        "kernels-hopper",
        "tests",
    ];
    let sources = folders
        .into_iter()
        .flat_map(|it| files(&root().join(it), "rs"));
    let sources: Vec<PathBuf> = sources
        .filter(|it| !it.ends_with("house/style.rs"))
        .collect();
    assert!(sources.len() > 1000, "{} files", sources.len());
    let wrong = sources.iter().flat_map(|path| {
        let text = fs::read_to_string(path).expect("text");
        let lines = beginning_with_what(&text).into_iter();
        let told = lines.map(|line| format!("{}: {line}", path.display()));
        told.collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");

    let planted = "/// What it has.\nx: u8,\n/// A line.\n/// What follows goes on.\nmod a;\n//! What a module does.";
    assert_eq!(
        beginning_with_what(planted),
        ["/// What it has.", "//! What a module does."]
    );
}

/// The address of a heading: what GitHub and mdBook make of it.
fn address(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|it| it.is_alphanumeric() || [' ', '-', '_'].contains(it));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

/// A page without its comments.
fn shown(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once("-->").map_or("", |(_, shown)| shown));
    first + &rest.collect::<String>()
}

/// Links of a page to files or headings that are not there.
fn broken(path: &Path, text: &str) -> Vec<String> {
    let folder = path.parent().expect("a file is in a folder");
    let text = shown(text);
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    let mut broken = Vec::new();
    for (target, _) in targets {
        let is_elsewhere = ["http", "mailto:"].iter().any(|it| target.starts_with(it));
        if is_elsewhere || target.contains([' ', '\n']) {
            continue;
        }
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() {
            path.to_path_buf()
        } else {
            folder.join(file)
        };
        let is_there = match fs::read_to_string(&file) {
            _ if !file.exists() => false,
            Ok(page) if !heading.is_empty() && file.extension().is_some_and(|it| it == "md") => {
                page.lines()
                    .any(|line| line.starts_with('#') && address(line) == heading)
            }
            _ => true,
        };
        if !is_there {
            broken.push(format!("{}: {target}", path.display()));
        }
    }
    broken
}

#[test]
fn links_of_pages_lead_somewhere_and_the_table_of_contents_has_every_page() {
    let root = root();
    let pages = files(&root.join("docs"), "md").into_iter();
    let readmes = files(&root.join("crates"), "md").into_iter();
    let readmes = readmes.filter(|path| path.ends_with("README.md"));
    let own = ["README.md", "CONTRIBUTING.md"].map(|name| root.join(name));
    let all: Vec<PathBuf> = pages.chain(readmes).chain(own).collect();
    assert!(all.len() > 25, "{} pages", all.len());
    let read = |path: &PathBuf| fs::read_to_string(path).expect("text");
    let wrong: Vec<String> = all
        .iter()
        .flat_map(|path| broken(path, &read(path)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");

    let planted =
        "[a](nothere.md) [b](docs/style.md#nothing) [c](docs/style.md#numbers) [d](https://x)";
    assert_eq!(broken(&root.join("README.md"), planted).len(), 2);
    assert_eq!(shown("a <!-- [b](nothere.md)\n--> c"), "a  c");

    let contents = read(&root.join("docs/SUMMARY.md"));
    for page in fs::read_dir(root.join("docs")).expect("docs") {
        let name = page
            .expect("readable")
            .file_name()
            .into_string()
            .expect("text");
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(
                contents.contains(&format!("({name})")),
                "docs/SUMMARY.md lacks {name}"
            );
        }
    }
}

fn ridgepoint(arguments: &[&str]) -> String {
    let output = Command::new(support::ridgepoint()).args(arguments).output();
    let output = output.expect("the command starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn there_are_completions_for_each_shell_and_a_page_for_each_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ridgepoint(&["completions", shell]);
        assert!(
            script.contains("roofline") && script.contains("roofs"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("completions.bash");
    fs::write(&path, ridgepoint(&["completions", "bash"])).expect("writable");
    let bash = Command::new("bash").arg("-n").arg(&path).status();
    assert!(bash.expect("bash is there").success());

    let pages = folder.path().join("man");
    ridgepoint(&["man", "--output", pages.to_str().expect("text")]);
    let help = ridgepoint(&["help"]);
    let (_, commands) = help.split_once("Commands:\n").expect("commands");
    let commands = commands.lines().take_while(|line| line.starts_with("  "));
    let names = commands
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() >= 18, "{names:?}");
    for name in names {
        let page = fs::read_to_string(pages.join(format!("ridgepoint-{name}.1")));
        assert!(page.expect(name).contains(".SH OPTIONS"), "{name}");
    }
    assert!(
        ridgepoint(&["man", "roofline"]).contains("predict")
            || ridgepoint(&["man", "roofline"]).contains("roofs")
    );
    let version = ridgepoint(&["--version"]);
    assert!(version.contains("embedded PTX: sm_"), "{version}");
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(root())
        .output();
    let is_checkout = head.is_ok_and(|head| head.status.success());
    assert!(
        !is_checkout || version.contains('('),
        "the commit: {version}"
    );
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    for command in [
        "roofline",
        "occupancy",
        "run",
        "profile",
        "check",
        "pipeline",
        "power",
        "links",
        "chart",
    ] {
        let output = Command::new(support::ridgepoint())
            .args([command, "--help"])
            .env("COLUMNS", "80")
            .output();
        let help = String::from_utf8(output.expect("the command starts").stdout).expect("text");
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(
            longest.is_some_and(|it| it <= 80),
            "{command}: {longest:?}\n{help}"
        );
    }
}
