//! Files of rows as others write them: other tools, earlier versions, spreadsheets, and a user's own columns.

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Exit code of a command that could not do its work.
const FAILED: i32 = 3;

const HEADER: &str = "k,ai,gflops,kernel,n,median_ms,rms_percent,samples,flags,device";

fn row(k: &str, n: &str, median_ms: &str) -> String {
    format!("{k},0.25,100,horner,{n},{median_ms},1,10,,GPU")
}

fn csv(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("writable");
    }
    folder
}

fn ridgepoint(folder: &Path, words: &str) -> Output {
    Command::new(support::ridgepoint())
        .args(words.split(' '))
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// That a command ends so, and says all of this on standard output or standard error.
fn assert_says(output: &Output, code: i32, parts: &[&str]) {
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in {said:?}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn files_of_other_tools_and_other_commands_are_named() {
    let folder = folder_with(&[
        (
            "nvbench.csv",
            "Benchmark,Device,Device Name,Samples,CPU Time (sec),Noise (%),GPU Time (sec),Noise (%)\ncopy,0,A,1,2,3,4,5\n",
        ),
        (
            "mixbench.csv",
            "Compute iters, Flops/byte, ex.time,  GFLOPS, ex.time\n0,0.25,1.1,122.1,2.1\n",
        ),
        (
            "hyperfine.csv",
            "command,mean,stddev,median,user,system,min,max\nls,1,1,1,1,1,1,1\n",
        ),
        ("google.json", r#"{"context": {}, "benchmarks": []}"#),
        (
            "hyperfine.json",
            r#"{"results": [{"command": "ls", "mean": 1}]}"#,
        ),
        ("ceilings.json", r#"{"key": {}, "ceilings": []}"#),
        ("trace.json", r#"{"traceEvents": []}"#),
        ("object.json", r#"{"a": 1, "b": 2}"#),
        ("rows.json", r#"{"rows": {"a": 1}}"#),
        ("numbers.json", "[1, 2]"),
        ("torn.json", r#"{"rows": [{"k": 1},"#),
        (
            "list.json",
            r#"{"rows": [{"kernel": ["a", "b"], "median_ms": 1}]}"#,
        ),
        (
            "samples.json",
            r#"{"rows": [{"kernel": "a", "median_ms": 1, "samples_ms": "no"}]}"#,
        ),
        ("good.csv", &csv(&[row("1", "64", "1")])),
    ]);
    for (name, said) in [
        (
            "nvbench.csv",
            "nvbench.csv is a CSV of nvbench, not rows that ridgepoint wrote",
        ),
        ("mixbench.csv", "mixbench.csv is a table of mixbench"),
        ("hyperfine.csv", "is a CSV of hyperfine"),
        ("google.json", "it is a JSON of google benchmark, not rows"),
        ("hyperfine.json", "it is a JSON of hyperfine, not rows"),
        (
            "ceilings.json",
            "it is ceilings of `ridgepoint ceilings`, not rows",
        ),
        ("trace.json", "it is a timeline of --trace, not rows"),
        (
            "object.json",
            "its fields are a, b, which are not those of rows",
        ),
        ("rows.json", "an object where a list is expected"),
        ("numbers.json", "row 1: a row must be an object"),
        ("torn.json", "it breaks off in line 1"),
        ("list.json", "row 1: kernel is"),
        (
            "samples.json",
            "samples_ms is \"no\"; it must be finite numbers with blanks between them",
        ),
    ] {
        for words in [
            format!("merge {name} --output o.csv"),
            format!("compare good.csv {name}"),
        ] {
            let output = ridgepoint(folder.path(), &words);
            assert_says(&output, FAILED, &[name, said]);
            assert!(
                !String::from_utf8_lossy(&output.stderr).contains("invalid type"),
                "{words}"
            );
        }
    }
    // The other way round, too.
    for (file, said) in [
        ("good.csv", "good.csv holds no ceilings"),
        (
            "rows.json",
            "it is rows of a roofline or an occupancy study, not ceilings",
        ),
    ] {
        let words = format!("roofline --device cpu --n 64 --k 1 --output o.csv --ceilings {file}");
        assert_says(&ridgepoint(folder.path(), &words), FAILED, &[said]);
    }
    let drawn = ridgepoint(folder.path(), "chart rows.json --output o.svg");
    assert_says(&drawn, FAILED, &["rows.json"]);
    fs::write(
        folder.path().join("links.csv"),
        "quantity,from,to,value\ncopy,host,cpu:0,1\n",
    )
    .expect("writable");
    let parts = [
        "ai, gflops, kernel, dtype, device",
        "it is links of `ridgepoint links`",
    ];
    assert_says(
        &ridgepoint(folder.path(), "chart links.csv --output o.svg"),
        FAILED,
        &parts,
    );
}

#[test]
fn a_launch_is_told_by_what_its_cells_mean_and_not_by_notes() {
    let noted = format!(
        "{HEADER},host\n{},node7\n{},node7\n",
        row("1", "67108864.0", "1"),
        row("2.0", "6.7108864e7", "1")
    );
    let folder = folder_with(&[
        (
            "a.csv",
            &csv(&[row("1", "67108864", "1"), row("2", "67108864", "1")]),
        ),
        (
            "spreadsheet.csv",
            &csv(&[row("1.0", "67108864.0", "1"), row("2", "6.7108864e7", "1")]),
        ),
        ("noted.csv", &noted),
        ("elsewhere.csv", &noted.replace("node7", "node8")),
    ]);
    let same = "2 rows: 2 as fast as before";
    let compare = |words: &str| ridgepoint(folder.path(), &format!("compare {words}"));
    assert_says(&compare("a.csv spreadsheet.csv"), 0, &[same]);
    assert_says(
        &compare("a.csv noted.csv"),
        0,
        &[same, "only after: host, which no launches differ in"],
    );
    assert_says(
        &compare("noted.csv elsewhere.csv"),
        FAILED,
        &["the nearest after has host node8"],
    );
    assert_says(
        &compare("noted.csv elsewhere.csv --ignore host"),
        0,
        &[same],
    );
    for column in ["kernel", "nothing", "gflops"] {
        let refused = compare(&format!("noted.csv elsewhere.csv --ignore {column}"));
        assert_says(&refused, 2, &["--ignore: ", column, "cannot be ignored"]);
    }
    // What a merge reads it carries.
    assert_says(
        &ridgepoint(
            folder.path(),
            "merge noted.csv elsewhere.csv --output m.csv",
        ),
        0,
        &[],
    );
    let merged = fs::read_to_string(folder.path().join("m.csv")).expect("written");
    assert!(
        merged.contains(",node7\n") && merged.contains(",node8\n"),
        "{merged}"
    );
}

#[test]
fn merge_writes_the_columns_digits_and_an_empty_cell_for_what_a_file_lacks() {
    let json = r#"{"rows": [{"k": 1, "ai": 0.25, "gflops": 0.1966583445362013, "kernel": "horner", "n": 64,
        "median_ms": 0.04916458613405032, "rms_percent": 1, "samples": 2, "flags": ["noisy"], "device": "GPU",
        "samples_ms": [0.05, 0.04916458613405032], "format": 2}]}"#;
    let folder = folder_with(&[
        ("old.csv", &csv(&[row("1", "64", "1")])),
        ("new.json", json),
        (
            "axis.csv",
            &format!("{HEADER},each\n{},4\n", row("1", "64", "1")),
        ),
        (
            "newer.csv",
            &format!("{HEADER},format\n{},3\n", row("1", "64", "1")),
        ),
    ]);
    let merge = |words: &str| ridgepoint(folder.path(), &format!("merge {words}"));
    let said = "old.csv has no samples_ms and format: they are empty there";
    assert_says(&merge("old.csv new.json --output m.csv,m.json"), 0, &[said]);
    let merged = fs::read_to_string(folder.path().join("m.csv")).expect("written");
    let expected = format!(
        "{HEADER},samples_ms,format\n1,0.250000,100.00,horner,64,1.000000,1.000,10,,GPU,,\n\
         1,0.250000,0.20,horner,64,0.049165,1.000,2,noisy,GPU,0.050000 0.049165,2\n"
    );
    assert_eq!(merged, expected);
    // The JSON keeps all digits, has every column in every row, and is read again.
    let text = fs::read(folder.path().join("m.json")).expect("written");
    let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(value["rows"][1]["median_ms"], 0.04916458613405032);
    assert_eq!(value["rows"][0]["format"], serde_json::Value::Null);
    assert_says(&merge("m.json --output again.csv"), 0, &[]);
    let again = fs::read_to_string(folder.path().join("again.csv")).expect("written");
    assert_eq!(again.lines().nth(2), expected.lines().nth(2));
    // A launch's column is another matter.
    assert_says(
        &merge("old.csv axis.csv --output o.csv"),
        FAILED,
        &["also each", "--fill"],
    );
    assert_says(
        &merge("old.csv axis.csv --fill --output o.csv"),
        0,
        &["old.csv has no each: it is empty there"],
    );
    assert_says(
        &merge("newer.csv --output o.csv"),
        FAILED,
        &["newer.csv, row 1: format 3", "formats up to 2"],
    );
    assert_says(
        &merge("old.csv old.csv --output o.csv"),
        2,
        &["INPUTS names one file twice: old.csv"],
    );
    assert_says(
        &merge("old.csv --format md --output o.csv"),
        2,
        &["--format md, and the name ends in .csv"],
    );
}

/// Times of no length are empty cells, and the launch is unknown.
#[test]
fn rows_without_times_are_read_and_unknown() {
    let folder = folder_with(&[
        ("a.csv", &csv(&[row("1", "64", "1"), row("2", "64", "1")])),
        ("b.csv", &csv(&[row("1", "64", ""), row("2", "64", "1")])),
    ]);
    let parts = ["0 and 10 samples; at least 3 each are needed", "1 unknown"];
    assert_says(&ridgepoint(folder.path(), "compare b.csv a.csv"), 0, &parts);
    assert_says(
        &ridgepoint(folder.path(), "compare b.csv a.csv --strict"),
        1,
        &["1 row is not to be judged"],
    );
    let json = ridgepoint(folder.path(), "compare b.csv a.csv --format json");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json[0]["before_ms"], serde_json::Value::Null);
}

#[test]
fn files_say_their_format() {
    let folder = folder_with(&[]);
    let roofline = "roofline --device cpu --n 64 --k 1 --output a.csv,a.json";
    assert_says(&ridgepoint(folder.path(), roofline), 0, &[]);
    let norm = "norm --device cpu --n 64 --rounds 1 --mode device --output n.csv,n.json";
    assert_says(&ridgepoint(folder.path(), norm), 0, &[]);
    for name in ["a.csv", "n.csv"] {
        let mut rows = csv::Reader::from_path(folder.path().join(name)).expect("a CSV");
        let place = rows
            .headers()
            .expect("a header")
            .iter()
            .position(|it| it == "format");
        let row = rows.records().next().expect("a row").expect("readable");
        assert_eq!(&row[place.expect("a column")], "2", "{name}");
    }
    let json = |name: &str| -> serde_json::Value {
        let text = fs::read(folder.path().join(name)).expect("written");
        serde_json::from_slice(&text).expect("JSON")
    };
    assert_eq!(json("a.json")["rows"][0]["format"], 2);
    assert_eq!(json("n.json")[0]["format"], 2);
}

/// The host's times differ by more than the tolerance, as they do on a shared machine; what was counted does not.
#[test]
fn emulated_rows_are_compared_by_what_was_counted() {
    let folder = folder_with(&[]);
    let words = "roofline --device cpu --kernel horner --n 1024 --k 1,8 --runs 3 --output a.json";
    assert_says(&ridgepoint(folder.path(), words), 0, &[]);
    let text = fs::read_to_string(folder.path().join("a.json")).expect("written");
    let mut rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let instructions = rows["rows"][1]["counted_instructions"]
        .as_u64()
        .expect("a count");
    assert!(instructions > 0);
    for row in rows["rows"].as_array_mut().expect("rows") {
        for column in ["median_ms", "mean_ms"] {
            row[column] = (row[column].as_f64().expect("a time") * 10.0).into();
        }
        let samples = row["samples_ms"].as_array_mut().expect("times");
        samples
            .iter_mut()
            .for_each(|ms| *ms = (ms.as_f64().expect("a time") * 10.0).into());
    }
    let write = |name: &str, rows: &serde_json::Value| {
        fs::write(folder.path().join(name), rows.to_string()).expect("writable");
    };
    write("slow-host.json", &rows);
    let same = ridgepoint(folder.path(), "compare a.json slow-host.json --strict");
    assert_says(&same, 0, &["2 rows: 2 as fast as before"]);
    let more = instructions * 11 / 10;
    rows["rows"][1]["counted_instructions"] = more.into();
    write("more-work.json", &rows);
    let slower = ridgepoint(folder.path(), "compare a.json more-work.json");
    assert_says(
        &slower,
        1,
        &[
            &format!("slower: {instructions} to {more} instructions"),
            "1 row is slower",
        ],
    );
}

/// A rate that no roof allows is drawn with a note and said.
#[test]
fn a_row_above_its_roof_is_named() {
    let folder = folder_with(&[]);
    let measured = ridgepoint(
        folder.path(),
        "ceilings --device cpu --n 1024 --runs 1 --output ceilings.json",
    );
    assert_says(&measured, 0, &[]);
    let ceilings = fs::read(folder.path().join("ceilings.json")).expect("written");
    let ceilings: serde_json::Value = serde_json::from_slice(&ceilings).expect("JSON");
    let device = ceilings["key"]["device"]
        .as_str()
        .expect("a name")
        .to_owned();
    let rows = |gflops: &str| {
        format!(
            "k,ai,gflops,kernel,dtype,n,median_ms,rms_percent,device\n1,0.25,{gflops},horner,f32,64,1,1,\"{device}\"\n\
                 2,0.5,0.0001,horner,f32,64,1,1,\"{device}\"\n"
        )
    };
    fs::write(folder.path().join("above.csv"), rows("9999999")).expect("writable");
    fs::write(folder.path().join("below.csv"), rows("0.0001")).expect("writable");
    let draw = |name: &str| {
        let words = format!("chart {name} --ceilings ceilings.json --output o.svg");
        let output = ridgepoint(folder.path(), &words);
        (
            output,
            fs::read_to_string(folder.path().join("o.svg")).expect("drawn"),
        )
    };
    let (output, svg) = draw("above.csv");
    assert_says(
        &output,
        0,
        &[
            "warning: above.csv, row 1: ",
            "at 0.25 FLOP/byte, where the roof is ",
        ],
    );
    assert!(
        svg.contains("above its roof") && svg.contains("implausible"),
        "{svg}"
    );
    let (output, svg) = draw("below.csv");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("implausible"));
    assert!(!svg.contains("above its roof"));
}

#[test]
fn the_part_of_an_option_that_is_wrong_is_named() {
    let folder = folder_with(&[]);
    for (words, said) in [
        (
            "roofline --kernel copy --axis n[pow2]=70:80",
            "expected exponents of two from 0 to 40, such as 20 for 2^20",
        ),
        (
            "roofline --kernel copy --axis n=1:9:0",
            "the step is \"0\"; expected a whole number from 1",
        ),
        (
            "roofline --kernel copy --axis n[pow3]=1",
            "\"pow3\" is no scale; expected n=LIST, or n[pow2]=LIST",
        ),
        ("roofline --kernel copy --axis =5", "no axis is named"),
        ("roofline --kernel copy --axis n=", "has an empty item"),
        ("roofline --kernel copy --axis n=1,,2", "has an empty item"),
        (
            "collectives --devices cpu:0,cpu:1 --bytes 3",
            "expected a multiple of 4",
        ),
        ("run nope.ptx", "cannot read nope.ptx"),
        (
            "run",
            "the PTX file, the first argument or `file` of a launch file, is missing",
        ),
        (
            "measure ceilings --device cpu",
            "it is a command of the program ridgepoint: `ridgepoint ceilings`",
        ),
    ] {
        let output = ridgepoint(folder.path(), words);
        let said_all = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(2 | 3)),
            "{words}: {said_all}"
        );
        assert!(said_all.contains(said), "{words}: {said_all}");
    }
}

/// The latency and the rate of an emulator's host say nothing of what a GPU needs in flight.
#[test]
fn an_emulators_occupancy_has_no_line_of_littles_law() {
    let folder = folder_with(&[]);
    let words = "occupancy --device cpu --kernel copy --ilp 1 --n 1024 --block 64,128 --shared 0 --runs 1 --output o.csv";
    let output = ridgepoint(folder.path(), words);
    assert_says(&output, 0, &["bytes in flight", "% occupancy"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        !said.contains("Little") && !said.contains("needed"),
        "{said}"
    );
}

/// Checks that columns that do not vary make room first, and then what the times are made of.
#[test]
fn a_table_of_80_columns_has_the_answers() {
    let folder = folder_with(&[]);
    let words =
        "pipeline --device cpu --size 64 --batches 2 --rounds 1 --kernel horner --weight 0.01,0.02";
    let output = Command::new(support::ridgepoint())
        .args(words.split(' '))
        .env("COLUMNS", "80")
        .current_dir(folder.path())
        .output()
        .expect("the command starts");
    assert_says(
        &output,
        0,
        &["All rows: ", "batches 2", "mode", "total", "weight"],
    );
    let said = String::from_utf8_lossy(&output.stdout);
    let left_out = said.split("Columns left out").nth(1).unwrap_or_default();
    for answer in ["total", "weight", "compute"] {
        assert!(!left_out.contains(answer), "{answer}: {said}");
    }
    assert!(
        said.lines().all(|line| line.chars().count() <= 80),
        "{said}"
    );
}

#[test]
fn a_printed_module_is_one_that_run_takes() {
    let folder = folder_with(&[]);
    let module = ridgepoint(folder.path(), "kernels --ptx copy_u1");
    assert_says(&module, 0, &[".version", ".target", ".entry copy_u1("]);
    let text = String::from_utf8_lossy(&module.stdout);
    assert_eq!(text.matches(".entry").count(), 1);
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    fs::write(folder.path().join("copy.ptx"), &module.stdout).expect("writable");
    let launch =
        "run copy.ptx --grid 2 --block 2^5 --arg u32[2^8]=iota --arg u64:64 --arg u32[2^8]";
    let said = "argument 2, u32[256], changed: 0, 1, 2, 3";
    assert_says(
        &ridgepoint(folder.path(), launch),
        0,
        &["nothing was found", said],
    );
}
