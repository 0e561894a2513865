//! The debugger's own terminal.

use std::io::{self, BufRead, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use debugger::protocol::{
    Answer, Breakpoint, Location, Message, Motion, Question, Request, Resolved, Seat, Stop, Until,
};
use signal_hook::consts::SIGINT;

use super::command::{Command, Info};
use super::program::{Event, Launch, Program};
use super::show;
use crate::cli::interrupt::Interrupt;
use crate::cli::{Failure, streams};

const PROMPT: &str = "(ridgepoint) ";
/// How many lines `list` shows before and behind one.
const AROUND: u32 = 5;
/// How often it is looked whether a signal has come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Reads commands until there are no more.
///
/// # Errors
/// The program cannot be started; a signal asks for the end.
pub(super) fn run(launch: Launch) -> Result<(), Failure> {
    let (sender, events) = channel();
    let (asks, asked) = channel();
    thread::spawn({
        let sender = sender.clone();
        move || read(&asked, &sender)
    });
    let mut terminal = Terminal {
        launch,
        sender,
        events,
        asks,
        interrupt: Interrupt::watch(),
        is_interrupted: false,
        program: None,
        stop: None,
        seat: Seat::default(),
        is_by_instruction: false,
        marks: Vec::new(),
        next: 1,
    };
    let ended = terminal.run();
    if let Some(program) = &terminal.program {
        program.kill();
    }
    ended
}

/// Reads a line of standard input each time that one is asked for.
fn read(asked: &Receiver<()>, to: &Sender<Event<String>>) {
    let mut lines = io::stdin().lock().lines();
    while asked.recv().is_ok() {
        let line = lines.next().and_then(Result::ok);
        let is_last = line.is_none();
        if to.send(Event::Input(line)).is_err() || is_last {
            return;
        }
    }
}

struct Terminal {
    launch: Launch,
    sender: Sender<Event<String>>,
    events: Receiver<Event<String>>,
    /// Asks for a line of standard input.
    asks: Sender<()>,
    interrupt: Interrupt,
    /// Whether a signal has stopped the program.
    is_interrupted: bool,
    program: Option<Program>,
    /// Where it stands, if it does.
    stop: Option<Box<Stop>>,
    /// From where the user looks.
    seat: Seat,
    /// Whether the last motion went to an instruction.
    is_by_instruction: bool,
    marks: Vec<Mark>,
    /// The number of the next breakpoint.
    next: u32,
}

/// A breakpoint or a watchpoint.
struct Mark {
    breakpoint: Breakpoint,
    /// As it was asked for.
    text: String,
    /// Where it is, once that is known.
    place: Option<String>,
}

/// The next step after a command.
enum Then {
    Command,
    /// The program runs.
    Program,
    End,
}

impl Terminal {
    fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.prompt();
            let Some(line) = self.line()? else {
                return Ok(());
            };
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let file = self.stop.as_ref().and_then(|it| it.frames.first());
            let file = file.and_then(|it| it.file.as_deref());
            let done = match Command::parse(line, file) {
                Ok(command) => self.does(command)?,
                Err(error) => Err(error),
            };
            match done {
                Ok(Then::Command) => {}
                Ok(Then::Program) => self.waits()?,
                Ok(Then::End) => return Ok(()),
                Err(error) => streams::say(&error),
            }
        }
    }

    fn prompt(&self) {
        streams::print(PROMPT.as_bytes());
    }

    /// The next line of standard input, which is shown where no terminal has shown it.
    fn line(&mut self) -> Result<Option<String>, Failure> {
        if self.asks.send(()).is_err() {
            return Ok(None);
        }
        loop {
            match self.event()? {
                Some(Event::Input(line)) => {
                    if !io::stdin().is_terminal() {
                        streams::say(line.as_deref().unwrap_or_default());
                    }
                    return Ok(line);
                }
                Some(Event::Ended(status)) => self.ended(&status.to_string()),
                _ => {}
            }
        }
    }

    /// The next event; none for a while, in which no signal has come.
    fn event(&mut self) -> Result<Option<Event<String>>, Failure> {
        match self.events.recv_timeout(BETWEEN_LOOKS) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => self.looks_for_signals().map(|()| None),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::failed("no more input")),
        }
    }

    /// Whether a signal asks for the end. The first Ctrl-C stops a program that runs; a second one ends this process,
    /// whatever it does.
    fn looks_for_signals(&mut self) -> Result<(), Failure> {
        let runs = self.stop.is_none();
        match (self.interrupt.check(), &mut self.program) {
            (Err(Failure::Signal(SIGINT)), _) if self.is_interrupted => Ok(()),
            (Err(Failure::Signal(SIGINT)), Some(program)) if runs => {
                self.is_interrupted = true;
                program.say(Request::Pause);
                Ok(())
            }
            (signal, _) => signal,
        }
    }

    /// Waits until the program that runs stops or ends.
    fn waits(&mut self) -> Result<(), Failure> {
        while self.program.is_some() {
            let Some(event) = self.event()? else {
                continue;
            };
            match event {
                Event::Connected(socket) => {
                    if let Some(program) = &mut self.program {
                        program.connect(socket);
                    }
                }
                Event::Said(Message::Stopped(stop)) => {
                    self.seat = Seat {
                        lane: stop.lane,
                        frame: 0,
                    };
                    streams::say(&show::stop(&stop, self.is_by_instruction));
                    self.stop = Some(stop);
                    return Ok(());
                }
                Event::Said(Message::Resolved(all)) => self.resolved(&all),
                Event::Ended(status) => self.ended(&status.to_string()),
                Event::Said(Message::Answer(_)) | Event::Input(_) | Event::Printed(..) => {}
            }
        }
        Ok(())
    }

    fn resolved(&mut self, all: &[Resolved]) {
        for resolved in all {
            let mut marks = self.marks.iter_mut();
            let mark = marks.find(|it| it.breakpoint.id == resolved.id);
            let (Some(mark), Some(place)) = (mark, &resolved.place) else {
                continue;
            };
            let place = format!("{}, {}", resolved.kernel, place.place);
            if mark.place.as_ref() != Some(&place) {
                streams::say(&format!("Breakpoint {}: {place}", resolved.id));
                mark.place = Some(place);
            }
        }
    }

    fn ended(&mut self, status: &str) {
        streams::say(&format!("The program has ended: {status}."));
        (self.program, self.stop) = (None, None);
        // What they watch is gone.
        self.marks
            .retain(|it| !matches!(it.breakpoint.at, Location::Write(..)));
    }

    /// Carries out a command. The inner error is the user's.
    fn does(&mut self, command: Command) -> Result<Result<Then, String>, Failure> {
        Ok(match command {
            Command::Help => {
                streams::say(&Command::help());
                Ok(Then::Command)
            }
            Command::Quit => Ok(Then::End),
            Command::Run if self.program.is_some() => {
                Err("the program runs already: `kill` ends it".to_owned())
            }
            Command::Run => return self.start().map(|()| Ok(Then::Program)),
            Command::Kill => Ok(self.kill()),
            Command::Move { until, is_back } => self.moves(until, is_back),
            Command::Break(at, condition) => {
                let text = match (&at, &condition) {
                    (Location::Line(file, line), None) => format!("{file}:{line}"),
                    (Location::Line(file, line), Some(it)) => format!("{file}:{line} if {it}"),
                    (Location::Function(name), Some(it)) => format!("{name} if {it}"),
                    (Location::Function(name), None) => name.clone(),
                    (Location::Write(..), _) => String::new(),
                };
                self.mark(at, condition, text)?;
                Ok(Then::Command)
            }
            Command::Delete(number) => self.delete(number),
            Command::Info(Info::Breakpoints) => {
                self.show_marks();
                Ok(Then::Command)
            }
            Command::Watch(text) => match self.element(&text)? {
                Ok((address, bytes)) => {
                    self.mark(Location::Write(address, bytes), None, text)?;
                    Ok(Then::Command)
                }
                Err(error) => Err(error),
            },
            Command::LastWrite(text) => match self.element(&text)? {
                Ok((address, bytes)) => self.moves(Until::Write(address, bytes), true),
                Err(error) => Err(error),
            },
            look => self.looks(&look)?.map(|text| {
                streams::say(&text);
                Then::Command
            }),
        })
    }

    fn start(&mut self) -> Result<(), Failure> {
        let started = Program::start(&self.launch, false, &self.sender);
        let program = self.program.insert(started.map_err(|error| {
            let name = self.launch.words.first().map(|it| it.display());
            let name = name.map_or_else(String::new, |it| it.to_string());
            Failure::Failed(format!("cannot run {name}: {error}"))
        })?);
        let until = Until::Breakpoint;
        let all = self.marks.iter().map(|it| it.breakpoint.clone());
        program.say(Request::Set(all.collect()));
        program.say(Request::Move(Motion {
            until,
            is_back: false,
            lane: 0,
        }));
        Ok(())
    }

    fn kill(&mut self) -> Then {
        match &self.program {
            None => Then::Command,
            Some(program) => {
                program.kill();
                Then::Program
            }
        }
    }

    fn moves(&mut self, until: Until, is_back: bool) -> Result<Then, String> {
        let lane = self.seat.lane;
        self.is_by_instruction = until == Until::Instruction;
        match (&mut self.program, self.stop.take()) {
            (Some(program), Some(_)) => {
                program.say(Request::Move(Motion {
                    until,
                    is_back,
                    lane,
                }));
                Ok(Then::Program)
            }
            _ => Err("the program does not run: `run` starts it".to_owned()),
        }
    }

    fn mark(
        &mut self,
        at: Location,
        condition: Option<String>,
        text: String,
    ) -> Result<(), Failure> {
        let id = self.next;
        self.next += 1;
        let is_watch = matches!(at, Location::Write(..));
        let kind = if is_watch { "Watchpoint" } else { "Breakpoint" };
        streams::say(&format!("{kind} {id}: {text}"));
        self.marks.push(Mark {
            breakpoint: Breakpoint {
                id,
                at,
                condition,
                ignored: 0,
            },
            text,
            place: None,
        });
        self.tell();
        if self.stop.is_some() {
            // Where it is comes before any answer.
            self.ask(Question::Frames(self.seat.lane))?.ok();
        }
        Ok(())
    }

    fn delete(&mut self, number: u32) -> Result<Then, String> {
        let before = self.marks.len();
        self.marks.retain(|it| it.breakpoint.id != number);
        if self.marks.len() == before {
            return Err(format!("there is no breakpoint {number}"));
        }
        self.tell();
        Ok(Then::Command)
    }

    /// Tells the program of the breakpoints.
    fn tell(&mut self) {
        let all = self.marks.iter().map(|it| it.breakpoint.clone()).collect();
        if let Some(program) = &mut self.program {
            program.say(Request::Set(all));
        }
    }

    fn show_marks(&self) {
        for mark in &self.marks {
            let place = mark
                .place
                .as_deref()
                .unwrap_or("no kernel has been there yet");
            let place = match mark.breakpoint.at {
                Location::Write(address, bytes) => format!("{bytes} bytes at {address:#x}"),
                _ => place.to_owned(),
            };
            streams::say(&format!("{}: {} ({place})", mark.breakpoint.id, mark.text));
        }
    }

    /// The address and the bytes of an element.
    fn element(&mut self, text: &str) -> Result<Result<(u64, u32), String>, Failure> {
        let answer = self.ask(Question::Place(self.seat, text.to_owned()))?;
        Ok(answer.and_then(|answer| match answer {
            Answer::Place(address, bytes) => Ok((address, bytes)),
            _ => Err("the program has answered something else".to_owned()),
        }))
    }

    /// The answer that a command shows.
    fn looks(&mut self, command: &Command) -> Result<Result<String, String>, Failure> {
        if let Command::Lane(lane) = command {
            return Ok(self.look_at(*lane));
        }
        let question = match command {
            Command::Print(text) => Question::Value(self.seat, text.clone()),
            Command::Lanes(text) => Question::Lanes(self.seat.frame, text.clone()),
            Command::Info(Info::Warps) => Question::Warps,
            Command::Info(_) => Question::Scopes(self.seat),
            _ => Question::Frames(self.seat.lane),
        };
        let answer = match self.ask(question)? {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(error)),
        };
        Ok(Ok(match (answer, command) {
            (Answer::Value(value), _) => format!("{}: {}", value.ty, value.text),
            (Answer::Lanes(values), _) => show::lanes(&values),
            (Answer::Warps(all), _) => show::warps(&all),
            (Answer::Scopes(all), Command::Info(Info::Scope(name))) => show::scope(&all, name),
            (Answer::Frames(all), Command::Frame(number)) => match all.get(*number as usize) {
                Some(frame) => {
                    self.seat.frame = *number;
                    show::frame(*number as usize, frame)
                }
                None => format!("there is no frame {number}; `backtrace` lists them"),
            },
            (Answer::Frames(all), Command::List) => match all.get(self.seat.frame as usize) {
                Some(frame) => return self.lists(frame),
                None => "the lane has ended".to_owned(),
            },
            (Answer::Frames(all), _) => show::frames(&all),
            _ => String::new(),
        }))
    }

    /// The lines around a frame's, of the source or of the PTX.
    fn lists(
        &mut self,
        frame: &debugger::protocol::Frame,
    ) -> Result<Result<String, String>, Failure> {
        if frame.file.is_some() {
            let missing = || format!("cannot read the source of {}", frame.place);
            return Ok(show::source(frame, AROUND).ok_or_else(missing));
        }
        Ok(self.ask(Question::Ptx)?.map(|answer| match answer {
            Answer::Text(text) => show::lines(&text, frame.line, AROUND).unwrap_or_default(),
            _ => String::new(),
        }))
    }

    fn look_at(&mut self, lane: u32) -> Result<String, String> {
        let Some(stop) = &self.stop else {
            return Err(NOT_STOPPED.to_owned());
        };
        if stop.live >> lane & 1 == 0 {
            return Err(format!("lane {lane} has ended, or was never there"));
        }
        self.seat = Seat { lane, frame: 0 };
        let thread = stop.threads[lane as usize];
        Ok(format!("block {:?}, thread {thread:?}", stop.block))
    }

    /// Asks the program that stands.
    fn ask(&mut self, question: Question) -> Result<Result<Answer, String>, Failure> {
        let Some(program) = self.program.as_mut().filter(|_| self.stop.is_some()) else {
            return Ok(Err(NOT_STOPPED.to_owned()));
        };
        program.say(Request::Ask(question));
        loop {
            match self.event()? {
                Some(Event::Said(Message::Answer(answer))) => return Ok(answer),
                Some(Event::Said(Message::Resolved(all))) => self.resolved(&all),
                Some(Event::Ended(status)) => {
                    self.ended(&status.to_string());
                    return Ok(Err(NOT_STOPPED.to_owned()));
                }
                _ => {}
            }
        }
    }
}

const NOT_STOPPED: &str = "the program does not stand: `run` starts it";
