//! The Debug Adapter Protocol on standard input and output.

mod breakpoints;
mod looking;
mod threads;
mod wire;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use debugger::protocol::{Answer, Message, Motion, Question, Reason, Request, Stop, Until};
use serde_json::{Value, json};

use super::program::{Event, Launch, Program};
use super::show;
use crate::cli::{Failure, streams};
use breakpoints::Breakpoints;
use looking::Wholes;
use threads::Threads;

/// Serves an editor until it goes away.
///
/// # Errors
/// It says what is no message.
pub(super) fn run(launch: Launch) -> Result<(), Failure> {
    let (sender, events) = channel();
    thread::spawn({
        let sender = sender.clone();
        move || read(&sender)
    });
    let mut adapter = Adapter {
        launch,
        sender,
        events,
        later: VecDeque::new(),
        sent: 0,
        program: None,
        is_configured: false,
        has_begun: false,
        is_paused: false,
        stop: None,
        breakpoints: Breakpoints::default(),
        wholes: Wholes::default(),
        threads: Threads::default(),
    };
    let ended = adapter.run();
    if let Some(program) = &adapter.program {
        program.kill();
    }
    ended
}

/// Hands on what the editor says.
fn read(to: &Sender<Event<io::Result<Value>>>) {
    let mut from = io::stdin().lock();
    loop {
        let message = wire::read(&mut from).transpose();
        let is_last = !matches!(message, Some(Ok(_)));
        if to.send(Event::Input(message)).is_err() || is_last {
            return;
        }
    }
}

type Events = Event<io::Result<Value>>;
/// The body of an answer, or why there is none.
type Answered = Result<Value, String>;

struct Adapter {
    launch: Launch,
    sender: Sender<Events>,
    events: Receiver<Events>,
    /// Events that came while an answer was waited for.
    later: VecDeque<Events>,
    /// Messages to the editor.
    sent: u64,
    program: Option<Program>,
    is_configured: bool,
    has_begun: bool,
    /// Whether the editor has asked for a pause before there was a program.
    is_paused: bool,
    stop: Option<Box<Stop>>,
    breakpoints: Breakpoints,
    wholes: Wholes,
    threads: Threads,
}

impl Adapter {
    fn run(&mut self) -> Result<(), Failure> {
        while streams::lost().is_none() {
            let event = self.later.pop_front().or_else(|| self.events.recv().ok());
            match event {
                None | Some(Event::Input(None)) => break,
                Some(Event::Input(Some(Err(error)))) => return Err(Failure::failed(error)),
                Some(Event::Input(Some(Ok(request)))) => {
                    if self.serve(&request) {
                        break;
                    }
                }
                Some(other) => self.happens(other),
            }
        }
        Ok(())
    }

    fn send(&mut self, mut message: Value) {
        self.sent += 1;
        message["seq"] = self.sent.into();
        streams::print(&wire::written(&message));
    }

    fn event(&mut self, name: &str, body: Value) {
        self.send(json!({"type": "event", "event": name, "body": body}));
    }

    /// Something happens to the program.
    fn happens(&mut self, event: Events) {
        match event {
            Event::Connected(socket) => {
                if let Some(program) = &mut self.program {
                    program.connect(socket);
                }
            }
            Event::Said(Message::Stopped(stop)) => self.stopped(stop),
            Event::Said(Message::Resolved(all)) => {
                for body in self.breakpoints.resolved(&all) {
                    self.event(
                        "breakpoint",
                        json!({"reason": "changed", "breakpoint": body}),
                    );
                }
            }
            Event::Printed(output, is_error) => {
                let category = if is_error { "stderr" } else { "stdout" };
                self.event("output", json!({"category": category, "output": output}));
            }
            Event::Ended(status) => {
                (self.program, self.stop) = (None, None);
                self.event("exited", json!({"exitCode": status.code().unwrap_or(1)}));
                self.event("terminated", json!({}));
            }
            Event::Said(Message::Answer(_)) | Event::Input(_) => {}
        }
    }

    fn stopped(&mut self, stop: Box<Stop>) {
        self.wholes.forget();
        self.threads.stand(&stop);
        let (reason, description) = match stop.reason {
            Reason::Breakpoint => ("breakpoint", "At a breakpoint"),
            Reason::Write => ("data breakpoint", "About to be written"),
            Reason::Pause => ("pause", "Paused"),
            Reason::Finding => ("exception", "A finding"),
            Reason::Step => ("step", "After a step"),
            Reason::Beginning => ("step", "No further back"),
        };
        // Of a write the debugger has no more to say than which instruction makes it.
        let text = match stop.reason {
            Reason::Write => show::spaced(&stop.instruction),
            _ => stop.text.clone(),
        };
        let body = json!({
            "reason": reason,
            "description": description,
            "text": text,
            "threadId": self.threads.number(stop.lane),
            "allThreadsStopped": true,
            "hitBreakpointIds": stop.breakpoints,
        });
        self.stop = Some(stop);
        self.event("stopped", body);
    }

