//! docs/property-tests.md, word for word: its kernels, tests and fuzz target in a new package, and its commands.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::super::{new, read, stdout_of_success, target, tree};
use crate::guides::{blocks, command, missing, typed};
use crate::support;

const PAGE: &str = "property-tests.md";

/// A file of the example, as a package named `demo` has it.
fn example(path: &str) -> String {
    read(tree().join("examples/properties").join(path))
        .replace(
            "use properties_kernels as kernels;\n",
            "use ::kernels::properties as kernels;\n",
        )
        .replace("properties_kernels::", "kernels::properties::")
        .replace("use properties::", "use demo::properties::")
}

/// The code without its layout, and without the uses before it.
fn words(code: &str) -> String {
    let code = code.lines().filter(|line| !line.starts_with("use "));
    code.flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The example's tests without what only they have: they expect the failure, and leave no file in the tree.
fn as_on_the_page(tests: &str) -> String {
    let tests = tests
        .replace(
            "ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }",
            "ProptestConfig::with_failure_persistence(WithSource(\"regressions\"))",
        )
        .replace(
            "use proptest::prelude::*;\n",
            "use proptest::prelude::*;\nuse proptest::test_runner::FileFailurePersistence::WithSource;\n",
        );
    let is_own = |line: &&str| line.trim_start().starts_with("#[should_panic");
    let lines = tests.lines().filter(|it| !is_own(it));
    lines.map(|it| format!("{it}\n")).collect()
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = read(path.to_owned());
    assert!(text.contains(from), "{path:?} has no {from:?}: {text}");
    fs::write(path, text.replacen(from, to, 1)).expect("writable");
}

/// Runs a command of the page, which may fail. Gives what a terminal would show, too.
fn typed_in(package: &Path, line: &str) -> (Output, String) {
    let mut shell = typed(&support::ridgepoint(), package, line);
    shell
        .env("CARGO_TARGET_DIR", target())
        // Of cases that are alike, the one on the page.
        .env("PROPTEST_RNG_SEED", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "none");
    let output = shell.output().expect("a shell");
    let said = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let said = said.concat();
    (output, said)
}

#[track_caller]
fn shows(sample: &str, printed: &str) {
    assert_eq!(missing(sample, printed), None, "{printed}");
}

#[test]
#[ignore = "slow: .ci/full runs it"]
fn the_guide_finds_the_smallest_cases_in_a_new_package() {
    let (_only, folder) = (support::only_demo(), support::folder_for_packages());
    stdout_of_success(&new(folder.path(), &["demo"]));
    let package = folder.path().join("demo");
    let [tests, kernels, fuzz] = files(&package);
    let code = blocks(PAGE, "rust,ignore");
    let [count_above, properties, again, unpack, fuzz_target] = &code[..] else {
        panic!("{} blocks", code.len());
    };
    let parts = |code: &str| code.split("\n\n").map(words).collect::<Vec<_>>();
    for (block, file) in [
        (count_above, &kernels),
        (properties, &tests),
        (unpack, &kernels),
        (fuzz_target, &fuzz),
    ] {
        for part in parts(block) {
            assert!(words(file).contains(&part), "{part}");
        }
    }

    let line = command("property-tests.md", "cargo test --test properties");
    let (output, said) = typed_in(&package, &line);
    assert_eq!(output.status.code(), Some(101), "{said}");
    let samples = blocks(PAGE, "text");
    shows(&samples[0], &said);
    let kept = read(package.join("tests/properties.regressions"));
    assert!(kept.contains("\ncc "), "{kept}");
    // Once more, the kept case comes first.
    let (_, said) = typed_in(&package, &line);
    assert!(said.contains("successes: 0\n"), "{said}");
    the_case_by_itself_fails_and_passes_without_the_bug(&package, again, &line);
    the_fuzzer_finds_the_missing_bounds(&package, &samples[1]);
}

/// Writes the page's files. Gives its tests, kernels and fuzz target.
fn files(package: &Path) -> [String; 3] {
    let tests = as_on_the_page(&example("tests/properties.rs"));
    let kernels = example("kernels/src/lib.rs").replace("#![no_std]\n\n", "");
    let fuzz = example("fuzz/src/unpack.rs");
    fs::create_dir_all(package.join("fuzz/src")).expect("writable");
    let [dependencies, manifest] = &blocks(PAGE, "toml")[..] else {
        panic!("two manifests are expected");
    };
    for (path, text) in [
        ("tests/properties.rs", &tests),
        ("kernels/src/properties.rs", &kernels),
        ("src/properties.rs", &example("src/lib.rs")),
        ("fuzz/src/unpack.rs", &fuzz),
        ("fuzz/Cargo.toml", manifest),
    ] {
        fs::write(package.join(path), text).expect("writable");
    }
    let uses = "use cuda_std::prelude::*;\n";
    let with_module = format!("{uses}\npub mod properties;\n");
    replace(&package.join("kernels/src/lib.rs"), uses, &with_module);
    let uses = "use kernels::scale;\n";
    let with_module = format!("pub mod properties;\n\n{uses}");
    replace(&package.join("src/lib.rs"), uses, &with_module);
    let own = package.join("Cargo.toml");
    replace(
        &own,
        "[dev-dependencies]\ngpu-test.workspace = true\n",
        dependencies,
    );
    replace(
        &own,
        "members = [\"kernels\", ",
        "members = [\"fuzz\", \"kernels\", ",
    );
    [tests, kernels, fuzz]
}

fn the_case_by_itself_fails_and_passes_without_the_bug(package: &Path, case: &str, line: &str) {
    let test = format!(
        "\n#[test]\nfn one_case() -> Result<(), DriverError> {{\n{case}assert_eq!(counted, 1);\nOk(())\n}}\n"
    );
    let tests = package.join("tests/properties.rs");
    fs::write(&tests, read(tests.clone()) + &test).expect("writable");
    let (_, said) = typed_in(package, line);
    assert!(said.contains("test one_case ... FAILED"), "{said}");
    assert!(
        said.contains("test what_is_packed_is_unpacked ... ok"),
        "{said}"
    );
    let kernels = package.join("kernels/src/properties.rs");
    replace(&kernels, "count.store(0, Relaxed);", "");
    replace(
        &package.join("src/properties.rs"),
        "buffer_filled(1, u32::MAX)",
        "buffer_filled(1, 0)",
    );
    let (output, said) = typed_in(package, line);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("3 passed; 0 failed"), "{said}");
}

