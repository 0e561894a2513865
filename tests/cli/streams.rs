//! Outputs, standard streams and signals, as schedulers, pipes and full disks treat them.

use crate::support;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use ridgepoint::study::Checkpoint;
use tempfile::TempDir;

const SWEEP: &str = "roofline --device cpu --n 1001 --k 1,200 --runs 10";
const NORM: &str = "norm --device cpu --n 1024 --mode device --rounds 1";
const POWER: &str = "power --device cpu --dim 8 --dominance 0.3";

/// The command in this folder, with words that are parted by blanks. No signal is ignored, whatever
/// runs these tests.
fn ridgepoint(folder: &Path, words: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,TERM")
        .arg(support::ridgepoint())
        .args(words.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, words: &str) -> Output {
    ridgepoint(folder, words)
        .output()
        .expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Measured once: it takes seconds.
static CEILINGS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "ceilings --device cpu --n 1024 --runs 1 --output ceilings.json";
    let output = run(folder.path(), words);
    assert!(output.status.success(), "{}", stderr(&output));
    fs::read(folder.path().join("ceilings.json")).expect("written")
});

/// A folder with rows and ceilings of a run.
fn measured() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    fs::write(folder.path().join("ceilings.json"), &*CEILINGS).expect("written");
    folder
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry.expect("an entry")))
        .collect();
    names.sort();
    names
}

#[test]
fn a_closed_pipe_ends_quietly_and_a_full_stream_with_3() {
    let folder = measured();
    let commands = [
        "--help",
        "--version",
        "roofline --help",
        "device",
        "kernels --ptx horner_f32_v1",
        "occupancy --arch sm_90",
        "compare rows.csv rows.csv --tolerance 1000000%",
        "merge rows.csv rows.csv --output -",
        "merge rows.csv rows.csv --output merged.csv",
        "chart rows.csv --ceilings ceilings.json --output chart.svg",
        "links --devices cpu:0 --bytes 4096 --rounds 1",
        "dispatch --device cpu --rounds 1 --launches 2",
        "pipeline --device cpu --size 16 --batches 1 --rounds 1 --kernel polynomial --weight 1",
        NORM,
        POWER,
        SWEEP,
        &format!("{SWEEP} --output -"),
        "new package",
    ];
    for words in commands {
        let clean = || drop(fs::remove_dir_all(folder.path().join("package")));
        clean();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let closed = ridgepoint(folder.path(), words).stdout(writer).output();
        let closed = closed.expect("the command starts");
        assert_eq!(
            closed.status.code(),
            Some(141),
            "{words}: {}",
            stderr(&closed)
        );
        assert!(
            !stderr(&closed).contains("error"),
            "{words}: {}",
            stderr(&closed)
        );

        clean();
        let device = File::create("/dev/full").expect("a device");
        let full = ridgepoint(folder.path(), words).stdout(device).output();
        let full = full.expect("the command starts");
        assert_eq!(full.status.code(), Some(3), "{words}: {}", stderr(&full));
        assert!(
            stderr(&full).contains("error: cannot write standard output: No space left"),
            "{words}: {}",
            stderr(&full)
        );
    }
    // What was asked for as a file is whole.
    assert_eq!(lines(&folder.path().join("roofline.csv")), 3);
    assert_eq!(lines(&folder.path().join("merged.csv")), 5);
    assert!(
        fs::read_to_string(folder.path().join("chart.svg"))
            .is_ok_and(|it| it.ends_with("</svg>\n"))
    );

    // One message at most, whatever was being written.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let words = "merge rows.csv rows.csv --output -";
    let closed = ridgepoint(folder.path(), words).stdout(writer).output();
    assert_eq!(stderr(&closed.expect("the command starts")), "");
    let full = File::create("/dev/full").expect("a device");
    let full = ridgepoint(folder.path(), words).stdout(full).output();
    let said = stderr(&full.expect("the command starts"));
    assert_eq!(said.lines().count(), 1, "{said}");

    let device = || File::create("/dev/full").expect("a device");
    for (words, status) in [
        (SWEEP, 0),
        ("roofline --what", 2),
        ("roofline --trace -", 2),
    ] {
        let mute = ridgepoint(folder.path(), words).stderr(device()).output();
        assert_eq!(
            mute.expect("the command starts").status.code(),
            Some(status),
            "{words}"
        );
    }
}

