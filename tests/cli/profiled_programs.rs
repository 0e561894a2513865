//! `ridgepoint profile -- PROGRAM`: programs in C and in Python on the emulated driver, recorded from within.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::emulate_command::{folder, run};
use crate::guides::{command, shows};

const PAGE: &str = "profiling-a-program.md";

/// The JSON that `profile` writes of the Python program beside this file, run in this way, and its exit status.
fn profiled(way: &str) -> (Value, Option<i32>) {
    let (folder, status) = profiled_with("-q", way);
    (read(&folder, "all.json")["program"].clone(), status)
}

/// The folder of the program, run in this way with these options, and its exit status.
fn profiled_with(options: &str, way: &str) -> (TempDir, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/profiled_programs");
    for name in ["doubled.py", "nvtx.py"] {
        fs::copy(programs.join(name), folder.path().join(name)).expect("the program");
    }
    let typed = format!(
        "ridgepoint profile --on emulator --json all.json {options} -- python3 doubled.py {way}"
    );
    let (output, errors) = run(folder.path(), &typed);
    assert!(
        folder.path().join("all.json").is_file(),
        "{typed}: {errors}"
    );
    fs::write(folder.path().join("printed"), output.stdout).expect("written");
    (folder, output.status.code())
}

fn read(folder: &TempDir, name: &str) -> Value {
    let text = fs::read_to_string(folder.path().join(name)).expect(name);
    serde_json::from_str(&text).expect("JSON")
}

/// The number of launches that are recorded with these options.
fn launches(options: &str, way: &str) -> u64 {
    let (folder, status) = profiled_with(options, way);
    assert_eq!(status, Some(0), "{options}");
    let program = &read(&folder, "all.json")["program"];
    let rows = program["device"].as_array().expect("a table");
    let kernels = rows.iter().filter(|row| row["name"] == "twice");
    let kernels = kernels
        .map(|row| row["count"].as_u64().expect("a number"))
        .sum();
    // Each has a call, and a copy of the same part.
    let copies = rows.iter().filter(|row| row["is_copy"] == true);
    let copies: u64 = copies
        .map(|row| row["count"].as_u64().expect("a number"))
        .sum();
    assert!(
        copies == kernels || copies == kernels + 1,
        "{options}: {rows:?}"
    );
    assert_eq!(program["story"]["launches"], kernels, "{options}");
    kernels
}

/// The number of calls in the rows of a table whose name and place are these.
fn calls(program: &Value, table: &str, name: &str, place: &str) -> u64 {
    let rows = program[table].as_array().expect("a table");
    let is_it = |row: &&Value| {
        let at = &row["place"];
        let found = format!("{}:{}", at["file"].as_str().unwrap_or("?"), at["line"]);
        row["name"] == name && found == place
    };
    let found: Vec<&Value> = rows.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{name} at {place}: {rows:?}");
    found[0]["count"].as_u64().expect("a number")
}

#[test]
fn calls_copies_and_kernels_have_the_lines_of_a_python_program() {
    let (program, status) = profiled("once");
    assert_eq!(status, Some(0));
    let of = |table, name, place| calls(&program, table, name, place);
    assert_eq!(of("host", "cuLaunchKernel", "doubled.py:51"), 5);
    assert_eq!(of("host", "cuMemcpyDtoH", "doubled.py:52"), 5);
    assert_eq!(of("host", "cuModuleLoadData", "doubled.py:42"), 1);
    assert_eq!(of("device", "twice", "doubled.py:51"), 5);
}

#[test]
fn threads_write_into_one_recording() {
    let (program, status) = profiled("threads");
    assert_eq!(status, Some(0));
    assert_eq!(
        calls(&program, "host", "cuLaunchKernel", "doubled.py:51"),
        40
    );
    assert_eq!(calls(&program, "device", "twice", "doubled.py:51"), 40);
}

#[test]
fn what_was_recorded_is_whole_however_a_process_ends() {
    for (way, status) in [("forked", 0), ("exits", 0), ("killed", 128 + 9)] {
        let (program, ended) = profiled(way);
        assert_eq!(ended, Some(status), "{way}");
        assert_eq!(
            calls(&program, "device", "twice", "doubled.py:51"),
            5,
            "{way}"
        );
        let rows = program["host"].as_array().expect("a table");
        let synchronizes = rows.iter().any(|row| row["name"] == "cuCtxSynchronize");
        assert!(
            !synchronizes,
            "{way}: the child's call is in its parent's recording"
        );
    }
}

