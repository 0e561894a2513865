//! `ridgepoint debug` on a terminal: the sessions of the page, and what it says besides.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::emulate_command::folder;
use crate::guides::{blocks, command, typed};
use crate::streams::ridgepoint;
use crate::support;

const PAGE: &str = "debugging.md";
const PROMPT: &str = "(ridgepoint) ";

/// Runs a command with commands of the debugger on its standard input: what it prints.
fn session(folder: &Path, command: &str, lines: &[&str]) -> (String, Option<i32>) {
    let mut started = typed(&support::ridgepoint(), folder, command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash");
    let mut input = started.stdin.take().expect("piped");
    input
        .write_all(lines.join("\n").as_bytes())
        .expect("it reads");
    drop(input);
    let output = started.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    (text, output.status.code())
}

#[test]
fn the_session_of_the_page_is_what_is_printed() {
    let folder = folder();
    add_source(folder.path());
    let samples = blocks(PAGE, "text");
    let [by_registers, by_names] = &samples[..] else {
        panic!("the page has two sessions: {samples:?}");
    };
    is_printed(folder.path(), by_registers);
    add_variables(folder.path());
    is_printed(folder.path(), by_names);
}

fn is_printed(folder: &Path, sample: &String) {
    let lines: Vec<&str> = sample
        .lines()
        .filter_map(|line| line.strip_prefix(PROMPT))
        .collect();
    assert!(lines.len() > 8, "{lines:?}");
    let command = command("debugging.md", "ridgepoint debug ./saxpy 1280");
    let (printed, status) = session(folder, &command, &lines);
    assert_eq!(&printed, sample);
    assert_eq!(status, Some(0));
}

/// The kernel as `nvcc -G` makes it, in place of the one with lines alone.
pub(crate) fn add_variables(folder: &Path) {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ptx = tree.join("tests/cli/debug_command/saxpy.ptx");
    fs::copy(ptx, folder.join("saxpy.ptx")).expect("nvcc's kernel");
}

#[test]
fn a_schedule_has_a_session() {
    let folder = folder();
    let command = command("debugging.md", "ridgepoint debug --seed 3");
    let (printed, _) = session(folder.path(), &command, &["run", "info warps", "quit"]);
    assert!(printed.contains("out of bounds"), "{printed}");
    assert!(printed.contains("warp 7, lanes"), "{printed}");
}

#[test]
fn what_is_typed_wrong_is_said_and_the_end_of_the_program_too() {
    let folder = folder();
    let lines = [
        "jump",
        "print 1",
        "continue",
        "break 3",
        "break nothing",
        "run",
        "info breakpoints",
        "delete 7",
    ];
    let (printed, status) = session(folder.path(), "ridgepoint debug ./saxpy", &lines);
    for said in [
        "`jump` is no command; `help` lists them",
        "the program does not stand: `run` starts it",
        "the program does not run: `run` starts it",
        "no file is known yet: say FILE:LINE",
        "Breakpoint 1: nothing",
        "The program has ended: exit status: 0.",
        "1: nothing (no kernel has been there yet)",
        "there is no breakpoint 7",
    ] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
    assert_eq!(status, Some(0));
    let (_, status) = session(folder.path(), "ridgepoint debug ./missing", &["run"]);
    assert_eq!(status, Some(3));
}

/// Has the kernel of a folder go around for ever at its third line.
pub(crate) fn never_ends(folder: &Path) {
    let ptx = folder.join("saxpy.ptx");
    let text = fs::read_to_string(&ptx).expect("PTX");
    let endless = text.replace("@%p1 bra \t$L__BB0_2;", "$again: bra.uni $again;");
    assert_ne!(text, endless);
    fs::write(&ptx, endless).expect("writable");
}

#[test]
fn ctrl_c_stops_a_kernel_that_never_ends() {
    let folder = folder();
    never_ends(folder.path());
    let mut started = ridgepoint(folder.path(), "debug ./saxpy")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut input = started.stdin.take().expect("piped");
    let mut output = BufReader::new(started.stdout.take().expect("piped"));
    // The launch has begun for certain: how soon that is depends on the machine's load.
    input.write_all(b"break saxpy\nrun\n").expect("it reads");
    let mut printed = String::new();
    while !printed.contains("Breakpoint 1: block") {
        let read = output.read_line(&mut printed).expect("readable");
        assert_ne!(read, 0, "{printed}");
    }
    input.write_all(b"delete 1\ncontinue\n").expect("it reads");
    thread::sleep(Duration::from_millis(500));
    let pid = started.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.expect("kill").success());
    let rest = b"print %r2\nbreak saxpy.cu:4\nreverse-step\nreverse-step\nquit\n";
    input.write_all(rest).expect("it reads");
    output.read_to_string(&mut printed).expect("readable");
    for said in [
        "Stopped: block [0, 0, 0], thread",
        "u32: 1024",
        "Breakpoint 2: saxpy, saxpy.cu:4",
        "in saxpy at saxpy.cu:2",
    ] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
    let ended = started.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
}

/// A program that says so when it runs, and launches a second later.
pub(crate) fn launches_late(folder: &Path) {
    let script = "#!/bin/sh\necho begun\nsleep 1\nexec ./saxpy\n";
    let path = folder.join("late");
    fs::write(&path, script).expect("writable");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, mode).expect("ours");
}

#[test]
fn ctrl_c_before_a_launch_stops_it_where_it_begins() {
    let folder = folder();
    launches_late(folder.path());
    let mut started = ridgepoint(folder.path(), "debug ./late")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut input = started.stdin.take().expect("piped");
    let mut output = BufReader::new(started.stdout.take().expect("piped"));
    input.write_all(b"run\n").expect("it reads");
    let mut printed = String::new();
    while !printed.ends_with("begun\n") {
        let read = output.read_line(&mut printed).expect("readable");
        assert_ne!(read, 0, "{printed}");
    }
    let pid = started.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.expect("kill").success());
    input.write_all(b"continue\nquit\n").expect("it reads");
    output.read_to_string(&mut printed).expect("readable");
    let stopped = "Stopped: block [0, 0, 0], thread [0, 0, 0], in saxpy at saxpy.cu:1";
    let ended = "The program has ended: exit status: 0.";
    for said in [stopped, ended] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
    assert_eq!(started.wait().expect("it ends").code(), Some(0));
}

/// The kernel's source, beside the program.
pub(crate) fn add_source(folder: &Path) {
    let sources = blocks("any-cuda-program.md", "cuda");
    fs::write(folder.join("saxpy.cu"), &sources[0]).expect("writable");
}
