//! What the process takes of the host's memory; crates/simt has it, too.

use std::fs;

/// The most memory that the process has had until now, in KiB.
pub(super) fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number of KiB")
}
