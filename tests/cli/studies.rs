//! The commands of the studies as a user meets them, on the emulator.

use crate::support;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::checkpoints::{files, newest};

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
    let power = ["power", "--dim", "4", "--dominance", "0.99"];
    for arguments in [
        &["norm", "--rounds", "1"][..],
        &["dispatch", "--rounds", "1"],
        &["pipeline", "--rounds", "1", "--batches", "2"],
        &power,
    ] {
        let command = arguments[0];
        let output = run(arguments);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("emulator"), "{command}: {text}");
    }
}

#[test]
fn a_pipeline_gives_each_batch_its_own_result() {
    // As many slots as chunks, and fewer; `checked` says that every element was right.
    for slots in ["1", "4", "6"] {
        let found = rows(&[
            "pipeline",
            "--batches",
            "3",
            "--rounds",
            "1",
            "--weight",
            "1",
            "--slots",
            slots,
        ]);
        let modes: Vec<_> = found.iter().map(|row| &row["mode"][..]).collect();
        let each = ["pageable", "sequential", "streamed"];
        assert_eq!(modes, [each, each].concat());
        assert!(found.iter().all(|row| row["checked"] == "true"));
        // The polynomial's weight, and no ratios: on the emulator nothing overlaps.
        let columns = ["weight", "over_floor", "overlap"];
        let cells = |row: usize| columns.map(|column| &found[row][column][..]);
        assert_eq!((cells(0), cells(5)), (["1.0", "", ""], ["", "", ""]));
        assert_eq!(
            found[1]["pinned_bytes"],
            (2 * 3 * 128 * 128 * 4).to_string()
        );
    }
}

/// Checks what Perfetto asks of a trace: complete events, in order, that lie apart or within each other.
#[test]
fn a_trace_has_kernels_and_copies_on_the_rows_of_their_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let path = path.to_str().expect("text");
    let arguments = [
        "--batches",
        "2",
        "--rounds",
        "1",
        "--weight",
        "1",
        "--kernel",
        "polynomial",
    ];
    let output = run(&[&["pipeline", "--trace", path, "--profile"], &arguments[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for part in [
        "Host side",
        "Device side",
        "mean ± std (min ‥ max)",
        "cuMemcpyHtoDAsync_v2",
        "timed by the host's clock",
    ] {
        assert!(
            stderr(&output).contains(part),
            "{part:?}: {}",
            stderr(&output)
        );
    }

    let text = fs::read_to_string(path).expect("written");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let mut ends: HashMap<(u64, u64), Vec<f64>> = HashMap::new();
    let mut rows_of: HashMap<String, Vec<u64>> = HashMap::new();
    let mut last = 0.0;
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |name: &str| event[name].as_f64().expect(name);
        let (start, took) = (number("ts"), number("dur"));
        assert!(start >= last && took >= 0.0, "{event}");
        last = start;
        let row = (number("pid") as u64, number("tid") as u64);
        let open = ends.entry(row).or_default();
        open.retain(|end| *end > start);
        assert!(
            open.iter().all(|end| start + took <= *end),
            "partly over another: {event}"
        );
        open.push(start + took);
        let category = event["cat"].as_str().expect("text").to_owned();
        assert!(
            category != "copy" || event["args"]["bytes"] == 128 * 64 * 4,
            "{event}"
        );
        rows_of.entry(category).or_default().push(row.1);
    }
    // Of the streamed mode: one for the kernels of each slot, the first of which the other modes copy
    // in, too, and one for copies in each direction.
    for (category, streams) in [("kernel", 2), ("copy", 3)] {
        let mut rows = rows_of.remove(category).expect(category);
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), streams, "{category}: {rows:?}");
    }
    assert!(rows_of.contains_key("range") && rows_of.contains_key("driver"));
}

