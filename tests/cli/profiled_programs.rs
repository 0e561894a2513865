//! `ridgepoint profile -- PROGRAM`: programs in C and in Python on the emulated driver, recorded from within.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::emulate_command::{folder, run};
use crate::guides::{command, shows};

const PAGE: &str = "profiling-a-program.md";

/// What `profile` writes of the Python program beside this file, run in this way, and its exit status.
fn profiled(way: &str) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/profiled_programs/doubled.py");
    fs::copy(script, folder.path().join("doubled.py")).expect("the program");
    let typed =
        format!("ridgepoint profile --on emulator --json all.json -q -- python3 doubled.py {way}");
    let (output, errors) = run(folder.path(), &typed);
    let text = fs::read_to_string(folder.path().join("all.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {errors}"));
    let value: Value = serde_json::from_str(&text).expect("JSON");
    (value["program"].clone(), output.status.code())
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
    assert_eq!(of("host", "cuLaunchKernel", "doubled.py:47"), 5);
    assert_eq!(of("host", "cuMemcpyDtoH", "doubled.py:48"), 5);
    assert_eq!(of("host", "cuModuleLoadData", "doubled.py:40"), 1);
    assert_eq!(of("device", "twice", "doubled.py:47"), 5);
}

#[test]
fn threads_write_into_one_recording() {
    let (program, status) = profiled("threads");
    assert_eq!(status, Some(0));
    assert_eq!(
        calls(&program, "host", "cuLaunchKernel", "doubled.py:47"),
        40
    );
    assert_eq!(calls(&program, "device", "twice", "doubled.py:47"), 40);
}

#[test]
fn what_was_recorded_is_whole_however_a_process_ends() {
    for (way, status) in [("forked", 0), ("exits", 0), ("killed", 128 + 9)] {
        let (program, ended) = profiled(way);
        assert_eq!(ended, Some(status), "{way}");
        assert_eq!(
            calls(&program, "device", "twice", "doubled.py:47"),
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
fn the_sample_of_the_page_is_what_is_said_of_its_recording() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    let typed = "ridgepoint profile --recording docs/results/h200-programs/power-blocking";
    let (output, errors) = run(tree, typed);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let printed = String::from_utf8_lossy(&output.stdout);
    shows(PAGE, "python3 power.py blocking", &printed);
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
    ] {
        let (output, errors) = run(folder.path(), typed);
        assert_ne!(output.status.code(), Some(0), "{typed}");
        assert!(errors.contains(expected), "{typed}: {errors}");
    }
}
