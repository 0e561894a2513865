//! `compare`, `merge`, `chart` and `--baseline` on rows that were saved before.

use crate::support;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Exit code of a command that could not do its work.
const FAILED: i32 = 3;
/// Exit code of a gate that found something.
const FOUND: i32 = 1;

const HEADER: &str = "k,ai,gflops,kernel,dtype,n,median_ms,rms_percent,samples,bound,\
                      percent_measured_roof,flags,device";

fn row(k: u32, median_ms: &str) -> String {
    format!("{k},0.25,100,horner,f32,1024,{median_ms},1,10,compute,50,,GPU")
}

fn csv(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

fn ridgepoint(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(support::ridgepoint())
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// That a command ends so and says all of this on standard error.
fn assert_says(output: &Output, code: i32, parts: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("writable");
    }
    folder
}

const EMPTY: &str = "has no rows";

#[test]
fn a_gate_with_nothing_to_compare_fails() {
    let other = csv(&[row(7, "1")]);
    let good = csv(&[row(1, "1"), row(2, "1")]);
    let folder = folder_with(&[
        ("good.csv", &good),
        ("slow.csv", &csv(&[row(1, "2"), row(2, "1")])),
        ("empty", ""),
        ("header.csv", &csv(&[])),
        ("no-rows.json", r#"{"run": {}, "rows": []}"#),
        ("other.csv", &other),
    ]);
    let compare = |before, after| ridgepoint(folder.path(), &["compare", before, after]);
    assert_says(&compare("good.csv", "good.csv"), 0, &[]);
    assert_says(
        &compare("good.csv", "slow.csv"),
        FOUND,
        &["1 row is slower by more than noise and tolerance\n"],
    );
    let fewer = folder.path().join("fewer.csv");
    fs::write(fewer, csv(&[row(2, "1")])).expect("writable");
    let missing = compare("good.csv", "fewer.csv");
    assert_says(&missing, FOUND, &["error: 1 row is missing\n"]);
    for nothing in ["empty", "header.csv", "/dev/null", "no-rows.json"] {
        assert_says(&compare(nothing, "good.csv"), FAILED, &[nothing, EMPTY]);
        assert_says(&compare("good.csv", nothing), FAILED, &[nothing, EMPTY]);
        let sweep = ["roofline", "--device", "cpu", "--n", "64", "--k", "1"];
        let gate = ["--output", "o.csv", "--baseline", nothing];
        let gated = ridgepoint(folder.path(), &[&sweep[..], &gate].concat());
        assert_says(&gated, FAILED, &[nothing, EMPTY]);
    }
    let parts = [
        "none of the 2 launches before is among the 1 after",
        "k 1;",
        "the nearest after has k 7",
    ];
    assert_says(&compare("good.csv", "other.csv"), FAILED, &parts);
}

/// Cells are found by their column's name: other tools' files that say a name twice are refused, not mixed up.
#[test]
fn a_name_that_occurs_twice_is_refused() {
    let folder = folder_with(&[
        (
            "nvbench.csv",
            "Benchmark,CPU Time,Noise (%),GPU Time,Noise (%)\ncopy,1.5e-05,2.1,1.2e-05,1.1\n",
        ),
        ("unnamed.csv", "a,,b,\n1,2,3,4\n"),
        ("twice.json", r#"{"rows": [{"k": 1, "k": 2, "v": 3}]}"#),
        (
            "later.json",
            r#"{"rows": [{"k": 1, "v": 3}, {"k": 1, "v": 2, "v": 3}]}"#,
        ),
        ("semicolons.csv", "k;ai;gflops\n1;0.25;3\n"),
    ]);
    for (name, said) in [
        (
            "nvbench.csv",
            "nvbench.csv: the column Noise (%) occurs twice",
        ),
        ("unnamed.csv", "unnamed.csv: column 2 has no name"),
        ("twice.json", "twice.json: the column k occurs twice"),
        (
            "later.json",
            "later.json, row 2: other fields than the first row's: one of them twice",
        ),
        ("semicolons.csv", "the columns are separated by ';'"),
    ] {
        let merged = ridgepoint(folder.path(), &["merge", name, "--output", "o.csv"]);
        assert_says(&merged, FAILED, &[said]);
        assert!(!folder.path().join("o.csv").exists(), "{name}");
    }
    fs::write(folder.path().join("wide.csv"), [0xff, 0xfe, b'k', 0]).expect("writable");
    let wide = ridgepoint(folder.path(), &["merge", "wide.csv", "--output", "o.csv"]);
    assert_says(&wide, FAILED, &["wide.csv is UTF-16; save it as UTF-8"]);
}

#[test]
fn a_merge_of_no_rows_writes_nothing() {
    let folder = folder_with(&[
        ("header.csv", &csv(&[])),
        ("torn.csv", &format!("{HEADER}\n1,0.2")),
        ("good.csv", &csv(&[row(1, "1")])),
        ("no-rows.json", r#"{"run": {}, "rows": []}"#),
        ("empty.csv", ""),
        ("o.csv", "earlier"),
    ]);
    let merge = |inputs: &[&str]| {
        let output = ["--output", "o.csv"];
        ridgepoint(folder.path(), &[&["merge"], inputs, &output].concat())
    };
    let kept = || fs::read_to_string(folder.path().join("o.csv")).expect("there");
    for inputs in [
        &["header.csv", "no-rows.json"][..],
        &["torn.csv"],
        &["header.csv"],
    ] {
        let said = format!("nothing to merge: no rows in {}", inputs.join(", "));
        assert_says(&merge(inputs), FAILED, &[&said]);
    }
    assert_says(&merge(&["empty.csv"]), FAILED, &["empty.csv has no rows"]);
    assert_eq!(kept(), "earlier");
    let merged = merge(&["header.csv", "good.csv"]);
    assert_says(&merged, 0, &[]);
    assert_eq!(text(&merged.stdout), "1 row: o.csv\n");
    // With the columns' digits, whatever it has read.
    let written = "1,0.250000,100.00,horner,f32,1024,1.000000,1.000,10,compute,50.00,,GPU";
    assert_eq!(kept(), csv(&[written.to_owned()]));
}

#[test]
fn rows_with_other_fields_and_rows_of_studies_are_refused() {
    let folder = folder_with(&[
        (
            "more.json",
            r#"[{"k":1,"median_ms":2},{"k":2,"median_ms":2,"x":3}]"#,
        ),
        (
            "other.json",
            r#"[{"k":1,"median_ms":2},{"x":2,"median_ms":2}]"#,
        ),
        ("twice.json", r#"[{"k":1,"median_ms":2},{"k":2,"k":2}]"#),
        ("study.csv", "mode,n\nhost,4\n"),
    ]);
    for (name, difference) in [
        ("more.json", "also x"),
        ("other.json", "no k, also x"),
        ("twice.json", "no median_ms"),
    ] {
        let merged = ridgepoint(folder.path(), &["merge", name, "--output", "o.csv"]);
        let said = format!("{name}, row 2: other fields than the first row's: {difference}");
        assert_says(&merged, FAILED, &[&said]);
    }
    let compared = ridgepoint(folder.path(), &["compare", "study.csv", "study.csv"]);
    let said = "no column median_ms: only rows of roofline and occupancy can be compared";
    assert_says(&compared, FAILED, &["study.csv", said]);
}

/// Checks that every command names the file, the row and the column.
#[test]
fn times_that_nothing_takes_are_refused() {
    for (cell, column) in [
        ("NaN", "median_ms"),
        ("-1", "median_ms"),
        ("0", "median_ms"),
        ("inf", "median_ms"),
        ("many", "median_ms"),
    ] {
        let rows = csv(&[row(1, "1"), row(2, cell)]);
        let folder = folder_with(&[("bad.csv", &rows), ("good.csv", &csv(&[row(1, "1")]))]);
        let parts = ["bad.csv, row 2", column, &format!("{cell:?}")];
        for arguments in [
            &["compare", "bad.csv", "good.csv"][..],
            &["compare", "good.csv", "bad.csv"],
            &["merge", "good.csv", "bad.csv", "--output", "m.csv"],
            &[
                "chart",
                "bad.csv",
                "--ceilings",
                "c.json",
                "--output",
                "c.svg",
            ],
            &[
                "roofline",
                "--device",
                "cpu",
                "--n",
                "64",
                "--k",
                "1",
                "--output",
                "o.csv",
                "--baseline",
                "bad.csv",
            ],
        ] {
            assert_says(&ridgepoint(folder.path(), arguments), FAILED, &parts);
        }
    }
}

#[test]
fn a_device_of_zeros_is_not_read_for_ever() {
    let folder = folder_with(&[("good.csv", &csv(&[row(1, "1")]))]);
    let compared = ridgepoint(folder.path(), &["compare", "/dev/zero", "good.csv"]);
    assert_says(
        &compared,
        FAILED,
        &["cannot read /dev/zero: it is not text"],
    );
}

#[test]
fn a_torn_last_row_is_named() {
    let whole = csv(&[row(1, "1"), row(2, "1")]);
    let no_newline = whole.trim_end().to_owned();
    for (torn, cells) in [
        (format!("{whole}3,0.25"), "2 of 13 cells"),
        (no_newline, "13 of 13 cells and no end of line"),
    ] {
        let folder = folder_with(&[("torn.csv", &torn), ("good.csv", &csv(&[row(1, "1")]))]);
        let path = folder.path();
        let named = ["torn.csv, row ", " is torn: ", cells];
        let merged = ridgepoint(
            path,
            &["merge", "torn.csv", "good.csv", "--output", "m.csv"],
        );
        assert_says(&merged, 0, &[&named[..], &["warning", "left out"]].concat());
        let rows = fs::read_to_string(path.join("m.csv")).expect("written");
        assert_eq!(rows.lines().count(), torn.lines().count(), "{rows}");
        for (before, after) in [("torn.csv", "good.csv"), ("good.csv", "torn.csv")] {
            let compared = ridgepoint(path, &["compare", before, after]);
            assert_says(&compared, FAILED, &named);
        }
    }
}

#[test]
fn json_is_read_wherever_csv_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let sweep = ["roofline", "--device", "cpu", "--n", "64", "--k", "1,2"];
    // Of so many, some may be interrupted, and the gate still judges.
    let more = ["--runs", "10", "--quiet"];
    let run = |arguments: &[&str]| {
        let output = ridgepoint(path, arguments);
        assert_says(&output, 0, &[]);
        text(&output.stdout)
    };
    run(&[&sweep[..], &more, &["--output", "a.csv,a.json"]].concat());
    let tolerant = ["--baseline", "a.json", "--tolerance", "1000000%"];
    let gate = [&["--output", "b.csv"][..], &tolerant].concat();
    run(&[&sweep[..], &more, &gate].concat());
    for (before, after) in [("a.csv", "a.json"), ("a.json", "a.csv")] {
        let said = run(&["compare", before, after, "--tolerance", "1000000%"]);
        assert!(said.contains("2 rows: 2 as fast as before"), "{said}");
    }
    run(&["merge", "a.json", "b.csv", "--output", "m.json,m.csv,m.md"]);
    let json = fs::read(path.join("m.json")).expect("written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(4));
    assert_eq!(
        json["rows"][0]["samples_ms"].as_array().map(Vec::len),
        Some(10)
    );
    assert_eq!(json["rows"][3]["k"], 2);
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(1));
    let columns = |name: &str| {
        let text = fs::read_to_string(path.join(name)).expect("written");
        let mut names: Vec<String> = text
            .lines()
            .next()
            .expect("a header")
            .split(',')
            .map(str::to_owned)
            .collect();
        assert_eq!(names[..5].join(","), "k,ai,gflops,bandwidth,percent_peak");
        names.sort();
        names
    };
    assert_eq!(columns("m.csv"), columns("a.csv"));
    let markdown = fs::read_to_string(path.join("m.md")).expect("written");
    assert_eq!(markdown.lines().count(), 2 + 4, "{markdown}");
    run(&["compare", "m.json", "m.csv", "--tolerance", "1000000%"]);

    let mut child = Command::new(support::ridgepoint())
        .args(["merge", "-", "a.csv", "--output", "-"])
        .current_dir(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(&fs::read(path.join("a.json")).expect("written"))
        .expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout).lines().count(), 1 + 4, "{output:?}");

    let torn = fs::read_to_string(path.join("a.json")).expect("written");
    fs::write(path.join("torn.json"), &torn[..torn.len() - 5]).expect("writable");
    let refused = ridgepoint(path, &["compare", "torn.json", "a.csv"]);
    assert_says(&refused, FAILED, &["torn.json", "no whole JSON document"]);
}

#[test]
fn merge_takes_columns_in_any_order_and_does_not_overwrite_what_it_reads() {
    let folder = folder_with(&[
        ("a.csv", "k,median_ms\n1,2\n"),
        ("b.csv", "median_ms,k\n4,3\n"),
        ("c.csv", "k\u{1b}[31m,median_ms\n3,4\n"),
    ]);
    let merge = |arguments: &[&str]| ridgepoint(folder.path(), &[&["merge"], arguments].concat());
    let merged = merge(&["a.csv", "b.csv", "--output", "-"]);
    assert_eq!(text(&merged.stdout), "k,median_ms\n1,2\n3,4\n");
    let refused = merge(&["a.csv", "b.csv", "--output", "./b.csv"]);
    assert_says(
        &refused,
        2,
        &["--output would be written over what INPUTS reads"],
    );
    let refused = merge(&["a.csv", "c.csv", "--output", "m.csv"]);
    assert_says(
        &refused,
        FAILED,
        &["c.csv has other columns", "no k, also k\\u{1b}[31m"],
    );
}

#[test]
fn a_terminal_is_not_told_what_cells_say() {
    let with_escape = |ms| csv(&[row(1, ms).replace("horner", "\u{1b}]0;x\u{7}horner")]);
    let folder = folder_with(&[("a.csv", &with_escape("1")), ("b.csv", &with_escape("2"))]);
    let output = ridgepoint(folder.path(), &["compare", "a.csv", "b.csv"]);
    let said = text(&output.stdout);
    assert!(said.contains("\\u{1b}]0;x\\u{7}horner"), "{said}");
    assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
}

/// One by one, each row of one run against all of the other, this takes minutes.
#[test]
fn many_rows_are_compared_in_seconds() {
    let mut rows: Vec<String> = (1..=100_000).map(|k| row(k, "1")).collect();
    let forward = csv(&rows);
    rows.reverse();
    let folder = folder_with(&[("a.csv", &forward), ("b.csv", &csv(&rows))]);
    let began = Instant::now();
    let output = ridgepoint(folder.path(), &["compare", "a.csv", "b.csv"]);
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    assert!(
        text(&output.stdout).contains("100000 rows: 100000 as fast"),
        "{output:?}"
    );
}
