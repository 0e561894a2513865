//! Outputs, standard streams and signals, as schedulers, pipes and full disks treat them.

use crate::support;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

pub(super) const SWEEP: &str = "roofline --device cpu --n 1001 --k 1,200 --runs 10";
pub(super) const NORM: &str = "norm --device cpu --n 1024 --mode device --rounds 1";
pub(super) const POWER: &str = "power --device cpu --dim 8 --dominance 0.3";

/// The command in this folder, with words that are parted by blanks. No signal is ignored, whatever
/// runs these tests.
pub(super) fn ridgepoint(folder: &Path, words: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,TERM")
        .arg(support::ridgepoint())
        .args(words.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

pub(super) fn run(folder: &Path, words: &str) -> Output {
    ridgepoint(folder, words)
        .output()
        .expect("the command starts")
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Measured once: it takes seconds.
pub(super) static CEILINGS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "ceilings --device cpu --n 1024 --runs 1 --output ceilings.json";
    let output = run(folder.path(), words);
    assert!(output.status.success(), "{}", stderr(&output));
    fs::read(folder.path().join("ceilings.json")).expect("written")
});

/// A folder with rows and ceilings of a run.
pub(super) fn measured() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &format!("{SWEEP} --output rows.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    fs::copy(
        folder.path().join("rows.csv"),
        folder.path().join("again.csv"),
    )
    .expect("copied");
    fs::write(folder.path().join("ceilings.json"), &*CEILINGS).expect("written");
    folder
}

pub(super) fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// The names in a folder, sorted.
pub(super) fn names(folder: &Path) -> Vec<String> {
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
        "merge rows.csv again.csv --output -",
        "merge rows.csv again.csv --output merged.csv",
        "chart rows.csv --ceilings ceilings.json --output chart.svg",
        "links --devices cpu:0 --bytes 4096 --rounds 1",
        "dispatch --device cpu --rounds 1 --launches 2",
        "pipeline --device cpu --size 16 --batches 1 --rounds 1 --kernel polynomial --weight 0.01",
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
    let words = "merge rows.csv again.csv --output -";
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
    // Around 70 it depended on which thread allocated first.
    for more in [0, 8, 16, 32, 48]
        .into_iter()
        .chain(60..80)
        .chain([128, 1024])
    {
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
