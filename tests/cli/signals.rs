//! Signals that end commands, and what is written then.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use ridgepoint::study::Checkpoint;

use super::streams::{lines, names, ridgepoint, run, stderr};
use crate::support;

/// A sweep that would take hours, once it has written some rows.
pub(super) fn started(folder: &Path, words: &str) -> Child {
    let degrees: Vec<String> = (1..=5000).map(|k| k.to_string()).collect();
    let study = match words.starts_with("roofline") {
        true => format!("{words} --device cpu --n 2^14 --k {}", degrees.join(",")),
        false => format!("{words} --device cpu --n 2^14 --runs 1 --ceilings ceilings.json"),
    };
    let said = File::create(folder.join("said")).expect("a file");
    let child = ridgepoint(folder, &study).stdout(said).spawn();
    let mut child = child.expect("the command starts");
    let until = Instant::now() + Duration::from_secs(60);
    while lines(&folder.join("rows.csv.partial")) < 4 {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none() && Instant::now() < until, "{ended:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

pub(super) fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    kill(pid, signal).expect("it runs");
}

pub(super) fn json_rows(path: &Path) -> usize {
    let text = fs::read(path).expect("there");
    let json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    json["rows"].as_array().expect("rows").len()
}

#[test]
fn each_signal_ends_a_sweep_with_what_it_has_measured() {
    for (signal, status) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let words = "roofline --output rows.csv,rows.json --plot rows.svg --report rows.html";
        let mut child = started(folder.path(), words);
        send(&child, signal);
        assert_eq!(child.wait().expect("it ends").code(), Some(status));
        let files = ["rows.csv", "rows.html", "rows.json", "rows.svg", "said"];
        assert_eq!(names(folder.path()), files, "{signal}");
        let rows = lines(&folder.path().join("rows.csv")) - 1;
        assert!((3..5000).contains(&rows), "{rows}");
        assert_eq!(json_rows(&folder.path().join("rows.json")), rows);
    }
}

#[test]
fn every_command_that_measures_ends_when_it_is_asked_to() {
    // More rounds than a signal can come too late for, however busy the machine is.
    let cases = [
        ("norm --rounds 1000", Signal::SIGTERM, 143),
        (
            "pipeline --size 16 --rounds 1000 --kernel polynomial",
            Signal::SIGHUP,
            129,
        ),
        ("dispatch --rounds 1000 --launches 100", Signal::SIGINT, 130),
        ("ceilings", Signal::SIGTERM, 143),
        ("occupancy", Signal::SIGHUP, 129),
    ];
    for (words, signal, status) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let words = format!("{words} --device cpu --output rows.csv");
        let mut child = ridgepoint(folder.path(), &words);
        let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the command starts");
        while !folder.path().join("rows.csv.partial").exists() {
            let ended = child.try_wait().expect("a child");
            assert!(ended.is_none(), "{words}: {ended:?} before its first row");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(200));
        send(&child, signal);
        let output = child.wait_with_output().expect("it ends");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{words}: {message}");
        assert!(message.contains(&format!("ended by {signal}")), "{message}");
        assert!(
            !names(folder.path()).contains(&"rows.csv.partial".to_owned()),
            "{words}"
        );
    }
}

#[test]
fn an_iteration_that_is_ended_goes_on_from_its_last_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "power --device cpu --dim 32 --tolerance 1e-300 --max-steps 1000000 --check-every 1 \
                 --checkpoint steps --output row.csv";
    let child = ridgepoint(folder.path(), words)
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.expect("the command starts");
    let steps = folder.path().join("steps");
    while !steps.exists() || names(&steps).len() < 3 {
        std::thread::sleep(Duration::from_millis(10));
    }
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    let newest = Checkpoint::newest(&steps)
        .expect("readable")
        .expect("there");
    let row = csv::Reader::from_path(folder.path().join("row.csv")).expect("a CSV");
    let row = row.into_records().next().expect("a row").expect("readable");
    let expected = ["async", "32", "0", &newest.step.to_string()];
    assert_eq!(row.iter().take(4).collect::<Vec<_>>(), expected);
    assert_eq!(&row[7], "false", "it has not converged: {row:?}");
    let resumed = run(
        folder.path(),
        "power --device cpu --dim 32 --max-steps 1000000 --checkpoint steps --resume",
    );
    assert!(resumed.status.success(), "{}", stderr(&resumed));
}

#[test]
fn a_second_signal_does_not_wait_and_an_ignored_one_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "norm --device cpu --n 2^20 --rounds 1000";
    let slow = ridgepoint(folder.path(), words)
        .stdout(Stdio::null())
        .spawn();
    let mut slow = slow.expect("the command starts");
    std::thread::sleep(Duration::from_millis(500));
    send(&slow, Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(
        slow.try_wait().expect("a child"),
        None,
        "a round takes longer"
    );
    send(&slow, Signal::SIGINT);
    assert_eq!(slow.wait().expect("it ends").code(), Some(130));

    let mut nohup = Command::new("env");
    nohup.arg("--ignore-signal=HUP").arg(support::ridgepoint());
    let words = "norm --device cpu --n 1024 --mode device --rounds 300 --output rows.csv";
    let nohup = nohup.args(words.split(' ')).current_dir(folder.path());
    let mut nohup = nohup.stdout(Stdio::null()).spawn().expect("it starts");
    while !folder.path().join("rows.csv.partial").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    send(&nohup, Signal::SIGHUP);
    assert_eq!(nohup.wait().expect("it ends").code(), Some(0));
}

/// Starts a shell by `emulate`, which says by a file that it has begun.
fn shell(folder: &Path, script: &str) -> Child {
    let mut command = ridgepoint(folder, "emulate sh -c");
    command.arg(format!(
        "{script}; touch begun; while :; do sleep 0.02; done"
    ));
    let child = command.stderr(Stdio::null()).spawn();
    let child = child.expect("the command starts");
    let until = Instant::now() + Duration::from_secs(60);
    while !folder.join("begun").exists() {
        assert!(Instant::now() < until, "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// `timeout` sends its signal to the command and then to the command's group.
#[test]
fn two_signals_at_once_are_one_and_reach_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = shell(folder.path(), "trap 'sleep 0.3; touch told; exit' TERM");
    send(&child, Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(2));
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    assert!(folder.path().join("told").exists());
}

#[test]
fn a_second_signal_ends_a_program_that_ignores_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = shell(folder.path(), "trap '' TERM; echo $$ > pid");
    let pid = fs::read_to_string(folder.path().join("pid")).expect("there");
    let pid = Pid::from_raw(pid.trim().parse().expect("a number"));
    send(&child, Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().expect("a child"), None, "it waits");
    kill(pid, None).expect("the program is there");
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    let until = Instant::now() + Duration::from_secs(10);
    while is_running(pid) {
        assert!(Instant::now() < until, "the program is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether there is such a process, which may have nobody that waits for it.
fn is_running(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.contains(')') && !status.contains(") Z ")
}
