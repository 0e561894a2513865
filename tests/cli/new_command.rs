//! `ridgepoint new` as a user meets it: what it writes builds, passes its test and runs, on a
//! machine that needs no GPU.

mod slow;

use crate::support;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::guides::{blocks, command, typed};
use tempfile::TempDir;

fn new(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .arg("new")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn stdout_of_success(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", stderr(output));
    text.into_owned()
}

/// Which other runs find again; inside this workspace's, so that the nested builds share their `core`.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("new-demo")
}

/// Runs cargo in a package, as its user does but for the target folder.
#[track_caller]
fn cargo(package: &Path, arguments: &[&str]) -> String {
    stdout_of_success(&run_cargo(package, arguments))
}

fn run_cargo(package: &Path, arguments: &[&str]) -> Output {
    let output = as_its_user(package, arguments).output();
    output.expect("cargo starts")
}

fn as_its_user(package: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        // What cargo told this test is not what a user's shell tells cargo.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
        .args(arguments)
        .current_dir(package)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true")
        // Nobody debugs what is built here.
        .env("CARGO_PROFILE_DEV_DEBUG", "none");
    command
}

/// Runs a command of a guide in a folder, word for word, and returns what a terminal would show.
#[track_caller]
fn follow(folder: &Path, page: &str, command: &str) -> String {
    let (output, said) = answer(folder, command);
    assert!(output.status.success(), "{page}: {command}: {said}");
    said
}

fn answer(folder: &Path, command: &str) -> (Output, String) {
    let mut shell = typed(&support::ridgepoint(), folder, command);
    shell.env("CARGO_TARGET_DIR", target());
    let output = shell.env("CARGO_PROFILE_DEV_DEBUG", "none").output();
    let output = output.expect("a shell");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        stderr(&output)
    );
    (output, said)
}

/// Whether a build of the package found `ptxas`, which lies in no folder above the package's own.
fn has_resource_report() -> bool {
    let builds = fs::read_dir(target().join("debug/build")).expect("it was built");
    let own = builds.flatten().filter(|build| {
        let name = build.file_name();
        name.to_string_lossy().starts_with("demo-")
    });
    let mut outputs = own.map(|build| build.path().join("out"));
    outputs.any(|out| out.join("kernels.resources.json").is_file())
}

