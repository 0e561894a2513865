//! A program under the debugger: its process, its socket, and what comes from them.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use debugger::protocol::{Message, Request};
use emulated_driver::settings;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::cli::emulate::Folder;
use crate::cli::interrupt::Interrupt;

/// How long what a program has printed is waited for when it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a program is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// The folder that it runs in; none: this one.
    pub(super) folder: Option<PathBuf>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) seed: Option<u64>,
    pub(super) arch: String,
    pub(super) gpus: u64,
}

/// The events of a front.
pub(super) enum Event<I> {
    /// Its user says something; nothing more where it is none.
    Input(Option<I>),
    /// The program's debugger is there.
    Connected(UnixStream),
    /// It says something.
    Said(Message),
    /// The program has printed, to standard error or not.
    Printed(String, bool),
    /// It has ended.
    Ended(ExitStatus),
}

/// A program that runs.
pub(super) struct Program {
    /// Where it finds the emulated driver, and the socket: it goes with this value.
    _folder: Folder,
    process: Pid,
    socket: Option<UnixStream>,
    /// Messages from before somebody was there to hear them.
    unsent: Vec<Request>,
}

impl Program {
    /// Starts it; it ends with this process, however that ends. What it prints becomes events, or goes where this program's output goes.
    ///
    /// # Errors
    /// The system does not start it.
    pub(super) fn start<I: Send + 'static>(
        launch: &Launch,
        is_heard: bool,
        events: &Sender<Event<I>>,
    ) -> io::Result<Program> {
        let [name, words @ ..] = launch.words.as_slice() else {
            return Err(io::Error::other("no program is named"));
        };
        let folder = Folder::new()?;
        let socket = folder.path().join("debugger");
        let listener = UnixListener::bind(&socket)?;
        let mut command = Command::new(name);
        command.args(words).stdin(Stdio::null());
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        if is_heard {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        command.envs(launch.environment.iter().map(|it| (&it.0, &it.1)));
        folder.lend_to(&mut command);
        command
            .env(settings::DEBUGGER, &socket)
            .env(settings::CHECKS, "on")
            .env(settings::ARCH, &launch.arch)
            .env(settings::NUMBER_OF_DEVICES, launch.gpus.to_string())
            .env_remove(settings::SEEDS)
            .env_remove(settings::COUNTS)
            // A launch that is looked at takes as long as its user does.
            .env_remove(settings::TIME_LIMIT);
        match launch.seed {
            Some(seed) => command.env(settings::SEED, seed.to_string()),
            None => command.env_remove(settings::SEED),
        };
        let mut child = Interrupt::start(&mut command)?;
        let process = Pid::from_raw(child.id() as i32);
        let heard = [
            child
                .stdout
                .take()
                .map(|it| Box::new(it) as Box<dyn Read + Send>),
            child
                .stderr
                .take()
                .map(|it| Box::new(it) as Box<dyn Read + Send>),
        ];
        let to_connect = events.clone();
        thread::spawn(move || listen(listener, &to_connect));
        let to_end = events.clone();
        thread::spawn(move || wait(child, heard, &to_end));
        Ok(Program {
            _folder: folder,
            process,
            socket: None,
            unsent: Vec::new(),
        })
    }

    /// The debugger is there.
    pub(super) fn connect(&mut self, socket: UnixStream) {
        self.socket = Some(socket);
        for request in std::mem::take(&mut self.unsent) {
            self.say(request);
        }
    }

    /// Says something to the debugger, as soon as it is there. Where it is gone the program has ended, or is about to.
    pub(super) fn say(&mut self, request: Request) {
        let Some(socket) = &mut self.socket else {
            self.unsent.push(request);
            return;
        };
        let mut line = serde_json::to_vec(&request).unwrap_or_default();
        line.push(b'\n');
        let _ = socket.write_all(&line);
    }

    /// Ends it, with all that it has started.
    pub(super) fn kill(&self) {
        // It may have ended just now.
        let _ = killpg(self.process, Signal::SIGKILL);
    }
}

/// Waits for the debugger, and hands on what it says. One process of the program is debugged.
fn listen<I>(listener: UnixListener, events: &Sender<Event<I>>) {
    let accepted = listener.accept();
    // Another that comes to the door finds it closed, and does not wait.
    drop(listener);
    let Ok((socket, _)) = accepted else {
        return;
    };
    let Ok(from) = socket.try_clone() else {
        return;
    };
    if events.send(Event::Connected(socket)).is_err() {
        return;
    }
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str(&line) else {
            return;
        };
        if events.send(Event::Said(message)).is_err() {
            return;
        }
    }
}

/// Waits for the program's end, and hands on what it prints until then.
fn wait<I: Send + 'static>(
    mut child: Child,
    [output, errors]: [Option<Box<dyn Read + Send>>; 2],
    events: &Sender<Event<I>>,
) {
    let reader = |from: Option<Box<dyn Read + Send>>, is_error| {
        let events = events.clone();
        thread::spawn(move || from.map(|it| hand_on(it, is_error, &events)))
    };
    let readers = [reader(output, false), reader(errors, true)];
    let ended = child.wait();
    for reader in readers {
        // A process that it has left behind may hold them open.
        let until = Instant::now() + LAST_WORDS;
        while !reader.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
    if let Ok(status) = ended {
        let _ = events.send(Event::Ended(status));
    }
}

fn hand_on<I>(mut from: impl Read, is_error: bool, events: &Sender<Event<I>>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        if events.send(Event::Printed(text, is_error)).is_err() {
            return;
        }
    }
}
