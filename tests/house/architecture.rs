//! Compares docs/architecture.md with the packages and the library's modules: which there are, which packages know which, who
//! prints, and which words pages share with verdicts. Which modules know which is in `layers.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Target};
use ridgepoint::model::{Limit, Situation};

/// Packages of this workspace, and what none of their dependencies is: of the driver what measures and
/// draws, of the library what a terminal needs.
const WITHOUT: [(&str, &[&str]); 7] = [
    (
        "ridgepoint-driver",
        &[
            "ridgepoint",
            "ridgepoint-harness",
            "clap",
            "comfy-table",
            "crossterm",
            "indicatif",
            "nvtx",
            "plotters",
            "ridgepoint-ranks",
        ],
    ),
    (
        "ridgepoint-ranks",
        &[
            "ridgepoint",
            "ridgepoint-harness",
            "clap",
            "crossterm",
            "indicatif",
            "plotters",
        ],
    ),
    (
        "ridgepoint-harness",
        &["ridgepoint", "clap", "crossterm", "indicatif"],
    ),
    ("ridgepoint-ptx-std", OF_THE_HOST),
    ("ridgepoint-ptx", OF_THE_HOST),
    ("ridgepoint-sfu", OF_THE_HOST),
    ("ridgepoint-occupancy", OF_THE_HOST),
];

/// Packages on which no kernel, and nothing that kernels are made of, depends.
const OF_THE_HOST: &[&str] = &[
    "cust",
    "ridgepoint",
    "ridgepoint-cuda-loader",
    "ridgepoint-driver",
    "ridgepoint-engine",
    "ridgepoint-harness",
    "ridgepoint-simt",
];

/// Words by which standard streams are written.
const PRINTS: &[&str] = &[
    "println!",
    "print!(",
    "dbg!(",
    "io::stdout",
    "io::stderr",
    "Term::std",
    "Target::std",
    ".print()",
];

/// Folders of sources, words that they do not have, and the files and folders in them that may.
const WITHOUT_WORDS: [(&str, &[&str], &[&str]); 5] = [
    ("host/src", &["clap"], &["cli"]),
    // A progress bar is drawn by indicatif, on standard error alone; a template is another package's program.
    (
        "host/src",
        PRINTS,
        &["cli/streams.rs", "cli/console.rs", "cli/new/template"],
    ),
    ("crates/harness/src", PRINTS, &[]),
    ("crates/ranks/src", PRINTS, &[]),
    // What the kernels print.
    ("crates/driver/src", PRINTS, &["replay.rs"]),
];

/// The packages that one depends on, by whatever way, but for its tests and build scripts.
fn dependencies(metadata: &Metadata, package: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().expect("what depends on what");
    let is_named = |node: &&Node| metadata[&node.id].name.as_str() == package;
    let package = resolve.nodes.iter().find(is_named);
    let mut left = vec![&package.expect("a package of this workspace").id];
    let mut found = BTreeSet::new();
    while let Some(id) = left.pop() {
        for dependency in &resolve[id].deps {
            let mut kinds = dependency.dep_kinds.iter();
            let name = metadata[&dependency.pkg].name.to_string();
            if kinds.any(|it| it.kind == DependencyKind::Normal) && found.insert(name) {
                left.push(&dependency.pkg);
            }
        }
    }
    found
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .other_options(["--filter-platform=x86_64-unknown-linux-gnu".to_owned()])
        .exec()
        .expect("cargo describes this workspace")
}

/// Those of the names that a package depends on.
fn present<'a>(metadata: &Metadata, package: &str, absent: &[&'a str]) -> Vec<&'a str> {
    let found = dependencies(metadata, package);
    let is_found = |it: &&str| found.contains(*it);
    absent.iter().copied().filter(is_found).collect()
}

#[test]
fn packages_know_no_others_than_they_should() {
    let metadata = metadata();
    for (package, absent) in WITHOUT {
        let present = present(&metadata, package, absent);
        assert!(present.is_empty(), "{package} depends on {present:?}");
    }
    // Nothing is missed for its name.
    let all = ["clap", "indicatif", "plotters", "cust", "ridgepoint-simt"];
    assert_eq!(present(&metadata, "ridgepoint", &all), all);
    let driver = present(&metadata, "ridgepoint-driver", OF_THE_HOST);
    assert_eq!(driver.len(), OF_THE_HOST.len() - 3, "{driver:?}");
}

#[test]
fn kernels_know_nothing_of_the_host() {
    let metadata = metadata();
    let of_kernels = metadata.workspace_packages().into_iter().filter(|package| {
        let folder = package.manifest_path.parent();
        let name = folder.and_then(|it| it.file_name()).unwrap_or_default();
        name.starts_with("kernels")
    });
    let of_kernels: Vec<&str> = of_kernels.map(|it| it.name.as_str()).collect();
    assert!(of_kernels.len() >= 6, "{of_kernels:?}");
    for package in of_kernels {
        let present = present(&metadata, package, OF_THE_HOST);
        assert!(present.is_empty(), "{package} depends on {present:?}");
    }
}