#[test]
fn rows_go_on_to_files_after_the_reader_of_standard_output_has_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let words = format!("{SWEEP} --output=-,rows.csv");
    let to = || writer.try_clone().expect("a pipe");
    let output = ridgepoint(folder.path(), &words).stdout(to()).output();
    assert_eq!(output.expect("the command starts").status.code(), Some(141));
    assert_eq!(lines(&folder.path().join("rows.csv")), 3);
    let words = "merge rows.csv --output=-,merged.csv";
    let output = ridgepoint(folder.path(), words).stdout(to()).output();
    assert_eq!(output.expect("the command starts").status.code(), Some(141));
    assert_eq!(lines(&folder.path().join("merged.csv")), 3);
}

#[test]
fn outputs_that_would_be_lost_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("kept.csv"), "kept").expect("written");
    let cases = [
        (
            "roofline --output o.csv --report o.csv",
            "--output and --report name one output: o.csv",
        ),
        (
            "roofline --output o.csv --trace ./o.csv",
            "--output and --trace name one output",
        ),
        (
            "roofline --format csv --output p.svg --plot p.svg",
            "--output and --plot name",
        ),
        (
            "roofline --output=-,-",
            "--output names one output twice: -",
        ),
        (
            "roofline --report -",
            "--report -: it does not go to standard output",
        ),
        (
            "roofline --trace -",
            "--trace -: it does not go to standard output",
        ),
        (
            "roofline --output kept.csv --baseline kept.csv",
            "over what --baseline reads: kept.csv",
        ),
        (
            "roofline --output kept.csv --ceilings kept.csv",
            "over what --ceilings reads",
        ),
        (
            "merge - kept.csv - --output o.csv",
            "INPUTS -: standard input can be read once",
        ),
        (
            "compare - /dev/stdin",
            "AFTER /dev/stdin: standard input can be read once",
        ),
        (
            "merge kept.csv --output kept.csv",
            "--output would be written over what",
        ),
        (
            "power --checkpoint there --output there",
            "--output and --checkpoint name",
        ),
        (
            "ceilings --output c.json --trace c.json",
            "--output and --trace name",
        ),
        (
            "roofline --output o.xlsx",
            "o.xlsx: the name of a file of rows must end in .csv, .json or .md",
        ),
        (
            "norm --output o.xml",
            "o.xml: the name of a file of rows must end in",
        ),
        ("occupancy --output o.csv.partial", "unfinished files"),
    ];
    for (words, expected) in cases {
        let output = run(folder.path(), words);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert!(message.contains(expected), "{words}: {message}");
        assert_eq!(names(folder.path()), ["kept.csv"], "{words}");
        assert_eq!(output.stdout, b"", "{words}");
    }
}

#[test]
fn names_need_not_be_text() {
    let folder = measured();
    let path = |name: &str| {
        let name = [b"\xff", name.as_bytes()].concat();
        folder.path().join(OsStr::from_bytes(&name))
    };
    fs::rename(folder.path().join("ceilings.json"), path("ceilings.json")).expect("renamed");
    let to = |words: &str, options: &[(&str, &str)]| {
        let mut command = ridgepoint(folder.path(), words);
        for (option, name) in options {
            let mut word = OsString::from(option);
            word.push(path(name));
            command.arg(word);
        }
        let output = command.output().expect("the command starts");
        let message = stderr(&output);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words} {options:?}: {message}"
        );
        for (_, name) in options {
            assert!(path(name).exists(), "{words}: {name}");
        }
    };
    let files = [
        ("--output=", "a.json"),
        ("--plot=", "a.svg"),
        ("--report=", "a.html"),
        ("--trace=", "t.json"),
        ("--ceilings=", "ceilings.json"),
    ];
    to(SWEEP, &files);
    let study =
        "occupancy --device cpu --n 1024 --runs 1 --kernel copy --block 256 --ilp 1 --shared 0";
    to(study, &files);
    to("occupancy --arch 90", &[("--output=", "m.json")]);
    to(NORM, &[("--output=", "n.md")]);
    to(POWER, &[("--checkpoint=", "ck"), ("--output=", "p.csv")]);
    to("merge rows.csv", &[("--output=", "m.csv")]);
    to("compare --tolerance 1000000% rows.csv", &[("", "m.csv")]);
    to(
        "chart rows.csv",
        &[("--ceilings=", "ceilings.json"), ("--output=", "c.svg")],
    );
    to(
        "ceilings --device cpu --n 1024 --runs 1",
        &[("--output=", "c.json")],
    );
}

