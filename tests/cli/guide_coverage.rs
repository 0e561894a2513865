//! Each command of the guides is run by a test, and each sample of output is compared with what its command prints, by
//! the test that runs the command. Each option that a page names is one that the command has.

mod elsewhere;

use crate::support;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::guides::{blocks, commands, fitting, missing};
use elsewhere::{AXES, Elsewhere, NOT_RUN, PACKAGES, RUN_BY_CI, RUN_WHOLE, TEMPLATE};

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The guides whose samples are compared.
const PAGES: [&str; 2] = ["measuring-your-kernel.md", "profiling-a-kernel.md"];

/// The samples that no test compares, by how they begin, and why.
const NOT_COMPARED: [(&str, &str); 1] = [("NVIDIA H200\n", "printed by a GPU")];

/// The first two strings of each call of a function in the sources of tests.
fn calls<'a>(tests: &'a str, function: &str) -> Vec<[&'a str; 2]> {
    let calls = tests.split(function).skip(1);
    let strings = calls.filter_map(|call| {
        let mut quoted = call.split('"').skip(1).step_by(2);
        Some([quoted.next()?, quoted.next()?])
    });
    strings.collect()
}

/// The samples of a page that no test's source names, and that have no reason.
fn forgotten(page: &str, samples: &[String], tests: &str) -> Vec<String> {
    let calls = calls(tests, "shows(");
    let is_named = |sample: &String| {
        let mut of_page = calls.iter().filter(|[named, _]| *named == page);
        of_page.any(|[_, begin]| sample.starts_with(begin))
    };
    let has_reason = |sample: &String| {
        NOT_COMPARED
            .iter()
            .any(|(begin, _)| sample.starts_with(begin))
    };
    let forgotten = samples.iter().filter(|it| !is_named(it) && !has_reason(it));
    forgotten.cloned().collect()
}

#[test]
fn every_sample_of_the_guides_is_compared_with_what_is_printed() {
    let tests = sources();
    for page in PAGES {
        let samples = blocks(page, "text");
        assert!(samples.len() >= 3, "{page}: {samples:?}");
        assert_eq!(forgotten(page, &samples, &tests), [""; 0], "{page}");
        let all = forgotten(page, &samples, "shows(\"another.md\", \"\", &printed)");
        assert!(!all.is_empty(), "{page}");
    }
}

#[test]
fn a_sample_that_is_not_what_is_printed_is_found() {
    let printed = "scale n = 65536  block =  64\n    0.9 GB/s ± 16.9 %, 20.8 % of the ceiling  8192 bytes in flight, \
        2234 needed  flagged: noisy\n\nscale: 100 % of the top speed (0.7 GB/s) from 75 % occupancy\n2 rows: occ.csv\n";
    let other = printed
        .replace("0.9 GB/s ± 16.9 %, 20.8", "17.0 GB/s ± 0.1 %, 3.0")
        .replace("2234 needed  flagged: noisy", "9 needed")
        .replace(
            "100 % of the top speed (0.7 GB/s) from 75",
            "97 % of the top speed (1.7 GB/s) from 100",
        );
    assert_eq!(missing(&other, printed), None);
    assert_eq!(
        missing("scale n = 65536 ..\n..\n2 rows: occ.csv", printed),
        None
    );
    for (from, to) in [
        ("64\n", "32\n"),
        ("8192 bytes", "4096 bytes"),
        ("2 rows", "3 rows"),
        ("top speed", "speed"),
    ] {
        assert!(
            missing(&printed.replace(from, to), printed).is_some(),
            "{to}"
        );
    }
    // In another order.
    assert!(missing("2 rows: occ.csv\nscale n = 65536 block = 64", printed).is_some());
    let table = "│ launch ┆ time ┆ ± % │\n│ scale f32, n 4096 ┆ 0.0414 ms ┆ 27.9 │\n";
    let wider = "┌──┐\n│ launch  ┆  time ┆ ± % │\n│ scale f32, n 4096 ┆ 0.04 ms ┆ 7.9 │\n";
    assert_eq!(missing(table, wider), None);
    assert!(missing(&table.replace("n 4096", "n 4097"), wider).is_some());
}

#[test]
fn the_readme_shows_the_kernel_of_a_new_package_and_a_finding_that_is_tested() {
    let read = |path: &str| fs::read_to_string(tree().join(path)).expect(path);
    let [kernel] = &blocks("../README.md", "rust")[..] else {
        panic!("one kernel is expected");
    };
    assert!(read("host/src/cli/new/template/kernels/src/lib.rs").contains(kernel));
    // crates/material/planted compares what this page shows with what is found.
    let [finding] = &blocks("../README.md", "text")[..] else {
        panic!("one finding is expected");
    };
    assert!(read("docs/testing-kernels.md").contains(finding));
}