/// `cargo test` builds no program for them: `test = false`. The engine's tests are a program of another package.
#[test]
fn targets_without_a_test_program_have_no_tests() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let targets = packages.iter().flat_map(|package| &package.targets);
    let root = |target: &Target| fs::canonicalize(&target.src_path).expect("a source");
    let tested: BTreeSet<_> = targets
        .clone()
        .filter(|it| it.is_test())
        .map(root)
        .collect();
    let untested: Vec<_> = targets
        .filter(|target| !target.test && (target.is_lib() || target.is_bin()))
        .filter(|target| !tested.contains(&root(target)))
        .collect();
    assert!(untested.len() >= 30, "{untested:?}");
    for target in untested {
        let root = target.src_path.as_std_path();
        let beside = match target.is_lib() {
            true => sources(root.parent().expect("a folder")),
            false => Vec::new(),
        };
        for path in beside.iter().map(|(path, _)| &**path).chain([root]) {
            let text = fs::read_to_string(path).expect("text");
            assert!(!text.contains("#[test]"), "{}: never run", path.display());
        }
    }
}

/// The sources of a folder, without their unit tests, which may look at anything.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.map(|entry| entry.expect("readable").path()) {
        if entry.is_dir() {
            found.extend(sources(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&entry).expect("text");
            let code = text.split("#[cfg(test)]\nmod tests").next();
            found.push((entry, code.unwrap_or_default().to_owned()));
        }
    }
    found
}

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn library() -> PathBuf {
    tree().join("crates/harness/src")
}

/// The lines of code of a folder's files that have one of some words, but for files that may.
fn lines_with(folder: &Path, words: &[&str], but: &[&str]) -> Vec<String> {
    let sources = sources(folder);
    assert!(!sources.is_empty(), "{}: no sources", folder.display());
    let others = sources
        .iter()
        .filter(|(path, _)| !but.iter().any(|it| path.starts_with(folder.join(it))));
    let lines = others.flat_map(|(path, text)| {
        let code = text.lines().enumerate();
        let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
        code.filter(|(_, line)| words.iter().any(|word| line.contains(word)))
            .map(|(number, line)| format!("{}:{}: {}", path.display(), number + 1, line.trim()))
    });
    lines.collect()
}

#[test]
fn one_place_prints_and_the_command_line_alone_knows_clap() {
    for (folder, words, but) in WITHOUT_WORDS {
        let found = lines_with(&tree().join(folder), words, but);
        assert!(found.is_empty(), "{found:#?}");
        for it in but {
            assert!(tree().join(folder).join(it).exists(), "{folder}/{it}");
        }
    }
}

#[test]
fn a_word_that_must_not_stand_in_a_module_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::create_dir(path.join("inner")).expect("a folder");
    let planted = "//! crate::report may be named here.\nuse crate::report::Row;\n\
        fn say() { println!(\"here\"); }\n#[cfg(test)]\nmod tests { use crate::sweep; }\n";
    fs::write(path.join("inner/planted.rs"), planted).expect("written");
    let found = |words: &[&str], but: &[&str]| lines_with(path, words, but).len();
    assert_eq!(found(&["crate::report"], &[]), 1);
    assert_eq!(found(&["crate::report"], &["inner"]), 0);
    assert_eq!(found(PRINTS, &["inner/other.rs"]), 1);
    assert_eq!(found(&["crate::sweep"], &[]), 0);
}

/// The kernels' names in the sources of the library: where a workload is, its kernel is one hop away.
#[test]
fn a_sweep_names_no_kernel() {
    for module in ["sweep", "report", "compare"] {
        let found = lines_with(&library().join(module), &["kernels_gpu"], &[]);
        assert!(found.is_empty(), "{found:#?}");
    }
}

/// The folders of a folder, without that of a crate's own tests.
fn folders(path: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let entries = entries.map(|entry| entry.expect("readable"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "tests")
        .collect()
}

/// The packages of a folder, and those of its groups as `group/package`.
fn packages(path: &Path) -> BTreeSet<String> {
    let each = folders(path).into_iter().flat_map(|name| {
        let folder = path.join(&name);
        match folder.join("Cargo.toml").exists() {
            true => vec![name],
            false => packages(&folder)
                .into_iter()
                .map(|it| format!("{name}/{it}"))
                .collect(),
        }
    });
    each.collect()
}

/// The folders that a page lists, one or several at the beginning of each line that is indented below one that begins with a path.
fn listed(page: &str, below: &str) -> BTreeSet<String> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with(below));
    assert!(lines.next().is_some(), "no {below} in the page");
    let names = lines
        .take_while(|line| line.starts_with("  "))
        .flat_map(|line| line.split_whitespace().map_while(|it| it.strip_suffix('/')));
    names.map(str::to_owned).collect()
}