#[test]
fn a_part_of_a_program_is_recorded_alone() {
    // 1 in front, 3 and 1 twice within and after a range, 3 of the profiler's, 1.
    for (options, expected) in [
        ("-q", 13),
        ("-q --range step", 6),
        ("-q --range step --launches 4", 4),
        ("-q --part profiler", 3),
        ("-q --part profiler --launches 2", 2),
        ("-q --skip 2 --launches 5", 5),
        ("-q --skip 12", 1),
        ("-q --launches 1", 1),
        ("-q --skip 13", 0),
    ] {
        assert_eq!(launches(options, "parts"), expected, "{options}");
    }
}

#[test]
fn time_begins_and_ends_a_recording() {
    for (options, expected) in [
        ("-q --delay 1", 3),
        ("-q --duration 1", 2),
        ("-q --delay 1 --duration 60", 3),
    ] {
        assert_eq!(launches(options, "pauses"), expected, "{options}");
    }
}

#[test]
fn a_profile_says_which_part_it_is_and_has_the_ranges() {
    let (folder, _) = profiled_with("--range step --timeline t.json --page p.html", "parts");
    let said = "Recorded within ranges of NVTX named \"step\": 2 parts.";
    let printed = fs::read_to_string(folder.path().join("printed")).expect("written");
    assert!(printed.contains(said), "{printed}");
    let page = fs::read_to_string(folder.path().join("p.html")).expect("a page");
    assert!(page.contains("&quot;step&quot;: 2 parts."), "{page}");
    let part = &read(&folder, "all.json")["program"]["processes"][0]["part"];
    assert_eq!(part["count"], 2);
    let timeline = read(&folder, "t.json");
    let events = timeline["traceEvents"].as_array().expect("events");
    let ranges: Vec<&Value> = events.iter().filter(|it| it["cat"] == "range").collect();
    // The range within each has the same name.
    assert_eq!(ranges.len(), 4);
    let begin_and_end = |it: &Value| {
        let begin = it["ts"].as_f64().expect("a time");
        (begin, begin + it["dur"].as_f64().expect("a time"))
    };
    for call in events.iter().filter(|it| it["cat"] == "call") {
        let (begin, _) = begin_and_end(call);
        let is_within = ranges.iter().any(|range| {
            let (first, last) = begin_and_end(range);
            (first..=last).contains(&begin)
        });
        assert!(is_within, "{call}");
    }
}

#[test]
fn the_commands_of_the_page_run_as_they_are_written() {
    let folder = folder();
    for typed in [
        command("profiling-a-program.md", "ridgepoint profile --keep before"),
        command(
            "profiling-a-program.md",
            "ridgepoint profile --recording before",
        ),
        command(
            "profiling-a-program.md",
            "ridgepoint profile --json after.json",
        ),
        command("profiling-a-program.md", "ridgepoint compare before.json"),
    ] {
        let (output, errors) = run(folder.path(), &typed);
        assert_eq!(output.status.code(), Some(0), "{typed}: {errors}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if typed.contains("profile") {
            assert!(printed.contains("cuLaunchKernel"), "{typed}: {printed}");
        }
    }
    for name in [
        "before.page.html",
        "before.json",
        "before.trace.json",
        "before.csv",
    ] {
        let text = fs::read_to_string(folder.path().join(name)).expect(name);
        assert!(text.contains("saxpy"), "{name}");
    }
}

#[test]
fn samples_of_the_page_are_what_is_said_of_their_recordings() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (recording, begin) in [
        ("power-blocking", "python3 power.py blocking"),
        ("roofline", "Kernels under the roofs"),
    ] {
        let typed =
            format!("ridgepoint profile --recording docs/results/h200-programs/{recording}");
        let (output, errors) = run(tree, &typed);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let printed = String::from_utf8_lossy(&output.stdout);
        shows(PAGE, begin, &printed);
    }
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("kept")).expect("a folder");
    for (typed, expected) in [
        (
            "ridgepoint profile --on emulator -- true",
            "no process was recorded",
        ),
        (
            "ridgepoint profile --on emulator -- ./none",
            "cannot run ./none",
        ),
        (
            "ridgepoint profile --on emulator --keep kept -- true",
            "cannot make kept: File exists",
        ),
        (
            "ridgepoint profile --recording nowhere",
            "cannot read nowhere",
        ),
        (
            "ridgepoint profile --on gpu -- true",
            "--on emulator profiles the program without a GPU",
        ),
        (
            "ridgepoint profile --recording kept --range step",
            "--range has no effect with --recording",
        ),
        (
            "ridgepoint profile --range step --delay 1 -- true",
            "cannot be used with",
        ),
        ("ridgepoint profile --skip 0 -- true", "expected"),
    ] {
        let (output, errors) = run(folder.path(), typed);
        assert_ne!(output.status.code(), Some(0), "{typed}");
        assert!(errors.contains(expected), "{typed}: {errors}");
    }
}
