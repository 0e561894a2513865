//! `ridgepoint debug --dap`, led by an editor that is a test.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::debug_command::{
    add_source, add_variables, is_asked_to_stop, launches_late, never_ends,
};
use crate::emulate_command::folder;
use crate::support;

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

    /// The name of a thread.
    fn name(&mut self, thread: &Value) -> String {
        let body = self.gets("threads", json!({}));
        let mut threads = body["threads"].as_array().expect("a list").iter();
        let found = threads.find(|it| it["id"] == *thread).expect("a thread");
        found["name"].as_str().expect("text").to_owned()
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

/// The reason of a stop, as an editor's kind of it and in words.
fn why(stop: &Value) -> [&str; 3] {
    ["reason", "description", "text"].map(|it| stop[it].as_str().expect("text"))
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
    let set = &set["breakpoints"][0];
    assert_eq!(
        (&set["verified"], &set["reason"]),
        (&json!(false), &json!("pending"))
    );
    editor.gets("setFunctionBreakpoints", json!({"breakpoints": []}));
    editor.gets("configurationDone", json!({}));
    let found = editor.event("breakpoint");
    assert_eq!(found["breakpoint"]["verified"], true);

    let stop = editor.event("stopped");
    assert_eq!(why(&stop), ["breakpoint", "At a breakpoint", ""]);
    assert_eq!(stop["hitBreakpointIds"], json!([found["breakpoint"]["id"]]));
    let thread = stop["threadId"].clone();
    assert_eq!(editor.name(&thread), "block [3, 0, 0], thread [17, 0, 0]");
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
    let registers = registers["variables"].as_array().expect("a list");
    let value = |name: &str| {
        let found = registers.iter().find(|it| it["name"] == name);
        &found.expect("a register")["value"]
    };
    assert_eq!(
        (value("%r1"), value("%rd5")),
        (&json!("785"), &json!("<not written yet>"))
    );
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
    let watched = json!({"breakpoints": [{"dataId": element["dataId"]}]});
    let watch = editor.gets("setDataBreakpoints", watched.clone());
    editor.gets(
        "setBreakpoints",
        json!({"source": source, "breakpoints": []}),
    );
    let write = editor.goes("continue", &thread);
    let instruction = "st.global.f32 [%rd7], %f4;";
    let about_to = ["data breakpoint", "About to be written", instruction];
    assert_eq!(why(&write), about_to);
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
    let [reason, description, text] = why(&finding);
    assert_eq!([reason, description], ["exception", "A finding"]);
    assert!(text.contains("reads element 1024"), "{text}");
    // No thread of another warp has its number: an editor may know the name that it had.
    let other = finding["threadId"].clone();
    let others = editor.gets("threads", json!({}));
    let mut others = others["threads"].as_array().expect("a list").iter();
    assert!(others.all(|it| it["id"] != thread));
    assert_eq!(editor.name(&other), "block [4, 0, 0], thread [0, 0, 0]");
    assert!(editor.asks("next", json!({"threadId": thread})).is_err());
    let told = editor.gets("exceptionInfo", json!({"threadId": other}));
    let told = told["description"].as_str().expect("text");
    assert!(
        told.contains("reads element 1024 of `parameter 2`"),
        "{told}"
    );
    let back = json!({"threadId": other, "granularity": "instruction"});
    editor.gets("stepBack", back);
    editor.event("stopped");
    assert_eq!(editor.goes("continue", &other)["reason"], "exception");
    // The first one has kept its own.
    editor.gets("setDataBreakpoints", watched);
    assert_eq!(editor.goes("reverseContinue", &other)["threadId"], thread);
    editor.gets("setDataBreakpoints", json!({"breakpoints": []}));
    assert_eq!(editor.goes("continue", &thread)["threadId"], other);
    editor.gets("continue", json!({"threadId": other}));
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
    let thread = editor.event("stopped")["threadId"].clone();
    editor.gets("setFunctionBreakpoints", json!({"breakpoints": []}));
    editor.gets("continue", json!({"threadId": thread}));
    let running = editor.asks("evaluate", json!({"expression": "1"}));
    assert_eq!(running, Err("the program does not stand".to_owned()));
    thread::sleep(Duration::from_millis(300));
    editor.gets("pause", json!({"threadId": 1}));
    let pause = editor.event("stopped");
    assert_eq!(pause["reason"], "pause");
    assert_eq!(editor.line(&pause["threadId"]), 3);
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
        is_asked_to_stop(folder.path());
        let pause = editor.event("stopped");
        assert_eq!(pause["reason"], "pause", "{moment}");
        let thread = &pause["threadId"];
        assert_eq!(editor.line(thread), 1, "{moment}");
        editor.gets("continue", json!({"threadId": thread}));
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

/// The variables of a number as `name: type = value`.
fn shown(editor: &mut Editor, number: &Value) -> Vec<String> {
    let all = editor.gets("variables", json!({"variablesReference": number}));
    let shown = |it: &Value| {
        let [name, ty, value] = ["name", "type", "value"].map(|of| it[of].as_str().expect("text"));
        format!("{name}: {ty} = {value}")
    };
    let all = all["variables"].as_array().expect("a list");
    all.iter().map(shown).collect()
}

#[test]
fn an_editor_shows_variables_of_the_source() {
    let folder = folder();
    add_source(folder.path());
    add_variables(folder.path());
    let source = json!({"path": folder.path().join("saxpy.cu")});
    let mut editor = Editor::start(folder.path());
    editor.launch("./saxpy", &[]);
    let set = json!({"source": source, "breakpoints": [{"line": 3, "condition": "i == 785"}]});
    editor.gets("setBreakpoints", set);
    editor.gets("configurationDone", json!({}));
    let thread = editor.event("stopped")["threadId"].clone();
    let stack = editor.gets("stackTrace", json!({"threadId": thread}));
    let frame = stack["stackFrames"][0]["id"].clone();
    let scopes = editor.gets("scopes", json!({"frameId": frame}));
    let locals = &scopes["scopes"][0];
    assert_eq!(locals["name"], "Locals");
    assert_eq!(locals["presentationHint"], "locals");
    let locals = shown(&mut editor, &locals["variablesReference"]);
    for it in ["i: int = 785", "n: int = 1024", "a: float = 2.0"] {
        assert!(locals.iter().any(|local| local == it), "{it}: {locals:?}");
    }
    let value = json!({"expression": "i + n", "frameId": frame});
    assert_eq!(editor.gets("evaluate", value)["result"], "1809");
    let element = json!({"name": "y[i]", "frameId": frame});
    let element = editor.gets("dataBreakpointInfo", element);
    assert_eq!(element["description"], "y[i]");
    editor.ends();
}