#[test]
fn a_new_package_is_tidy_passes_its_test_and_runs() {
    let (_only, folder) = (support::only_demo(), support::folder_for_packages());
    let guide = "writing-kernels.md";
    let told = follow(
        folder.path(),
        guide,
        &command("writing-kernels.md", "ridgepoint new"),
    );
    for line in [
        "  cd demo\n",
        "  cargo test\n",
        "  cargo run\n",
        "  ridgepoint check --\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let package = folder.path().join("demo");
    // With --all cargo would look at this tree too.
    let mut all = vec!["fmt", "--check"];
    for package in ["demo", "demo-benches", "demo-kernels"] {
        all.extend(["-p", package]);
    }
    cargo(&package, &all);
    let tests = cargo(&package, &["test", "--workspace"]);
    assert!(has_resource_report(), "ptxas is in the source tree's .venv");
    builds_little_for_the_first_test(&package);
    for size in [0, 1, 31, 33, 1000, 65_537] {
        let passed = tests.lines().any(|line| {
            line.contains(&format!("emulator::scale::{size} ")) && line.ends_with("... ok")
        });
        assert!(passed, "{size}: {tests}");
    }
    // The guide's commands, and those of the page that the package has.
    let template = read(package.join("README.md"));
    let said_of_coverage = &blocks("coverage.md", "text")[0];
    let commands = [
        (
            command("writing-kernels.md", "cargo test"),
            "test result: ok",
        ),
        (
            command("writing-kernels.md", "cargo run"),
            "scaled 1000000 elements on ",
        ),
        (
            command("writing-kernels.md", "ridgepoint check --"),
            "nothing was found",
        ),
        (
            command("testing-kernels.md", "ridgepoint check --"),
            "nothing was found",
        ),
        (
            command("testing-kernels.md", "ridgepoint check --seeds 100"),
            "under 100 seeds",
        ),
        (
            command("coverage.md", "ridgepoint check --coverage lcov.info,"),
            said_of_coverage.as_str(),
        ),
        (
            command(
                "coverage.md",
                "ridgepoint check --coverage lcov.info --fail-under",
            ),
            "lines     100.0 % (3 of 3)",
        ),
    ];
    for (command, found) in commands {
        let said = follow(&package, guide, &command);
        assert!(said.contains(found), "{command}: {said}");
        assert!(
            !command.starts_with("cargo") || template.contains(&command),
            "{command}"
        );
    }
    // Its test compares all elements; that no slice has a negative length is the compiler's own doubt.
    let (output, said) = answer(
        &package,
        &command("mutation-testing.md", "ridgepoint mutate --"),
    );
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Mutation score 80.0 % (4 of 5)"), "{said}");
}

/// Checks that what measures and draws is for `cargo bench` alone.
fn builds_little_for_the_first_test(package: &Path) {
    let tree = ["tree", "-e", "normal,build,dev", "--prefix", "none", "-p"];
    let crates = |of: &str| -> BTreeSet<String> {
        let tree = cargo(package, &[&tree[..], &[of]].concat());
        let lines = tree
            .lines()
            .map(|line| line.trim_end_matches(" (*)").to_owned());
        lines.collect()
    };
    let (test, bench) = (crates("demo"), crates("demo-benches"));
    assert!((30..=85).contains(&test.len()), "{test:#?}");
    assert!(test.len() + 50 <= bench.len(), "{bench:#?}");
    let draws = |it: &String| it.starts_with("ridgepoint-harness ");
    assert!(
        bench.iter().any(draws) && !test.iter().any(draws),
        "{test:#?}"
    );
}

#[test]
fn a_package_names_the_tree_that_it_is_given_and_has_nothing_to_hide() {
    let folder = folder();
    let other = folder.path().join("a \"quoted\" tree");
    std::os::unix::fs::symlink(tree(), &other).expect("a link");
    stdout_of_success(&new(
        folder.path(),
        &["my-demo", "--path", other.to_str().expect("text")],
    ));
    let package = folder.path().join("my-demo");
    let manifest = read(package.join("Cargo.toml"));
    let root = fs::canonicalize(tree()).expect("this tree");
    assert!(manifest.contains(&format!("path = \"{}/crates/ptx-std\"", root.display())));
    assert!(manifest.contains("name = \"my-demo\"") && manifest.contains("\"my-demo-kernels\""));
    assert!(read(package.join("src/main.rs")).contains("use my_demo::"));
    assert_eq!(
        read(package.join("rust-toolchain.toml")),
        read(tree().join("rust-toolchain.toml"))
    );
    assert_eq!(read(package.join(".gitignore")), "/target\n");
    let config = read(package.join(".cargo/config.toml"));
    assert!(config.contains("\nRIDGEPOINT_WORKSPACE = "), "{config}");
    assert_eq!(entries(folder.path()), ["a \"quoted\" tree", "my-demo"]);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason_and_leaves_nothing_behind() {
    let folder = folder();
    let path = folder.path();
    let here = path.to_str().expect("text");
    let cases: [(&[&str], &str); 5] = [
        (
            &["1st"],
            "expected a letter from a to z, then letters, digits",
        ),
        (
            &["a/b"],
            "expected a letter from a to z, then letters, digits",
        ),
        (&["fn"], "it is a Rust keyword"),
        (&["simt"], "the package depends on a crate of this name"),
        (&["demo", "--path", here], "no Ridgepoint in "),
    ];
    for (arguments, reason) in cases {
        let output = new(path, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    assert_eq!(entries(path), [""; 0]);
}

#[test]
fn a_folder_that_exists_is_left_as_it_is() {
    let folder = folder();
    fs::create_dir(folder.path().join("demo")).expect("a folder");
    let output = new(folder.path(), &["demo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("demo exists"),
        "{}",
        stderr(&output)
    );
    assert_eq!(entries(&folder.path().join("demo")), [""; 0]);
    assert_eq!(entries(folder.path()), ["demo"]);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    // Not even root creates folders there.
    let output = new(Path::new("/proc"), &["demo"]);
    assert_eq!(output.status.code(), Some(3));
    let error = stderr(&output);
    assert!(error.contains("cannot create ./demo: "), "{error}");
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}