#[test]
fn times_that_cannot_be_had_are_refused() {
    let commands: [(&[&str], &str); 2] = [
        (
            &["dispatch", "--device-times", "events"],
            "without --trace or --profile",
        ),
        // Where there is a driver, there is no such file.
        (
            &["dispatch", "--profile", "--device-times", "cupti"],
            "--device-times cupti: no C",
        ),
    ];
    for (arguments, reason) in commands {
        let output = Command::new(support::ridgepoint())
            .args(arguments)
            .args(["--device", "cpu"])
            .env(cupti::LIBRARY, "/nowhere/libcupti.so")
            .output()
            .expect("the command starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    for (arguments, reason) in [
        (["--chunks", "3"], "128 rows cannot be split into"),
        (
            ["--chunks", "4"],
            "chunks of 32 rows; expected a multiple of 64",
        ),
    ] {
        let output = run(&[&["pipeline"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

/// Some 60 steps on the emulator, a few milliseconds each.
const POWER: [&str; 8] = [
    "power",
    "--dim",
    "8",
    "--dominance",
    "0.3",
    "--check-every",
    "5",
    "--checkpoint",
];

fn power(folder: &Path, more: &[&str]) -> Output {
    let folder = folder.to_str().expect("text");
    run(&[&POWER, &[folder][..], more].concat())
}

#[test]
fn the_three_modes_find_the_eigenvalue_and_leave_the_same_checkpoints() {
    let mut results = Vec::new();
    for mode in ["baseline", "async", "graph"] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = power(folder.path(), &["--mode", mode]);
        assert!(output.status.success(), "{mode}: {}", stderr(&output));
        let result = newest(folder.path()).expect("there are some");
        assert!(result.residual < 1e-10 && (result.eigenvalue - 1.0).abs() < 1e-10);
        results.push(result);
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_kill_leaves_whole_checkpoints_and_the_run_goes_on_from_there() {
    let whole = tempfile::tempdir().expect("a folder");
    assert!(power(whole.path(), &[]).status.success());
    let expected = newest(whole.path());

    let killed = tempfile::tempdir().expect("a folder");
    let mut resume: &[&str] = &[];
    for milliseconds in [150, 230, 310] {
        let mut child = Command::new(support::ridgepoint())
            .args(POWER)
            .arg(killed.path())
            .args(resume)
            .args(["--device", "cpu", "--mode", "async"])
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().expect("it is a child");
        child.wait().expect("it is a child");
        if newest(killed.path()).is_some() {
            resume = &["--resume"];
        }
    }
    let output = power(killed.path(), resume);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(newest(killed.path()), expected);
    let unfinished = |path: &PathBuf| path.to_string_lossy().contains("unfinished");
    assert!(!files(killed.path()).iter().any(unfinished));
}

#[test]
fn a_full_disk_stops_the_run_and_keeps_what_was_written() {
    for mode in ["baseline", "async"] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = power(folder.path(), &["--max-steps", "5"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let before = newest(folder.path());
        assert_eq!(before.as_ref().map(|checkpoint| checkpoint.step), Some(5));

        // No file may grow: what a full disk says to a write.
        let output = Command::new("bash")
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "bash"])
            .arg(support::ridgepoint())
            .args(POWER)
            .arg(folder.path())
            .args(["--device", "cpu", "--resume", "--mode", mode])
            .output()
            .expect("bash starts");
        assert_eq!(output.status.code(), Some(3), "{mode}");
        assert!(
            stderr(&output).contains("cannot write"),
            "{}",
            stderr(&output)
        );
        assert_eq!(newest(folder.path()), before, "{mode}");
    }
}

#[test]
fn a_checkpoint_of_another_matrix_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = power(folder.path(), &["--resume"]);
    assert!(
        stderr(&output).contains("no complete checkpoint"),
        "{}",
        stderr(&output)
    );
    let few = power(folder.path(), &["--max-steps", "5"]);
    assert_eq!(few.status.code(), Some(1), "{}", stderr(&few));
    let output = power(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("has checkpoints"),
        "{}",
        stderr(&output)
    );
    let output = power(folder.path(), &["--resume", "--seed", "7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("seed 42"), "{}", stderr(&output));
}