    /// Answers a request: whether it is the last.
    fn serve(&mut self, request: &Value) -> bool {
        let command = request["command"].as_str().unwrap_or_default().to_owned();
        let answered = self.answer(&command, &request["arguments"]);
        let mut response = json!({
            "type": "response",
            "request_seq": request["seq"],
            "command": command,
            "success": answered.is_ok(),
        });
        match answered {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(error) => {
                response["message"] = error.clone().into();
                response["body"] = json!({"error": {"id": 1, "format": error, "showUser": true}});
            }
        }
        self.send(response);
        match command.as_str() {
            "initialize" => self.event("initialized", json!({})),
            "launch" | "configurationDone" => self.begins(),
            _ => {}
        }
        command == "disconnect"
    }

    fn answer(&mut self, command: &str, arguments: &Value) -> Answered {
        let is_small = arguments["granularity"] == "instruction";
        let by = |until| if is_small { Until::Instruction } else { until };
        match command {
            "initialize" => Ok(capabilities()),
            "launch" => self.launches(arguments),
            "configurationDone" => {
                self.is_configured = true;
                Ok(Value::Null)
            }
            "setBreakpoints" | "setFunctionBreakpoints" | "setDataBreakpoints" => {
                let body = self.breakpoints.set(command, arguments);
                self.tell();
                Ok(json!({"breakpoints": body}))
            }
            "setExceptionBreakpoints" => Ok(json!({"breakpoints": []})),
            "dataBreakpointInfo" => self.watchable(arguments),
            "threads" => Ok(self.threads.told(self.stop.as_deref())),
            "stackTrace" => self.stack(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "evaluate" => self.evaluate(arguments),
            "source" => self.source(),
            "exceptionInfo" => self.exception(),
            "continue" => {
                self.moves(arguments, Until::Breakpoint, false)?;
                Ok(json!({"allThreadsContinued": true}))
            }
            "next" => self.moves(arguments, by(Until::LineOver), false),
            "stepIn" => self.moves(arguments, by(Until::Line), false),
            "stepOut" => self.moves(arguments, Until::Caller, false),
            "stepBack" => self.moves(arguments, by(Until::LineOver), true),
            "reverseContinue" => self.moves(arguments, Until::Breakpoint, true),
            "pause" => {
                self.pause();
                Ok(Value::Null)
            }
            "terminate" | "disconnect" => {
                if let Some(program) = &self.program {
                    program.kill();
                }
                Ok(Value::Null)
            }
            _ => Err(format!("`{command}` is not supported")),
        }
    }

    /// Starts the program, which waits at its first launch.
    fn launches(&mut self, arguments: &Value) -> Answered {
        if let Some(program) = arguments["program"].as_str() {
            let words = arguments["args"].as_array().into_iter().flatten();
            let words = words.filter_map(Value::as_str).map(OsString::from);
            self.launch.words = [program.into()].into_iter().chain(words).collect();
        }
        if let Some(folder) = arguments["cwd"].as_str() {
            self.launch.folder = Some(PathBuf::from(folder));
        }
        if let Some(variables) = arguments["env"].as_object() {
            let text =
                |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            self.launch.environment = variables.iter().filter_map(text).collect();
        }
        if let Some(seed) = arguments["seed"].as_u64() {
            self.launch.seed = Some(seed);
        }
        if self.program.is_some() {
            return Err("the program runs already".to_owned());
        }
        let Some(name) = self.launch.words.first().cloned() else {
            return Err(
                "no program is named: set `program` in the launch configuration".to_owned(),
            );
        };
        let started = Program::start(&self.launch, true, &self.sender);
        let started = started.map_err(|error| format!("cannot run {}: {error}", name.display()))?;
        self.program = Some(started);
        Ok(Value::Null)
    }

    /// Lets the first launch begin, when the editor has set its breakpoints.
    fn begins(&mut self) {
        if self.is_configured && self.program.is_some() && !self.has_begun {
            self.has_begun = true;
            self.tell();
            if std::mem::take(&mut self.is_paused) {
                self.say(Request::Pause);
            }
            self.say(Request::Move(Motion {
                until: Until::Breakpoint,
                is_back: false,
                lane: 0,
            }));
        }
    }

    /// Stops a program that runs, at the latest at the first instruction of its next launch.
    fn pause(&mut self) {
        match self.has_begun {
            true => self.say(Request::Pause),
            false => self.is_paused = true,
        }
    }

    /// Tells the program of the breakpoints.
    fn tell(&mut self) {
        let all = self.breakpoints.all();
        if self.has_begun {
            self.say(Request::Set(all));
        }
    }

    fn say(&mut self, request: Request) {
        if let Some(program) = &mut self.program {
            program.say(request);
        }
    }

    fn moves(&mut self, arguments: &Value, until: Until, is_back: bool) -> Answered {
        self.stop.as_ref().ok_or(NOT_STOPPED)?;
        let lane = self.threads.lane_of(arguments)?;
        self.stop = None;
        self.say(Request::Move(Motion {
            until,
            is_back,
            lane,
        }));
        Ok(Value::Null)
    }

    /// Asks the program, which stands.
    fn ask(&mut self, question: Question) -> Result<Answer, String> {
        if self.stop.is_none() {
            return Err(NOT_STOPPED.to_owned());
        }
        self.say(Request::Ask(question));
        while let Ok(event) = self.events.recv() {
            match event {
                Event::Said(Message::Answer(answer)) => return answer,
                Event::Ended(status) => {
                    self.later.push_back(Event::Ended(status));
                    break;
                }
                other => self.later.push_back(other),
            }
        }
        Err("the program has ended".to_owned())
    }
}

const NOT_STOPPED: &str = "the program does not stand";

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
    })
}
