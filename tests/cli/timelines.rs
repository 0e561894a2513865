//! Traces in Perfetto itself: what its trace processor has read is what was written.

use crate::support;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::perfetto::Perfetto;

/// An event: its process and row by name, category, name, beginning and length in nanoseconds, bytes.
type Slice = (String, String, String, String, i64, i64, Option<u64>);

const SLICES: &str = "select process.name, thread.name, slice.category, slice.name, slice.ts, \
    slice.dur, extract_arg(slice.arg_set_id, 'args.bytes') from slice \
    join thread_track on slice.track_id = thread_track.id \
    join thread using (utid) join process using (upid)";

/// A query for what Perfetto could not read of a trace, or has changed.
const COMPLAINTS: &str = "select name, value from stats \
    where severity in ('error', 'data_loss') and value > 0 order by name";

/// The trace of a command on the emulator.
fn record(folder: &Path, arguments: &[&str]) -> PathBuf {
    let path = folder.join("trace.json");
    let output = Command::new(support::ridgepoint())
        .args(arguments)
        .args(["--device", "cpu", "--quiet", "--trace"])
        .arg(&path)
        .output()
        .expect("the command starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    path
}

/// The events of a trace as they were written.
fn written(trace: &Value) -> Vec<Slice> {
    let events = trace["traceEvents"].as_array().expect("a list");
    let (names, events): (Vec<&Value>, Vec<&Value>) =
        events.iter().partition(|event| event["ph"] == "M");
    assert!(events.iter().all(|event| event["ph"] == "X"));
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let name = |kind: &str, of: &dyn Fn(&Value) -> bool| {
        let mut found = names.iter().filter(|it| it["name"] == kind && of(it));
        let name = text(&found.next().expect("a name")["args"]["name"]);
        assert!(found.next().is_none(), "{name:?} has another name");
        name
    };
    let nanoseconds = |value: &Value| (value.as_f64().expect("a number") * 1e3).round() as i64;
    let slice = |event: &Value| {
        let same = |it: &Value, key: &str| it[key] == event[key];
        (
            name("process_name", &|it| same(it, "pid")),
            name("thread_name", &|it| same(it, "pid") && same(it, "tid")),
            text(&event["cat"]),
            text(&event["name"]),
            nanoseconds(&event["ts"]),
            nanoseconds(&event["dur"]),
            event["args"]["bytes"].as_u64(),
        )
    };
    events.into_iter().map(slice).collect()
}

/// Opens the trace, and finds every event whole, in order, and on the row of its kind.
fn checked(path: &Path, trace: &Value) -> Perfetto {
    let mut perfetto = Perfetto::open(path);
    let complaints: Vec<(String, u64)> = perfetto.query(COMPLAINTS);
    assert!(complaints.is_empty(), "{complaints:?}");

    let mut written = written(trace);
    assert!(written.is_sorted_by_key(|slice| slice.4), "not by time");
    let mut read: Vec<Slice> = perfetto.query(SLICES);
    written.sort();
    read.sort();
    assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(&written) {
        assert_eq!(read, written);
        let (process, row, category, _, _, took, bytes) = read;
        assert!(*took >= 0, "{read:?}");
        let (expected_process, expected_row) = match &category[..] {
            "kernel" | "copy" => ("device", "stream "),
            "driver" => ("host", "driver calls"),
            _ => ("host", "ranges of thread "),
        };
        assert!(
            process == expected_process && row.starts_with(expected_row),
            "{read:?}"
        );
        assert_eq!(
            category == "copy",
            bytes.is_some_and(|it| it > 0),
            "{read:?}"
        );
    }

    // A stream does one thing at a time, and so Perfetto has laid nothing below anything.
    let stacked: Vec<(u64,)> = perfetto
        .query("select count(*) from slice where depth > 0 and category in ('kernel', 'copy')");
    assert_eq!(stacked, [(0,)]);
    perfetto
}

/// Runs the command, and answers how many rows its kernels and its copies lie on.
fn rows(arguments: &[&str]) -> [u64; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let path = record(folder.path(), arguments);
    let trace = File::open(&path).expect("written");
    let trace = serde_json::from_reader(trace).expect("JSON");
    let mut perfetto = checked(&path, &trace);
    ["kernel", "copy"].map(|category| {
        let rows: Vec<(u64,)> = perfetto.query(&format!(
            "select count(distinct track_id) from slice where category = '{category}'"
        ));
        rows[0].0
    })
}

#[test]
fn a_pipeline_lies_on_the_rows_of_its_streams() {
    // Of the streamed mode: one for each of two places, in the first of which the other modes copy, too,
    // and one for copies in each direction.
    let arguments = ["pipeline", "--batches", "2", "--rounds", "1"];
    assert_eq!(rows(&arguments), [2, 3]);
}

#[test]
fn a_norm_lies_on_the_row_of_its_stream() {
    assert_eq!(rows(&["norm", "--n", "1001", "--rounds", "1"]), [1, 1]);
}

#[test]
fn a_power_iteration_copies_in_a_stream_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("text");
    let size = [
        "power",
        "--dim",
        "8",
        "--dominance",
        "0.9",
        "--max-steps",
        "20",
    ];
    let [_, copies] = rows(&[&size[..], &["--checkpoint", folder]].concat());
    assert_eq!(copies, 1);
}

/// The trace of an H200 in docs/results. Leaves a picture of it in the target folder, as
/// tmp/perfetto.png: docs/perfetto.png is one.
#[test]
fn the_trace_of_a_gpu_opens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/results/h200-asynchrony/pipeline-streamed-trace.json.gz");
    let trace = GzDecoder::new(File::open(&path).expect("in the repository"));
    let trace = serde_json::from_reader(trace).expect("JSON");
    let mut perfetto = checked(&path, &trace);

    // The beginning of the last pass.
    let began: Vec<(u64,)> = perfetto.query("select max(ts) from slice where name = 'pass'");
    let (first, last) = (began[0].0, began[0].0 + 1_500_000);
    perfetto.run(&format!(
        "app.trace.commands.runCommand('dev.perfetto.ExpandAllGroups'); \
         app.trace.timeline.setViewportTime({first}n, {last}n); \
         waitForPerfettoIdle()"
    ));
    let picture = perfetto.picture();
    assert!(picture.len() > 10_000, "{} bytes", picture.len());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join("perfetto.png"), picture).expect("writable");
}

/// That the checks above can fail.
#[test]
fn perfetto_says_what_is_wrong_with_a_trace() {
    let row = r#""ph": "X", "name": "scale", "cat": "kernel", "pid": 1000, "tid": 1"#;
    // The second is partly over the first, and the third has no length.
    let times = [
        r#""ts": 0, "dur": 10"#,
        r#""ts": 5, "dur": 10"#,
        r#""ts": 20"#,
    ];
    let events = times.map(|time| format!("{{{row}, {time}}}")).join(",");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    fs::write(&path, format!(r#"{{"traceEvents":[{events}]}}"#)).expect("writable");
    let complaints: Vec<(String, u64)> = Perfetto::open(&path).query(COMPLAINTS);
    let expected = [
        "json_parser_failure",
        "slice_drop_overlapping_complete_event",
    ];
    assert_eq!(complaints, expected.map(|name| (name.to_owned(), 1)));
}
