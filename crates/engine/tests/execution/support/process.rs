//! A process of its own for a test, and what it takes of the host's memory; crates/internal/simt has it, too.

use std::env;
use std::fs;
use std::process::Command;

/// Set in a process that runs one test.
const ALONE: &str = "RIDGEPOINT_TEST_ALONE";

/// Runs a test in a process of its own: this program, started again with this test alone.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if env::var_os(ALONE).is_some() {
        return body();
    }
    let mut again = Command::new(env::current_exe().expect("this program's file"));
    again.args(["--exact", test, "--nocapture"]).env(ALONE, "");
    let output = again.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let has_passed = output.status.success() && said.contains(" 1 passed; 0 failed");
    assert!(has_passed, "{test} alone:\n{said}{errors}");
}

/// The most memory that the process has had until now, in KiB.
pub(crate) fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number of KiB")
}
