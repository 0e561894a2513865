//! `ridgepoint check`: an instrumented build of a project, and what its tests then see.

use std::path::Path;
use std::process::Command;

use ridgepoint::kernels;

/// Runs `ridgepoint check` here, which builds with instrumentation, once for as long as nothing changes.
#[track_caller]
fn check(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ridgepoint"))
        .arg("check")
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("the command is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
    text
}

#[test]
fn every_planted_bug_is_found_and_every_twin_is_clean() {
    let text = check(&["--", "--package", "planted"]);
    assert!(text.contains("; 0 ignored;"), "{text}");
}

#[test]
fn every_embedded_kernel_is_clean() {
    let text = check(&["--seeds", "1"]);
    for kernel in kernels::names() {
        let row = text
            .lines()
            .find(|line| line.split_whitespace().any(|word| word == kernel));
        let row = row.unwrap_or_else(|| panic!("no {kernel} in {text}"));
        assert!(
            row.contains("races, divergence, uninitialised, bounds"),
            "{row}"
        );
        assert!(row.trim_end_matches([' ', '│']).ends_with(" 0"), "{row}");
    }
}
