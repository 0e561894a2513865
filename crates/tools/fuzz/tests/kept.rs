//! Tests of the program itself: kept files, seeds, and a child that dies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cuda_builder::nvidia::Tool;

/// Files whose faults are still open: each ends the process. One that no longer does fails the test, so that it is taken off.
const OPEN: &[&str] = &[];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn fuzz(arguments: &[&str]) -> Output {
    let log = std::env::temp_dir().join(format!("fuzz-test-{}.log", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ridgepoint-fuzz"));
    command.args(arguments);
    if arguments[0] != "replay" && arguments[0] != "show" {
        command.arg("--log").arg(log);
    }
    command.output().expect("the program")
}

fn text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Every crash that was found stays here as a file.
#[test]
fn kept_files_end_no_process() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(corpus()).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|it| it != "ptx") {
            continue;
        }
        count += 1;
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let output = fuzz(&["replay", path.to_str().expect("a path")]);
        match (output.status.success(), OPEN.contains(&name.as_str())) {
            (true, false) | (false, true) => {}
            (true, true) => wrong.push(format!("{name}: runs, and is in the list of open faults")),
            (false, false) => wrong.push(format!("{name}: {}: {}", output.status, text(&output))),
        }
    }
    assert!(count > 20 && wrong.is_empty(), "of {count}: {wrong:#?}");
}

#[test]
fn programs_agree_and_nothing_compared_fails() {
    let output = fuzz(&[
        "programs",
        "--devices",
        "cpu",
        "--count",
        "200",
        "--jobs",
        "2",
    ]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("seeds 0..200: 200 programs agree in all bits, 0 differ or end"),
        "{}",
        text(&output)
    );
    let output = fuzz(&["programs", "--devices", "cpu", "--count", "0"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

#[test]
fn seeds_of_a_file_are_run_and_the_summary_tells_what_time_left() {
    let path = std::env::temp_dir().join(format!("fuzz-test-{}.seeds", std::process::id()));
    fs::write(&path, "7 1812\n20..23\n").expect("a file");
    let path_text = path.to_str().expect("a path");
    let words = ["programs", "--devices", "cpu", "--seeds", path_text];
    let output = fuzz(&words);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("5 seeds: 5 programs agree"), "{said}");
    let output = fuzz(&[&words[..], &["--time", "0"]].concat());
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let begin = "5 seeds, 0 of them before the time was over: 0 programs agree";
    assert!(said.contains(begin), "{said}");
    let endless = ["programs", "--devices", "cpu", "--count", "200000"];
    let output = fuzz(&[&endless[..], &["--time", "2", "--jobs", "2"]].concat());
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("before the time was over: "), "{said}");
    fs::remove_file(path).expect("removed");
}

/// The assembler takes all that the generator writes.
#[test]
fn ptxas_takes_every_program() {
    let ptxas = Tool::Ptxas.find(Path::new(env!("CARGO_MANIFEST_DIR")));
    let ptxas = ptxas.expect("./setup.sh brings it");
    let shown = fuzz(&["show", "--count", "300", "--without", ""]);
    let path = std::env::temp_dir().join(format!("fuzz-test-{}.ptx", std::process::id()));
    fs::write(&path, &shown.stdout).expect("a file");
    let output = Command::new(ptxas)
        .args(["-arch=sm_90", "-O0", "-o", "/dev/null"])
        .arg(&path)
        .output()
        .expect("ptxas");
    assert!(output.status.success(), "{}", text(&output));
    fs::remove_file(path).expect("removed");
}

#[test]
fn wrong_words_are_refused() {
    for words in [
        &["programs", "--sed", "1"][..],
        &["nothing"],
        &["programs", "--without", "x"],
    ] {
        let output = fuzz(words);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{words:?}: {}",
            text(&output)
        );
    }
}

/// Stale handles, null pointers and wrong sizes are errors, and nothing is left behind.
#[test]
fn no_sequence_of_calls_ends_the_process_or_leaves_memory_behind() {
    let output = fuzz(&["calls", "--count", "200", "--jobs", "2"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("200 mutants, 0 panics, 0 ended"), "{said}");
    assert!(
        said.contains("200 sequences of calls that left nothing behind"),
        "{said}"
    );
}

/// Readers of files have no open faults.
#[cfg(feature = "files")]
#[test]
fn mutants_of_files_end_no_process() {
    for target in ["rows", "launch-files", "frames"] {
        let output = fuzz(&[target, "--count", "2000", "--jobs", "2"]);
        assert!(output.status.success(), "{target}: {}", text(&output));
        assert!(
            text(&output).contains("2000 mutants, 0 panics, 0 ended"),
            "{}",
            text(&output)
        );
    }
}

/// A seed at which a process dies is named, and those after it are run.
#[test]
fn a_process_that_dies_is_named_and_the_others_go_on() {
    let folder = std::env::temp_dir().join(format!("fuzz-corpus-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(corpus().join("endless.ptx"), folder.join("a.ptx")).expect("a copy");
    let output = fuzz(&[
        "modules",
        "--count",
        "64",
        "--jobs",
        "2",
        "--die-at",
        "17",
        "--corpus",
        folder.to_str().expect("a path"),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(
        said.contains("1 processes ended, first at seed 17") && said.contains("64 mutants"),
        "{said}"
    );
    fs::remove_dir_all(folder).expect("removed");
}