/// All that readers type commands from, by their paths in `docs`. What was typed on some day stays as it was.
fn pages() -> Vec<String> {
    let docs = tree().join("docs");
    let in_docs = fs::read_dir(&docs)
        .expect("docs")
        .map(|it| it.expect("an entry").path());
    let packages = PACKAGES
        .iter()
        .flat_map(|folder| entries(&tree().join(folder)));
    let readmes = packages.map(|it| it.join("README.md"));
    let own = [
        "README.md",
        "CONTRIBUTING.md",
        TEMPLATE.trim_start_matches("../"),
    ];
    let own = own.map(|it| tree().join(it));
    let all = in_docs.chain(readmes.filter(|it| it.exists())).chain(own);
    let markdown = all.filter(|it| it.extension().is_some_and(|it| it == "md"));
    let named = markdown.map(|path: PathBuf| match path.strip_prefix(&docs) {
        Ok(name) => name.display().to_string(),
        Err(_) => format!(
            "../{}",
            path.strip_prefix(tree()).expect("in the tree").display()
        ),
    });
    named.collect()
}

/// All commands of a page. Blocks of other shells' names would not be looked at, so there are none.
fn commands_of(page: &str) -> Vec<String> {
    for language in ["bash", "shell", "console", "zsh"] {
        assert_eq!(
            blocks(page, language),
            [""; 0],
            "{page}: write sh for {language}"
        );
    }
    let blocks = blocks(page, "sh");
    blocks.iter().flat_map(|it| commands(it)).collect()
}

/// The commands that tests run, by the calls in their sources. The same one is on several pages.
fn run(all: &BTreeMap<String, Vec<String>>, tests: &str) -> Vec<String> {
    let named = calls(tests, "command(")
        .into_iter()
        .flat_map(|[page, begin]| {
            let of_page = all.get(page).map_or(&[][..], Vec::as_slice);
            fitting(of_page, begin).into_iter().cloned()
        });
    named.collect()
}

/// The commands of a page that are not among those that tests run, and that have no reason.
fn without_test(page: &str, commands: &[String], run: &[String]) -> Vec<String> {
    let has_reason = |command: &String| {
        let mut of_page = RUN_BY_CI
            .iter()
            .chain(&NOT_RUN)
            .filter(|it| it.page == page);
        of_page.any(|it| command == it.command)
    };
    let is_whole = |command: &String| page == RUN_WHOLE.0 && command.starts_with("ridgepoint ");
    // A folder is entered by the test, which starts there.
    let is_step = |command: &String| command.starts_with("cd ");
    let left = commands
        .iter()
        .filter(|it| !run.contains(it) && !has_reason(it) && !is_whole(it) && !is_step(it));
    left.cloned().collect()
}

/// The sources of the tests that run commands of guides, in one text.
fn sources() -> String {
    let packages = PACKAGES
        .iter()
        .flat_map(|folder| entries(&tree().join(folder)));
    let folders = packages
        .map(|it| it.join("tests"))
        .chain([tree().join("tests")]);
    let all = folders.flat_map(|it| files_below(&it));
    // These name no command that they run.
    let own = [
        "guide_coverage.rs",
        "guide_coverage/elsewhere.rs",
        "guides.rs",
    ];
    let is_own = |it: &Path| own.iter().any(|name| it.ends_with(name));
    let tests = all.filter(|it| it.extension().is_some_and(|it| it == "rs") && !is_own(it));
    tests
        .map(|it| fs::read_to_string(it).expect("a test"))
        .collect()
}

/// The paths in a folder; none where there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(folder).into_iter().flatten();
    folder.map(|it| it.expect("an entry").path()).collect()
}

/// The files in a folder and in the folders in it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let below = |it: PathBuf| match it.is_dir() {
        true => files_below(&it),
        false => vec![it],
    };
    entries(folder).into_iter().flat_map(below).collect()
}

#[test]
fn every_command_of_the_guides_is_run_by_a_test() {
    let tests = sources();
    let all: BTreeMap<String, Vec<String>> = pages()
        .into_iter()
        .map(|page| (page.clone(), commands_of(&page)))
        .collect();
    let run = run(&all, &tests);
    let count: usize = all.values().map(Vec::len).sum();
    assert!(count > 40, "{count} commands: {all:#?}");
    let left: Vec<String> = all
        .iter()
        .flat_map(|(page, commands)| {
            let left = without_test(page, commands, &run);
            left.into_iter()
                .map(move |command| format!("{page}: {command}"))
        })
        .collect();
    assert!(
        left.is_empty(),
        "run by no test, and without a reason: {left:#?}"
    );
    for it in RUN_BY_CI.iter().chain(&NOT_RUN) {
        let is_there = all[it.page].iter().any(|command| command == it.command);
        assert!(
            is_there,
            "{} has no command {:?} ({})",
            it.page, it.command, it.who
        );
    }
    let (page, test) = RUN_WHOLE;
    let source = fs::read_to_string(tree().join("tests/cli").join(test)).expect("a test");
    assert!(
        source.contains(&format!("blocks(\"{page}\", \"sh\")")),
        "{test} reads {page}"
    );
}