fn the_fuzzer_finds_the_missing_bounds(package: &Path, sample: &str) {
    let failing = command("property-tests.md", "cargo run -p demo-fuzz -- -max_len=32");
    let (output, said) = typed_in(package, &failing);
    assert_eq!(output.status.code(), Some(77), "{said}");
    assert!(said.contains(": unpack: out of bounds: "), "{said}");
    let smaller = command(
        "property-tests.md",
        "cargo run -p demo-fuzz -- -minimize_crash=1",
    );
    typed_in(package, &smaller);
    let smallest = fs::read(package.join("smallest")).expect("it was made smaller");
    // Threads, the seed, the magic bytes and the head.
    assert_eq!((smallest.len(), &smallest[2..6]), (7, &b"RLE1"[..]));
    let alone = command("property-tests.md", "cargo run -p demo-fuzz -- smallest");
    let (output, said) = typed_in(package, &alone);
    assert_eq!(output.status.code(), Some(77), "{said}");
    // Which of the texts of this length it is depends on chance.
    let [finding, case] = sample.lines().collect::<Vec<_>>()[..] else {
        panic!("{sample}");
    };
    let begin = |line: &str, word: &str| line.split(word).next().unwrap_or_default().to_owned();
    assert!(said.contains(&begin(finding, "block [")), "{said}");
    assert!(said.contains("of `packed` (of 5 bytes) at "), "{said}");
    let text = said.lines().find(|line| line.starts_with("blocks of "));
    assert!(
        text.is_some_and(|it| it.contains("packed b\"RLE1\\x")),
        "{said}"
    );
    assert!(case.contains("packed b\"RLE1\\x"), "{case}");
}
