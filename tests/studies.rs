//! The commands of the studies as a user meets them, on the emulator.

mod support;

use std::collections::HashMap;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .args(["--device", "cpu"])
        .output()
        .expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows that the command writes as CSV, by the names of their columns.
fn rows(arguments: &[&str]) -> Vec<HashMap<String, String>> {
    let output = run(&[arguments, &["--quiet", "--output", "-"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    let rows: Result<Vec<_>, _> = reader.deserialize().collect();
    rows.expect("a table")
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().expect("a number")
}

#[test]
fn a_norm_that_stays_on_the_device_is_neither_copied_nor_waited_for() {
    let found = rows(&["norm", "--n", "1001", "--dtype", "f32,f64", "--rounds", "1"]);
    let calls: Vec<_> = found
        .iter()
        .map(|row| {
            let count = |column| number(row, column);
            (
                &row["mode"][..],
                count("launches"),
                count("copies"),
                count("waits"),
            )
        })
        .collect();
    let each = [
        ("host", 2.0, 1.0, 1.0),
        ("device", 2.0, 0.0, 0.0),
        ("fused", 1.0, 0.0, 0.0),
        ("graph", 0.1, 0.0, 0.0),
    ];
    assert_eq!(calls, [each, each].concat());
    assert!(found.iter().all(|row| row["checked"] == "true"));
    assert!(
        found
            .iter()
            .all(|row| row["device"].starts_with("CPU emulator"))
    );
}

#[test]
fn a_barrier_is_a_wait_and_a_graph_one_launch() {
    let found = rows(&["dispatch", "--launches", "20", "--rounds", "1"]);
    let calls: Vec<_> = found
        .iter()
        .map(|row| {
            (
                &row["dispatch"][..],
                number(row, "launch_calls"),
                number(row, "waits"),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("a barrier each launch", 1.0, 1.0),
            ("a barrier each tenth launch", 1.0, 0.1),
            ("no barrier", 1.0, 0.0),
            ("a graph", 0.05, 0.0),
        ]
    );
}

#[test]
fn a_study_on_the_emulator_says_so() {
    for command in ["norm", "dispatch"] {
        let output = run(&[command, "--rounds", "1"]);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("emulator"), "{command}: {text}");
    }
}