/// A sweep that would take hours, once it has written some rows.
fn started(folder: &Path, words: &str) -> Child {
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

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    kill(pid, signal).expect("it runs");
}

fn json_rows(path: &Path) -> usize {
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

#[test]
fn a_killed_run_loses_no_row_and_no_earlier_file() {
    let measured = measured();
    let folder = measured.path();
    for command in ["roofline", "occupancy"] {
        for name in ["rows.csv", "rows.json", "chart.svg", "report.html"] {
            fs::write(folder.join(name), "earlier").expect("written");
        }
        let words =
            format!("{command} --output rows.csv,rows.json --plot chart.svg --report report.html");
        let mut child = started(folder, &words);
        let second = run(folder, &format!("{SWEEP} --output rows.csv"));
        assert_eq!(second.status.code(), Some(3), "{}", stderr(&second));
        assert!(stderr(&second).contains("cannot write rows.csv: another process is writing it"));

        child.kill().expect("it runs");
        assert_eq!(child.wait().expect("it ends").signal(), Some(9));
        for name in ["rows.csv", "rows.json", "chart.svg", "report.html"] {
            let text = fs::read_to_string(folder.join(name)).expect("there");
            assert_eq!(text, "earlier", "{command}: {name}");
        }
        let said = fs::read_to_string(folder.join("said")).expect("text");
        let head = if command == "roofline" {
            "k = "
        } else {
            "copy"
        };
        let announced = said.lines().filter(|line| line.starts_with(head)).count();
        let kept = lines(&folder.join("rows.csv.partial")) - 1;
        let parsed = json_rows(&folder.join("rows.json.partial"));
        assert!(announced >= 2 && kept >= announced, "{kept} of {announced}");
        assert!(
            kept - parsed <= 1 && parsed >= announced,
            "{parsed} of {announced}"
        );

        let next = run(
            folder,
            &format!("{SWEEP} --output rows.csv --plot chart.svg"),
        );
        assert!(next.status.success(), "{}", stderr(&next));
        let aside = folder.join("rows.csv.partial.1");
        assert!(
            stderr(&next).contains("rows.csv.partial.1"),
            "{}",
            stderr(&next)
        );
        assert_eq!(
            (lines(&aside), lines(&folder.join("rows.csv"))),
            (kept + 1, 3)
        );
        assert!(!names(folder).contains(&"chart.svg.partial".to_owned()));
        fs::remove_file(aside).expect("there");
        fs::remove_file(folder.join("rows.json.partial")).expect("there");
    }
}

#[test]
fn the_rows_of_a_killed_run_outlive_every_command() {
    let measured = measured();
    let folder = measured.path();
    let rows = fs::read(folder.join("rows.csv")).expect("there");
    let killed = |name: &str| fs::write(folder.join(name), &rows).expect("written");
    killed("o.csv.partial");
    let merged = run(folder, "merge o.csv.partial --output o.csv");
    assert!(merged.status.success(), "{}", stderr(&merged));
    assert_eq!(fs::read(folder.join("o.csv")).expect("there"), rows);
    assert_eq!(
        fs::read(folder.join("o.csv.partial.1")).expect("there"),
        rows
    );

    killed("c.csv.partial");
    let words = "ceilings --device cpu --n 1024 --runs 1 --output c.csv";
    let next = run(folder, words);
    assert!(next.status.success(), "{}", stderr(&next));
    let said = "c.csv.partial is what a run that was killed has left: it is c.csv.partial.1 now";
    assert!(stderr(&next).contains(said), "{}", stderr(&next));
    assert_eq!(
        fs::read(folder.join("c.csv.partial.1")).expect("there"),
        rows
    );
    assert!(!folder.join("c.csv.partial").exists());
}

#[test]
fn a_file_that_is_replaced_keeps_its_place_and_its_permissions() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real.csv"), "earlier").expect("written");
    fs::set_permissions(at("real.csv"), PermissionsExt::from_mode(0o640)).expect("its own");
    symlink("real.csv", at("link.csv")).expect("linked");
    fs::create_dir(at("far")).expect("a folder");
    symlink("far/new.csv", at("dangling.csv")).expect("linked");

    // Refused or failed before the first row: as it was.
    let failed = run(
        folder.path(),
        &format!("{SWEEP} --output link.csv --baseline nothing"),
    );
    assert_eq!(failed.status.code(), Some(3), "{}", stderr(&failed));
    assert_eq!(
        fs::read_to_string(at("real.csv")).expect("there"),
        "earlier"
    );

    let output = run(
        folder.path(),
        &format!("{SWEEP} --output link.csv,dangling.csv"),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(at("link.csv").is_symlink() && at("dangling.csv").is_symlink());
    assert_eq!((lines(&at("real.csv")), lines(&at("far/new.csv"))), (3, 3));
    let mode = |name| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode("real.csv"), 0o640);
    fs::write(at("plain"), "").expect("written");
    assert_eq!(
        mode("far/new.csv"),
        mode("plain"),
        "as any file of this user"
    );
    let all = ["dangling.csv", "far", "link.csv", "plain", "real.csv"];
    assert_eq!(names(folder.path()), all);
}