#[test]
fn the_page_lists_every_module_and_every_package() {
    let page = fs::read_to_string(tree().join("docs/architecture.md")).expect("the page");
    for (below, folder) in [
        ("host/src/", "host/src"),
        ("crates/harness/src ", "crates/harness/src"),
        ("crates/engine/src/", "crates/engine/src"),
    ] {
        assert_eq!(
            listed(&page, below),
            folders(&tree().join(folder)),
            "{below}"
        );
    }
    for package in packages(&tree().join("crates")) {
        let is_listed = |line: &str| line.starts_with(&format!("crates/{package}"));
        assert!(page.lines().any(is_listed), "crates/{package}");
    }

    let planted =
        "crates/engine/src/\n  lower/ arith/  programs in a/\n  exec/     warps\n\n  lost/\n";
    assert_eq!(
        listed(planted, "crates/engine/src/"),
        ["arith", "exec", "lower"].map(str::to_owned).into()
    );
}

/// The files of the tree that a page names, in backticks or as links, as they are written.
fn named_files(page: &str) -> BTreeSet<&str> {
    let words = page.split(|c: char| c.is_whitespace() || "`()|[],;".contains(c));
    words.filter(|word| word.ends_with(".rs")).collect()
}

#[test]
fn each_file_that_the_page_names_is_there() {
    let page = fs::read_to_string(tree().join("docs/architecture.md")).expect("the page");
    let folders = [
        "crates",
        "host",
        "tests",
        "benches",
        "examples",
        "kernels-gpu",
    ];
    let all: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| sources(&tree().join(folder)))
        .map(|(path, _)| path)
        .collect();
    let named = named_files(&page);
    assert!(named.len() > 40, "{named:?}");
    let is_there = |name: &&str| {
        let end = name.trim_start_matches("../");
        all.iter().any(|path| path.ends_with(end))
    };
    let lost: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(lost.is_empty(), "architecture.md names no file: {lost:?}");

    assert_eq!(
        named_files("see `a/b.rs`, [c](../d.rs) and e.md"),
        BTreeSet::from(["a/b.rs", "../d.rs"])
    );
}

/// Every sentence of advice.
fn advice() -> BTreeSet<&'static str> {
    let shares = [0.01, 0.1, 0.5, 0.8, 0.95];
    let pairs = shares.iter().flat_map(|&a| shares.map(|b| (a, b)));
    let limits = [Limit::Fma, Limit::AddMul, Limit::Special, Limit::Tensor];
    let all = pairs.flat_map(|(bandwidth_share, compute_share)| {
        (0..4 * 16).map(move |it| Situation {
            bandwidth_share,
            compute_share,
            arithmetic: limits[it % 4],
            load_bytes: (it / 4 % 2 == 0).then_some(4),
            in_l2: it / 8 % 2 == 0,
            strides: it / 16 % 2 == 0,
            is_small: it / 32 % 2 == 0,
        })
    });
    all.map(|it| it.advice()).collect()
}

/// Words of the advice that pages repeat, and which page does.
const REPEATED: [(&str, &str); 9] = [
    ("adding-a-workload.md", "load 16 bytes per thread"),
    ("reading-a-roofline.md", "narrower types"),
    ("reading-a-roofline.md", "reuse"),
    ("reading-a-roofline.md", "fewer operations"),
    ("reading-a-roofline.md", "a type with a higher roof"),
    ("reading-a-roofline.md", "more independent work per thread"),
    ("reading-a-roofline.md", "a grid-stride loop"),
    ("reading-a-roofline.md", "fewer bytes"),
    ("reading-a-roofline.md", "more stages in flight"),
];

/// Finds errors in the words that a page repeats.
fn unlike(page: &str, words: &str, advice: &BTreeSet<&str>) -> Vec<String> {
    let absent = (!page.contains(words)).then(|| format!("the page lacks {words:?}"));
    let is_said = advice.iter().any(|it| it.contains(words));
    let unsaid = (!is_said).then(|| format!("no advice says {words:?}"));
    absent.into_iter().chain(unsaid).collect()
}

#[test]
fn pages_repeat_the_words_of_the_advice() {
    let advice = advice();
    assert!(advice.len() >= 10, "{advice:#?}");
    for (page, words) in REPEATED {
        let text = fs::read_to_string(tree().join("docs").join(page)).expect("the page");
        assert_eq!(unlike(&text, words, &advice), [""; 0], "{page}");
    }
    assert_eq!(unlike("load 16 bytes", "load 8 bytes", &advice).len(), 2);
    assert_eq!(unlike("load 8 bytes", "load 8 bytes", &advice).len(), 1);
}