/// The first of the proofs that the tree does not have.
fn unproven(
    elsewhere: &Elsewhere,
    read: impl Fn(&str) -> String,
) -> Option<(&'static str, &'static str)> {
    let mut proofs = elsewhere.proofs.iter().copied();
    proofs.find(|(file, has)| !read(file).contains(has))
}

#[test]
fn a_command_without_a_test_is_run_by_who_is_said_to_run_it() {
    let read = |file: &str| fs::read_to_string(tree().join(file)).expect(file);
    for elsewhere in RUN_BY_CI.iter().chain(&NOT_RUN) {
        assert_eq!(unproven(elsewhere, read), None, "{}", elsewhere.command);
        assert!(unproven(elsewhere, |_| String::new()).is_some());
    }
}

#[test]
fn a_command_without_a_test_is_found() {
    let block = "ridgepoint norm --n 3   # why\n#!/bin/bash\nridgepoint chart a.csv \\\n    --output b.svg\n";
    let commands = commands(block);
    assert_eq!(
        commands,
        [
            "ridgepoint norm --n 3",
            "ridgepoint chart a.csv --output b.svg"
        ]
    );
    let page = "page.md".to_owned();
    let all = BTreeMap::from([(page, commands.clone())]);
    let run = run(
        &all,
        "succeeds(&command(\n    \"page.md\", \"ridgepoint norm\"))",
    );
    assert_eq!(without_test("page.md", &commands, &run), [&*commands[1]]);
    assert_eq!(without_test("other.md", &commands, &run), [&*commands[1]]);
    assert_eq!(without_test("page.md", &commands, &[]), commands);
    // A command is not run with those that begin like it.
    let both = ["cargo bench", "cargo bench -- check"].map(str::to_owned);
    assert_eq!(fitting(&both, "cargo bench"), [&both[0]]);
}

/// The code of a page: lines of blocks, and what stands between backquotes.
fn code(page: &str) -> Vec<String> {
    let path = tree().join("docs").join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut code = Vec::new();
    for (index, part) in text.split("```").enumerate() {
        match index % 2 {
            0 => code.extend(
                part.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|it| it.replace('\n', " ")),
            ),
            _ => code.extend(commands(part)),
        }
    }
    code
}

/// The command that a piece of code runs, and the options that it gives it.
fn options(code: &str) -> Option<(&str, Vec<&str>)> {
    let words = ["ridgepoint ", "cargo bench -- "]
        .iter()
        .find_map(|it| code.strip_prefix(it))?;
    let mut words = words.split_whitespace();
    let name = words
        .next()
        .filter(|it| it.starts_with(|it: char| it.is_ascii_lowercase()))?;
    // What follows is another program's.
    let words = words.take_while(|it| !["--", "|", "&&", ";"].contains(it));
    let options = words.filter(|it| it.starts_with("--"));
    Some((
        name,
        options
            .map(|it| it.split('=').next().unwrap_or(it))
            .collect(),
    ))
}

/// The options of pages that the commands do not have.
fn unknown(code: &[String], help: &BTreeMap<String, String>) -> Vec<String> {
    let named = code.iter().filter_map(|it| Some((it, options(it)?)));
    let wrong = named.filter(|(line, (name, options))| match help.get(*name) {
        Some(help) => options.iter().any(|option| {
            let is_it = |word: &str| word.trim_end_matches([',', ']', ':']) == *option;
            !AXES.contains(option) && !help.split_whitespace().any(is_it)
        }),
        // `cargo bench -- NAME` measures the workloads of a name.
        None => line.starts_with("ridgepoint "),
    });
    wrong.map(|(code, _)| code.clone()).collect()
}

#[test]
fn every_option_of_the_guides_is_one_that_the_command_has() {
    let printed = |arguments: &[&str]| {
        let output = Command::new(support::ridgepoint()).args(arguments).output();
        String::from_utf8(output.expect("the command starts").stdout).expect("text")
    };
    let all = printed(&["help"]);
    let (_, list) = all.split_once("Commands:\n").expect("commands");
    let list = list.lines().take_while(|line| line.starts_with("  "));
    let names = list.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let help = |name: &str| (name.to_owned(), printed(&[name, "--help"]));
    let help: BTreeMap<String, String> = names.map(help).collect();
    assert!(help.len() > 15, "{:?}", help.keys());
    let pages = pages();
    let code: Vec<String> = pages.iter().flat_map(|page| code(page)).collect();
    let count = code
        .iter()
        .filter_map(|it| options(it))
        .map(|(_, it)| it.len())
        .sum::<usize>();
    assert!(count > 60, "{count} options");
    assert_eq!(unknown(&code, &help), [""; 0]);
    let planted = [
        "ridgepoint roofline --size-of 3",
        "ridgepoint draw",
        "cargo bench -- compare --seeds 2",
    ];
    let planted = planted.map(str::to_owned);
    assert_eq!(unknown(&planted, &help), planted);
}
