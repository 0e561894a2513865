//! `ridgepoint debug`: the session of the page, and an editor that is a test.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::emulate_command::folder;
use crate::guides::{blocks, command, typed};
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
    let sample = samples.first().expect("the page has a session");
    let lines: Vec<&str> = sample
        .lines()
        .filter_map(|line| line.strip_prefix(PROMPT))
        .collect();
    assert!(lines.len() > 10, "{lines:?}");
    let command = command("debugging.md", "ridgepoint debug ./saxpy 1280");
    let (printed, status) = session(folder.path(), &command, &lines);
    assert_eq!(&printed, sample);
    assert_eq!(status, Some(0));
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
fn never_ends(folder: &Path) {
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
    let mut started = Command::new(support::ridgepoint())
        .args(["debug", "./saxpy"])
        .current_dir(folder.path())
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
fn launches_late(folder: &Path) {
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
    let mut started = Command::new(support::ridgepoint())
        .args(["debug", "./late"])
        .current_dir(folder.path())
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
fn add_source(folder: &Path) {
    let sources = blocks("any-cuda-program.md", "cuda");
    fs::write(folder.join("saxpy.cu"), &sources[0]).expect("writable");
}

/// An editor.
struct Editor {
    adapter: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: VecDeque<Value>,
    sent: u64,
}

impl Editor {
    fn start(folder: &Path) -> Editor {
        let mut adapter = Command::new(support::ridgepoint())
            .args(["debug", "--dap"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command");
        let output = adapter.stdout.take().expect("piped");
        let (sender, from) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Editor {
            to: adapter.stdin.take().expect("piped"),
            adapter,
            from,
            events: VecDeque::new(),
            sent: 0,
        }
    }

    fn next(&mut self) -> Value {
        const PATIENCE: Duration = Duration::from_secs(60);
        self.from.recv_timeout(PATIENCE).expect("a message in time")
    }

    /// Sends a request, and waits for its answer.
    fn asks(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        self.sent += 1;
        let request = json!({"seq": self.sent, "type": "request", "command": command, "arguments": arguments});
        let body = request.to_string();
        let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.to.write_all(message.as_bytes()).expect("it reads");
        loop {
            let mut message = self.next();
            if message["type"] == "event" {
                self.events.push_back(message);
                continue;
            }
            assert_eq!(message["request_seq"], self.sent, "{message}");
            return match message["success"] == true {
                true => Ok(message["body"].take()),
                false => Err(message["message"].as_str().unwrap_or_default().to_owned()),
            };
        }
    }

    fn gets(&mut self, command: &str, arguments: Value) -> Value {
        self.asks(command, arguments)
            .unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Waits for an event; those before it are gone.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let mut event = match self.events.pop_front() {
                Some(event) => event,
                None => self.next(),
            };
            if event["event"] == name {
                return event["body"].take();
            }
        }
    }

    /// Starts a program up to its breakpoints.
    fn launch(&mut self, program: &str, arguments: &[&str]) {
        self.gets("initialize", json!({"adapterID": "ridgepoint"}));
        self.event("initialized");
        self.gets("launch", json!({"program": program, "args": arguments}));
    }

    /// Goes on, and waits until it stands again.
    fn goes(&mut self, command: &str, thread: &Value) -> Value {
        self.gets(command, json!({"threadId": thread}));
        self.event("stopped")
    }

    fn value(&mut self, expression: &str) -> Value {
        let mut body = self.gets("evaluate", json!({"expression": expression}));
        body["result"].take()
    }

    /// The innermost line of a thread.
    fn line(&mut self, thread: &Value) -> Value {
        let mut body = self.gets("stackTrace", json!({"threadId": thread}));
        body["stackFrames"][0]["line"].take()
    }

    fn ends(mut self) {
        self.gets("disconnect", json!({}));
        let status = self.adapter.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

/// Reads a message; none at the end.
fn message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(text) => length = text.parse().ok(),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut bytes = vec![0; length?];
    from.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[test]
fn an_editor_goes_to_a_thread_to_a_write_to_a_finding_and_back() {
    let folder = folder();
    add_source(folder.path());
    let source = json!({"path": folder.path().join("saxpy.cu")});
    let mut editor = Editor::start(folder.path());
    editor.launch("./saxpy", &["1280"]);
    let condition = "threadIdx.x == 17 && blockIdx.x == 3";
    let set = json!({"source": source, "breakpoints": [{"line": 3, "condition": condition}]});
    let set = editor.gets("setBreakpoints", set);
    assert_eq!(set["breakpoints"][0]["verified"], false);
    editor.gets("setFunctionBreakpoints", json!({"breakpoints": []}));
    editor.gets("configurationDone", json!({}));
    let found = editor.event("breakpoint");
    assert_eq!(found["breakpoint"]["verified"], true);

    let stop = editor.event("stopped");
    assert_eq!(
        (&stop["reason"], &stop["threadId"]),
        (&json!("breakpoint"), &json!(18))
    );
    assert_eq!(stop["hitBreakpointIds"], json!([found["breakpoint"]["id"]]));
    let thread = stop["threadId"].clone();
    let threads = editor.gets("threads", json!({}));
    assert_eq!(
        threads["threads"][17]["name"],
        "block [3, 0, 0], thread [17, 0, 0]"
    );
    let stack = editor.gets("stackTrace", json!({"threadId": thread}));
    let frame = &stack["stackFrames"][0];
    assert_eq!(
        (&frame["name"], &frame["line"]),
        (&json!("saxpy"), &json!(3))
    );
    assert_eq!(
        frame["source"]["path"],
        json!(folder.path().join("saxpy.cu"))
    );
    let scopes = editor.gets("scopes", json!({"frameId": frame["id"]}));
    assert_eq!(scopes["scopes"][1]["name"], "Registers");
    let registers = json!({"variablesReference": scopes["scopes"][1]["variablesReference"]});
    let registers = editor.gets("variables", registers);
    let of_name = |it: &&Value| it["name"] == "%r1";
    let index = registers["variables"]
        .as_array()
        .expect("a list")
        .iter()
        .find(of_name);
    assert_eq!(index.expect("the index")["value"], "785");
    assert_eq!(editor.value("threadIdx.x + 256 * blockIdx.x"), "785");
    let all = editor.value("lanes %r1");
    assert!(
        all.as_str().expect("text").contains("lanes 24-31  792"),
        "{all}"
    );

    let element = editor.gets("dataBreakpointInfo", json!({"name": "arg3.f32[785]"}));
    assert_eq!(element["description"], "arg3.f32[785]");
    let none = editor.gets("dataBreakpointInfo", json!({"name": "%r1"}));
    assert_eq!(none["dataId"], Value::Null);
    let watch = json!({"breakpoints": [{"dataId": element["dataId"]}]});
    let watch = editor.gets("setDataBreakpoints", watch);
    editor.gets(
        "setBreakpoints",
        json!({"source": source, "breakpoints": []}),
    );
    let write = editor.goes("continue", &thread);
    assert_eq!(write["reason"], "data breakpoint");
    assert_eq!(
        write["hitBreakpointIds"],
        json!([watch["breakpoints"][0]["id"]])
    );
    assert_eq!(editor.goes("next", &thread)["reason"], "step");
    assert_eq!(editor.line(&thread), 4);
    // Back over the line, and to the write by the watchpoint.
    editor.goes("stepBack", &thread);
    assert_eq!(editor.line(&thread), 3);
    editor.goes("continue", &thread);
    editor.goes("next", &thread);
    assert_eq!(
        editor.goes("reverseContinue", &thread)["reason"],
        "data breakpoint"
    );

    editor.gets("setDataBreakpoints", json!({"breakpoints": []}));
    let finding = editor.goes("continue", &thread);
    assert_eq!(finding["reason"], "exception");
    let told = editor.gets("exceptionInfo", json!({"threadId": 1}));
    let told = told["description"].as_str().expect("text");
    assert!(
        told.contains("reads element 1024 of `parameter 2`"),
        "{told}"
    );
    let back = json!({"threadId": 1, "granularity": "instruction"});
    editor.gets("stepBack", back);
    editor.event("stopped");
    assert_eq!(editor.goes("continue", &json!(1))["reason"], "exception");
    editor.gets("continue", json!({"threadId": 1}));
    assert_eq!(editor.event("exited")["exitCode"], 1);
    editor.event("terminated");
    editor.ends();
}

#[test]
fn an_editor_pauses_a_kernel_that_never_ends_and_goes_away() {
    let folder = folder();
    never_ends(folder.path());
    let mut editor = Editor::start(folder.path());
    editor.launch("./saxpy", &[]);
    // The launch has begun for certain.
    let of_kernel = json!({"breakpoints": [{"name": "saxpy"}]});
    editor.gets("setFunctionBreakpoints", of_kernel);
    editor.gets("configurationDone", json!({}));
    editor.event("stopped");
    editor.gets("setFunctionBreakpoints", json!({"breakpoints": []}));
    editor.gets("continue", json!({"threadId": 1}));
    let running = editor.asks("evaluate", json!({"expression": "1"}));
    assert_eq!(running, Err("the program does not stand".to_owned()));
    thread::sleep(Duration::from_millis(300));
    editor.gets("pause", json!({"threadId": 1}));
    assert_eq!(editor.event("stopped")["reason"], "pause");
    assert_eq!(editor.line(&json!(1)), 3);
    editor.ends();
}

#[test]
fn an_editor_that_pauses_before_a_launch_stops_it_where_it_begins() {
    let folder = folder();
    // Before there is a program, while it is not let go, and while it has not come to a launch.
    for moment in ["no program", "not configured", "no launch"] {
        launches_late(folder.path());
        let mut editor = Editor::start(folder.path());
        editor.gets("initialize", json!({}));
        let pause = |editor: &mut Editor, when: &str| {
            if when == moment {
                editor.gets("pause", json!({"threadId": 1}));
            }
        };
        pause(&mut editor, "no program");
        editor.gets("launch", json!({"program": "./late"}));
        pause(&mut editor, "not configured");
        editor.gets("configurationDone", json!({}));
        pause(&mut editor, "no launch");
        assert_eq!(editor.event("stopped")["reason"], "pause", "{moment}");
        assert_eq!(editor.line(&json!(1)), 1, "{moment}");
        editor.gets("continue", json!({"threadId": 1}));
        assert_eq!(editor.event("exited")["exitCode"], 0, "{moment}");
        editor.ends();
    }
}

#[test]
fn an_editor_is_told_what_does_not_work() {
    let folder = folder();
    let mut editor = Editor::start(folder.path());
    editor.gets("initialize", json!({}));
    let missing = editor.asks("launch", json!({"program": "./missing"}));
    assert!(
        missing
            .expect_err("none")
            .starts_with("cannot run ./missing: ")
    );
    let unnamed = editor.asks("launch", json!({}));
    assert!(unnamed.is_err());
    assert_eq!(
        editor.asks("goto", json!({})),
        Err("`goto` is not supported".to_owned())
    );
    assert!(editor.asks("next", json!({"threadId": 1})).is_err());
    // An editor that is gone ends the adapter.
    drop(editor.to);
    let status = editor.adapter.wait().expect("it ends");
    assert!(status.success(), "{status}");
}
