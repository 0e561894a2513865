//! `ridgepoint debug` on a terminal: the sessions of the page, and what it says besides.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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
fn a_register_that_is_not_written_yet_is_told_apart() {
    let folder = folder();
    let lines = [
        "break saxpy.cu:3 if blockIdx.x == 3 && threadIdx.x == 17",
        "run",
        "print %rd5",
        "lanes %f2",
        "info registers",
        "quit",
    ];
    let (printed, _) = session(folder.path(), "ridgepoint debug ./saxpy", &lines);
    for said in [
        "`%rd5` is not written yet\n",
        "`%f2` is not written yet\n",
        "%r1: u32 = 785\n",
        "%rd5: u64 = <not written yet>\n",
        "%f4: f32 = <not written yet>\n",
    ] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
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

/// A debugger that has been told something, and has printed something in answer.
struct Told {
    started: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    printed: String,
}

impl Told {
    /// Starts a command, has it read, and waits until it has printed `until`: how soon that is depends on the machine's load.
    fn new(folder: &Path, command: &str, lines: &str, until: &str) -> Told {
        let mut started = ridgepoint(folder, command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command");
        let mut told = Told {
            input: started.stdin.take().expect("piped"),
            output: BufReader::new(started.stdout.take().expect("piped")),
            started,
            printed: String::new(),
        };
        told.tell(lines);
        while !told.printed.contains(until) {
            let read = told.output.read_line(&mut told.printed).expect("readable");
            assert_ne!(read, 0, "{}", told.printed);
        }
        told
    }

    fn tell(&mut self, lines: &str) {
        self.input.write_all(lines.as_bytes()).expect("it reads");
    }

    fn interrupt(&self) {
        let pid = self.started.id().to_string();
        let killed = Command::new("kill").args(["-INT", &pid]).status();
        assert!(killed.expect("kill").success());
    }

    /// Tells it the rest, after which it ends by itself and has printed these.
    fn ends(mut self, lines: &str, expected: &[&str]) {
        self.tell(lines);
        let printed = &mut self.printed;
        self.output.read_to_string(printed).expect("readable");
        for said in expected {
            assert!(printed.contains(said), "{said}: {printed}");
        }
        let ended = self.started.wait().expect("it ends");
        assert_eq!(ended.code(), Some(0));
    }
}

#[test]
fn ctrl_c_stops_a_kernel_that_never_ends() {
    let folder = folder();
    never_ends(folder.path());
    let begun = "Breakpoint 1: block";
    let mut told = Told::new(folder.path(), "debug ./saxpy", "break saxpy\nrun\n", begun);
    told.tell("delete 1\ncontinue\n");
    thread::sleep(Duration::from_millis(500));
    told.interrupt();
    told.ends(
        "print %r2\nbreak saxpy.cu:4\nreverse-step\nreverse-step\nquit\n",
        &[
            "Stopped: block [0, 0, 0], thread",
            "u32: 1024",
            "Breakpoint 2: saxpy, saxpy.cu:4",
            "in saxpy at saxpy.cu:2",
        ],
    );
}

/// A program that says so when it runs, and launches a second after [`is_asked_to_stop`].
pub(crate) fn launches_late(folder: &Path) {
    let script =
        "#!/bin/sh\necho begun\nwhile [ ! -e asked ]; do sleep 0.1; done\nsleep 1\nexec ./saxpy\n";
    let _ = fs::remove_file(folder.join("asked"));
    let path = folder.join("late");
    fs::write(&path, script).expect("writable");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, mode).expect("ours");
}

/// Lets that program go on: how long it took to ask depends on the machine's load.
pub(crate) fn is_asked_to_stop(folder: &Path) {
    fs::write(folder.join("asked"), "").expect("writable");
}

#[test]
fn ctrl_c_before_a_launch_stops_it_where_it_begins() {
    let folder = folder();
    launches_late(folder.path());
    let told = Told::new(folder.path(), "debug ./late", "run\n", "begun\n");
    told.interrupt();
    is_asked_to_stop(folder.path());
    told.ends(
        "continue\nquit\n",
        &[
            "Stopped: block [0, 0, 0], thread [0, 0, 0], in saxpy at saxpy.cu:1",
            "The program has ended: exit status: 0.",
        ],
    );
}

/// The kernel's source, beside the program.
pub(crate) fn add_source(folder: &Path) {
    let sources = blocks("any-cuda-program.md", "cuda");
    fs::write(folder.join("saxpy.cu"), &sources[0]).expect("writable");
}
