//! benches/peers/sharing.py compares latencies with those of nvcc's programs, for which shell scripts stand in here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Returns the JSON that `ridgepoint ceilings` writes of latencies: cycles of each quantity, and the levels of
/// `busy-memory-latency` with readers, bytes per second and seconds. Memory is read at 1000 bytes per second at most.
fn ceilings(cycles: &[(&str, f64)], levels: &[(u32, f64, f64)]) -> String {
    let row = |quantity: &str, unit: &str, value: f64, cycles: f64| {
        format!(
            r#"{{"quantity": "{quantity}", "unit": "{unit}", "value": {value}, "cycles": {cycles}, "datasheet": null}}"#
        )
    };
    let memory = row("memory-read", "B/s", 1000.0, 0.0);
    let latencies = cycles
        .iter()
        .map(|&(name, cycles)| row(name, "s", 1e-9, cycles));
    let rows: Vec<String> = [memory].into_iter().chain(latencies).collect();
    let level = |&(readers, rate, seconds): &(u32, f64, f64)| {
        format!(
            r#"{{"quantity": "busy-memory-latency", "readers": {readers}, "bytes_per_sec": {rate}, "latency": {seconds}}}"#
        )
    };
    let levels: Vec<String> = levels.iter().map(level).collect();
    format!(
        r#"{{"key": {{"device": "NVIDIA H100"}}, "ceilings": [{}], "busy": [{}]}}"#,
        rows.join(","),
        levels.join(",")
    )
}

/// Whether the script is content, and what it says, where nvcc's programs print this.
fn judge(ceilings: &str, sharing: &str, loaded: &str) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    for script in ["sharing.py", "loaded.py"] {
        fs::copy(peers.join(script), at(script)).expect("copied");
    }
    for (program, prints) in [("sharing", sharing), ("loaded", loaded)] {
        fs::write(at(&format!("{program}.txt")), prints).expect("written");
        fs::write(at(program), format!("#!/bin/sh\ncat {program}.txt\n")).expect("written");
        fs::set_permissions(at(program), fs::Permissions::from_mode(0o755)).expect("executable");
    }
    fs::write(at("ceilings.json"), ceilings).expect("written");
    let output = Command::new("python3")
        .args(["sharing.py", "ceilings.json", "sharing.md"])
        .current_dir(folder.path())
        .output()
        .expect("python3 is installed (setup.sh)");
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// A launch of each level: readers, bytes per second, and cycles of a load, of which there are two in a nanosecond.
fn launch(levels: &[(u32, f64, f64)]) -> String {
    let line = |&(readers, rate, cycles): &(u32, f64, f64)| {
        format!(
            "busy busy-memory-latency {readers} {rate} {cycles} {}\n",
            cycles / 2.0
        )
    };
    levels.iter().map(line).collect()
}

/// Lines of a block, of which the slowest waits for something else.
const LINES: &str = "lines 10 200 201 202 203 300 301 302 303 304 9999\n";
/// Its medians.
const NEAR_AND_FAR: [(&str, f64); 2] = [("l2-near-latency", 202.0), ("l2-far-latency", 302.0)];
const SHUFFLE: &str = "shuffle-latency 1 26\n";

#[test]
fn latencies_are_compared_at_the_same_rate_of_reading() {
    let [near, far] = NEAR_AND_FAR;
    // At 950 bytes per second: on a line between the last two levels.
    let ours = [
        near,
        far,
        ("shuffle-latency", 26.0),
        ("busy-memory-latency", 1750.0),
    ];
    let levels = [(0, 0.0, 500e-9), (9, 900.0, 750e-9), (18, 1000.0, 1000e-9)];
    let ours = ceilings(&ours, &levels);
    let same = [(0, 0.0, 1000.0), (9, 900.0, 1500.0), (18, 1000.0, 2000.0)];
    let (is_good, said) = judge(&ours, SHUFFLE, &format!("{LINES}{}", launch(&same)));
    assert!(is_good, "{said}");
    for row in [
        "| l2-near-latency | cycles | 202.0 | 202.0 | 1.000 | 0.970 |",
        "| l2-far-latency | cycles | 302.0 | 302.0 | 1.000 | 0.970 |",
        "| busy-memory-latency | cycles | 1750.0 | 1750.0 | 1.000 | 0.970 |",
        "| busy-memory-latency | 9 | 0.000 | 0.000 | 750.0 | 750.0 | 1.000 | 0.970 |",
    ] {
        assert!(said.contains(row), "{row}\n{said}");
    }

    // At 800 bytes per second ours takes 500 + 250 x 8/9; at 900 a peer of 750 at 1000 takes 725.
    for (rate, cycles, row) in [
        (800.0, 1400.0, "| 722.2 | 700.0 | 0.969 |"),
        (1000.0, 1500.0, "| 750.0 | 725.0 | 0.967 |"),
    ] {
        let other = [(0, 0.0, 1000.0), (9, rate, cycles), (18, 1000.0, 2000.0)];
        let (_, said) = judge(&ours, SHUFFLE, &format!("{LINES}{}", launch(&other)));
        assert!(said.contains(row), "{row}\n{said}");
    }
}

#[test]
fn what_is_slower_or_has_no_peer_is_found() {
    let [near, far] = NEAR_AND_FAR;
    let (is_good, said) = judge(&ceilings(&[near, far], &[]), "", LINES);
    assert!(is_good, "{said}");
    let (is_good, said) = judge(
        &ceilings(&[near, ("l2-far-latency", 320.0)], &[]),
        "",
        LINES,
    );
    assert!(
        !is_good && said.contains("Below 0.970: l2-far-latency, 0.944"),
        "{said}"
    );
    let (is_good, said) = judge(
        &ceilings(&[near, far, ("vote-latency", 13.0)], &[]),
        "",
        LINES,
    );
    assert!(!is_good && said.contains("No peer: vote-latency"), "{said}");
    let (is_good, said) = judge(&ceilings(&[near, far], &[(9, 900.0, 1e-6)]), "", LINES);
    assert!(
        !is_good && said.contains("No peer: busy-memory-latency beside 9"),
        "{said}"
    );
    let (is_good, said) = judge(&ceilings(&[near], &[]), "", LINES);
    assert!(
        !is_good && said.contains("Not measured by Rust: l2-far-latency"),
        "{said}"
    );
    let (is_good, said) = judge(&ceilings(&[], &[]), "", "");
    assert!(!is_good && said.contains("Nothing was compared"), "{said}");
}

#[test]
fn launches_that_deviate_allow_for_more() {
    let [near, far] = NEAR_AND_FAR;
    let ours = [near, far, ("busy-memory-latency", 1050.0)];
    let ours = ceilings(&ours, &[(0, 0.0, 525e-9), (9, 1000.0, 525e-9)]);
    let steady = launch(&[(0, 0.0, 1000.0), (9, 1000.0, 1000.0)]);
    let (is_good, said) = judge(&ours, "", &format!("{LINES}{steady}"));
    assert!(
        !is_good && said.contains("Below 0.970: busy-memory-latency beside 9, 0.952"),
        "{said}"
    );
    // 2 % of 1000 cycles from one to the other: a deviation of 1.6 %, of three launches, and 3 sqrt(2) of that.
    let launches =
        [980.0, 1000.0, 1020.0].map(|cycles| launch(&[(0, 0.0, cycles), (9, 1000.0, cycles)]));
    let (is_good, said) = judge(&ours, "", &format!("{LINES}{}", launches.concat()));
    assert!(is_good && said.contains("| 0.952 | 0.931 |"), "{said}");
}
