//! How commands end: by a signal before their first row, in another run's folder, without the result that was asked for.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::signals::send;
use super::streams::{ridgepoint, run, stderr};

/// A second for the command, and what a busy machine makes of it.
const SOON: Duration = Duration::from_secs(4);

/// Waits for what another process is about to do.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let last = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < last, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The names of a folder's files that are not whole.
fn unfinished(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    names.filter(|name| name.contains(".partial")).collect()
}

/// Each with a first row that takes minutes, or with an input that never ends.
#[test]
fn every_command_answers_a_signal_before_its_first_row() {
    let cases = [
        (
            "roofline --device cpu --n 2^24 --k 1000 --output out.csv,out.json --plot out.svg",
            Signal::SIGTERM,
            143,
        ),
        (
            "occupancy --device cpu --kernel horner --n 2^24 --k 1000 --output out.csv",
            Signal::SIGINT,
            130,
        ),
        (
            "ceilings --device cpu --n 2^28 --output out.csv",
            Signal::SIGHUP,
            129,
        ),
        (
            "profile --kernel horner --axis n=2^24 --axis k=1000 --json out.csv --page out.html",
            Signal::SIGTERM,
            143,
        ),
        (
            "measure --device cpu --kernel horner --axis n=2^24 --axis k=1000",
            Signal::SIGINT,
            130,
        ),
        (
            "power --device cpu --dim 4096 --check-every 1000 --output out.csv",
            Signal::SIGTERM,
            143,
        ),
        ("merge - --output out.csv,out.json", Signal::SIGTERM, 143),
        ("compare - nothing.csv", Signal::SIGHUP, 129),
    ];
    for (words, signal, status) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = ridgepoint(folder.path(), words);
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut input = child.stdin.take().expect("piped");
        // It reads no further than this, and waits.
        let _ = input.write_all(b"kernel,median_ms,rms_percent\na,1,1\nb,1,1\nc,1,1\n");
        if words.contains("out.csv") {
            until(words, || !unfinished(folder.path()).is_empty());
        }
        std::thread::sleep(Duration::from_millis(300));
        let sent = Instant::now();
        send(&child, signal);
        let output = child.wait_with_output().expect("it ends");
        let took = sent.elapsed();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{words}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(&format!("ended by {signal}")),
            "{words}: {}",
            stderr(&output)
        );
        assert!(took < SOON, "{words}: {took:?}");
        assert_eq!(unfinished(folder.path()), [""; 0], "{words}");
        drop(input);
    }
}

/// The point that is being measured would take minutes more.
#[test]
fn the_rows_before_a_long_point_are_in_their_file_within_a_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "roofline --device cpu --kernel horner --x 0.5 --n 2^16 --k 1,100000 --output rows.csv,rows.json --plot rows.svg";
    let child = ridgepoint(folder.path(), words)
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.expect("the command starts");
    let partial = folder.path().join("rows.json.partial");
    until("a first row", || {
        fs::metadata(&partial).is_ok_and(|file| file.len() > 0)
    });
    // The row is in both files by now, and the next point has begun.
    std::thread::sleep(Duration::from_millis(300));
    let sent = Instant::now();
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    assert!(sent.elapsed() < SOON, "{:?}", sent.elapsed());
    let rows = fs::read_to_string(folder.path().join("rows.csv")).expect("written");
    assert_eq!(rows.lines().count(), 2, "{rows}");
    let json = fs::read(folder.path().join("rows.json")).expect("written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(unfinished(folder.path()), [""; 0]);
}

/// Whether a process is there, and does not only wait to be asked how it ended.
fn is_alive(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|it| it.strip_prefix("State:"));
    state.is_some_and(|it| !it.trim().starts_with('Z'))
}

/// Nothing can be cleared away by the command that is killed: its program ends, and the next command clears away.
#[test]
fn a_killed_command_ends_its_program_and_leaves_no_folder_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).expect("a folder");
    let start = |script: &str| {
        let mut command = ridgepoint(folder.path(), "emulate -- sh -c");
        command.arg(script).env("TMPDIR", &temporary);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the command starts")
    };
    let left = || fs::read_dir(&temporary).expect("a folder").count();
    let mut killed = start("echo $$ > process.new; mv process.new process; exec sleep 300");
    let process = folder.path().join("process");
    until("the program's start", || process.exists());
    let process = fs::read_to_string(process).expect("a number");
    assert!(is_alive(process.trim()) && left() == 1);
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    until("the program's end", || !is_alive(process.trim()));
    assert_eq!(left(), 1);
    let next = start("exit 0").wait().expect("it ends");
    // It has launched nothing.
    assert_eq!(next.code(), Some(3));
    assert_eq!(left(), 0);
}

#[test]
fn a_folder_of_checkpoints_is_of_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = "power --device cpu --dim 64 --tolerance 1e-300 --max-steps 10000000 --check-every 1 --checkpoint steps";
    let first = ridgepoint(folder.path(), &format!("{endless} --seed 1"))
        .stdout(Stdio::null())
        .spawn();
    let mut first = first.expect("the command starts");
    let steps = folder.path().join("steps");
    until("a checkpoint", || {
        fs::read_dir(&steps).is_ok_and(|mut all| all.next().is_some())
    });
    for words in [
        format!("{endless} --seed 2"),
        format!("{endless} --seed 1 --resume"),
        "power --devices cpu:0,cpu:1 --dim 64 --exchange gather --checkpoint steps".to_owned(),
    ] {
        let second = run(folder.path(), &words);
        let said = stderr(&second);
        assert_eq!(second.status.code(), Some(3), "{words}: {said}");
        assert!(
            said.contains("steps: ") && said.contains("writes checkpoints there"),
            "{words}: {said}"
        );
    }
    send(&first, Signal::SIGTERM);
    assert_eq!(first.wait().expect("it ends").code(), Some(143));
    let resumed = run(
        folder.path(),
        "power --device cpu --dim 64 --seed 1 --checkpoint steps --resume --max-steps 10000000 --check-every 1000",
    );
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    // A file in the folder's place is named.
    fs::write(folder.path().join("file"), "").expect("written");
    let refused = run(
        folder.path(),
        "power --device cpu --dim 8 --checkpoint file",
    );
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(
        said.contains("cannot create the folder file: it is a file"),
        "{said}"
    );
}

#[test]
fn an_iteration_that_has_not_converged_ends_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [
        "power --device cpu --dim 8 --max-steps 5 --output row.csv",
        "power --devices cpu:0,cpu:1 --dim 8 --max-steps 5 --exchange gather --output row.csv",
    ] {
        let output = run(folder.path(), words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(
            said.contains("not converged: the residual is "),
            "{words}: {said}"
        );
        assert!(folder.path().join("row.csv").exists(), "{words}");
        fs::remove_file(folder.path().join("row.csv")).expect("there");
    }
    let converged = run(folder.path(), "power --device cpu --dim 8 --dominance 0.3");
    assert_eq!(converged.status.code(), Some(0), "{}", stderr(&converged));
}