#[test]
fn what_others_put_in_the_place_of_an_unfinished_file_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rows, partial) = (
        folder.path().join("rows.csv"),
        folder.path().join("rows.csv.partial"),
    );
    let elsewhere = folder.path().join("elsewhere");
    symlink(&elsewhere, &partial).expect("a link to nothing");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("rows.csv.partial was a link"), "{said}");
    assert!(!rows.is_symlink() && rows.is_file() && !elsewhere.exists());
    assert!(!partial.is_symlink() && !partial.exists());
    // An empty file of somebody else's is not the one that becomes the output.
    fs::write(&partial, "").expect("a file");
    let before = fs::File::open(&partial).expect("it is there");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(before.metadata().expect("open").len(), 0);
    let made = Command::new("mkfifo").arg(&partial).status();
    assert!(made.expect("mkfifo").success());
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("rows.csv.partial: "),
        "{}",
        stderr(&output)
    );
}

/// With a limit a little above the size of the program itself: the first that lets it say its version, and more.
#[test]
fn a_process_with_little_memory_says_so_and_is_not_aborted() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = |kib: u64, words: &str| {
        let program = support::ridgepoint();
        let line = format!("ulimit -v {kib} && exec '{}' {words}", program.display());
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(folder.path())
            .output();
        output.expect("a shell")
    };
    let least = (16..4096)
        .map(|step| step * 1024)
        .find(|kib| limited(*kib, "--version").status.success());
    let least = least.expect("with 4 GiB it starts");
    let mut said = Vec::new();
    for more in [0, 8, 16, 32, 48, 64, 68, 80, 128, 1024] {
        let output = limited(least + more * 1024, "norm --device cpu --n 1024 --rounds 1");
        let status = output.status.code();
        assert!(
            matches!(status, Some(0 | 3)),
            "{more} MiB more: {status:?}: {}",
            stderr(&output)
        );
        if status == Some(3) {
            assert!(
                stderr(&output).contains(" MiB of memory are free for this process"),
                "{}",
                stderr(&output)
            );
        }
        said.push(status);
    }
    assert!(
        said.contains(&Some(0)) && said.contains(&Some(3)),
        "{said:?}"
    );
}
