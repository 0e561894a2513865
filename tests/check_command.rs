//! `ridgepoint check`: an instrumented build of a project, and what its tests then see.

use std::path::Path;
use std::process::Command;

/// Builds the planted bugs with instrumentation, once for as long as nothing changes.
#[test]
fn every_planted_bug_is_found_and_every_twin_is_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_ridgepoint"))
        .args(["check", "--", "--package", "planted"])
        .current_dir(root)
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("the command is there");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
    assert!(text.contains("; 0 ignored;"), "{text}");
}
