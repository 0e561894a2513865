//! A program that launches a kernel under the debugger, and the front's end of its socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use debugger::protocol::{
    Answer, Breakpoint, Location, Message, Motion, Question, Request, Seat, Stop, Until,
};
use debugger::{Debugger, Link, Relaunch};
use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Limits, Memory, Snapshot};
use engine::{Checks, Kernel, LaunchError, Module, Options, Shape};

/// Blocks, and threads of each, of the kernel `sum`.
pub(crate) const BLOCKS: u32 = 4;
pub(crate) const THREADS: u32 = 64;

/// Adds 64 elements per block: `in[i]` is `i`.
pub(crate) const SUM: &str = include_str!("sum.ptx");

/// A launch, and what it has printed.
struct Program {
    memory: Arc<Memory>,
    kernel: Kernel,
    shape: Shape,
    options: Options,
    parameters: Vec<u8>,
    before: Snapshot,
    checks: Mutex<(Checker, Streams, engine::check::Stream)>,
    printed: Arc<Mutex<String>>,
    no_way_back: Option<String>,
    /// The kernel's name, as an author has written it.
    name: String,
}

impl Relaunch for Program {
    fn run(
        &self,
        debugger: engine::debug::Debugger<'_>,
        is_new: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), LaunchError> {
        let mut checks = self.checks.lock().expect("no panic");
        let (checker, streams, stream) = &mut *checks;
        let checks = Checks {
            operation: streams.enqueue(*stream),
            checker,
            fixed: Vec::new(),
            lent: Vec::new(),
            benign: None,
        };
        let print = |text: &str| {
            if is_new() {
                self.printed.lock().expect("no panic").push_str(text);
            }
        };
        let options = self.options.clone();
        let (shape, parameters) = (self.shape, &self.parameters);
        self.kernel
            .debug(shape, options, parameters, &print, Some(checks), debugger)
    }

    fn restore(&self) {
        self.before.restore(&self.memory);
    }

    fn no_way_back(&self) -> Option<String> {
        self.no_way_back.clone()
    }
}

/// The front of a program that runs in a thread.
pub(crate) struct Front {
    to: Option<UnixStream>,
    from: BufReader<UnixStream>,
    program: JoinHandle<Result<Vec<u8>, LaunchError>>,
    pub(crate) printed: Arc<Mutex<String>>,
}

impl Front {
    /// Of a launch of [`SUM`].
    pub(crate) fn of_sum() -> Front {
        Front::of(SUM, "sum", [BLOCKS, THREADS], Options::default())
    }

    /// The same, of which there is one run alone, for a reason.
    pub(crate) fn of_one_run(why: &str) -> Front {
        let options = Options::default();
        Front::started(SUM, "sum", [BLOCKS, THREADS], options, Some(why.to_owned()))
    }

    /// Of a launch of any kernel that takes two buffers: floats that count from 0, and as many zeros.
    pub(crate) fn of(ptx: &str, kernel: &str, shape: [u32; 2], options: Options) -> Front {
        Front::started(ptx, kernel, shape, options, None)
    }

    fn started(
        ptx: &str,
        kernel: &str,
        [blocks, threads]: [u32; 2],
        options: Options,
        no_way_back: Option<String>,
    ) -> Front {
        let memory = Arc::new(Memory::new(Limits::default()));
        let bytes = u64::from(4 * blocks * threads);
        let buffer = |name| memory.allocate(bytes, 256, Contents::Defined, Label::new(name, 4));
        let (from, to) = (buffer("in").expect("room"), buffer("out").expect("room"));
        let floats: Vec<u8> = (0..blocks * threads)
            .flat_map(|it| (it as f32).to_le_bytes())
            .collect();
        let start = std::ptr::with_exposed_provenance_mut::<u8>(from as usize);
        // SAFETY: a buffer of as many bytes, which nobody else knows.
        unsafe { start.copy_from_nonoverlapping(floats.as_ptr(), floats.len()) };
        let module = Module::load_for_debugging(ptx, &memory).expect("PTX");
        let mut streams = Streams::default();
        let stream = streams.stream();
        let printed = Arc::<Mutex<String>>::default();
        let program = Program {
            kernel: module.kernel(kernel).expect("a kernel"),
            shape: Shape {
                grid: [blocks, 1, 1],
                block: [threads, 1, 1],
                dynamic_shared: 0,
            },
            options,
            parameters: [from, to].map(u64::to_le_bytes).concat(),
            before: Snapshot::take(&memory),
            checks: Mutex::new((Checker::new(), streams, stream)),
            printed: Arc::clone(&printed),
            no_way_back,
            name: kernel.replace("_mangled", ""),
            memory,
        };
        let (own, other) = UnixStream::pair().expect("sockets");
        own.set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a socket");
        let link = Link::over(other).expect("a thread");
        let run = move || {
            let debugger = Debugger::new(link);
            debugger.debug(&program.kernel, &program.name, &program)?;
            let start = std::ptr::with_exposed_provenance::<u8>(to as usize);
            // SAFETY: a buffer of so many bytes, of a memory that lives; the launch has ended.
            Ok(unsafe { std::slice::from_raw_parts(start, bytes as usize) }.to_vec())
        };
        Front {
            from: BufReader::new(own.try_clone().expect("a socket")),
            to: Some(own),
            program: thread::spawn(run),
            printed,
        }
    }

    pub(crate) fn say(&mut self, request: &Request) {
        let mut line = serde_json::to_vec(request).expect("JSON");
        line.push(b'\n');
        self.to
            .as_mut()
            .expect("open")
            .write_all(&line)
            .expect("a reader");
    }

    /// The next message.
    pub(crate) fn hear(&mut self) -> Message {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("a message in time");
        if line.is_empty() {
            let program = std::mem::replace(&mut self.program, thread::spawn(|| Ok(Vec::new())));
            panic!(
                "the program has ended: {:?}",
                program.join().expect("no panic")
            );
        }
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    /// Waits until the program stops.
    pub(crate) fn stopped(&mut self) -> Stop {
        loop {
            match self.hear() {
                Message::Stopped(stop) => return *stop,
                Message::Resolved(_) => {}
                Message::Answer(answer) => panic!("{answer:?}"),
            }
        }
    }

    pub(crate) fn set(&mut self, all: &[(Location, &str, u64)]) {
        let breakpoint =
            |(id, (at, condition, ignored)): (u32, &(Location, &str, u64))| Breakpoint {
                id,
                at: at.clone(),
                condition: Some((*condition).to_owned()).filter(|it| !it.is_empty()),
                ignored: *ignored,
            };
        let all = (1..).zip(all).map(breakpoint).collect();
        self.say(&Request::Set(all));
    }

    /// Goes on, and waits until the program stops.
    pub(crate) fn go(&mut self, until: Until, lane: u32) -> Stop {
        self.moves(until, lane, false);
        self.stopped()
    }

    /// The same backwards.
    pub(crate) fn back(&mut self, until: Until, lane: u32) -> Stop {
        self.moves(until, lane, true);
        self.stopped()
    }

    pub(crate) fn moves(&mut self, until: Until, lane: u32, is_back: bool) {
        self.say(&Request::Move(Motion {
            until,
            is_back,
            lane,
        }));
    }

    pub(crate) fn ask(&mut self, question: Question) -> Result<Answer, String> {
        self.say(&Request::Ask(question));
        match self.hear() {
            Message::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, lane: u32, text: &str) -> String {
        let seat = Seat { lane, frame: 0 };
        match self.ask(Question::Value(seat, text.to_owned())) {
            Ok(Answer::Value(value)) => value.text,
            Ok(other) => panic!("{other:?}"),
            Err(error) => error,
        }
    }

    /// Lets the program run to its end: the second buffer's floats.
    pub(crate) fn end(mut self) -> Result<Vec<f32>, LaunchError> {
        self.say(&Request::Set(Vec::new()));
        self.moves(Until::Breakpoint, 0, false);
        self.left()
    }

    /// Goes away.
    pub(crate) fn left(mut self) -> Result<Vec<f32>, LaunchError> {
        let to = self.to.take().expect("open");
        to.shutdown(std::net::Shutdown::Both).expect("open");
        let bytes = self.program.join().expect("no panic")?;
        let floats = bytes.as_chunks::<4>().0.iter();
        Ok(floats.map(|it| f32::from_le_bytes(*it)).collect())
    }
}

pub(crate) fn line(line: u32) -> Location {
    Location::Line("sum.cu".to_owned(), line)
}

/// The innermost line at which it has stopped.
pub(crate) fn line_of(stop: &Stop) -> u32 {
    stop.frames[0].line
}

/// The sums that [`SUM`] writes, by arithmetic.
pub(crate) fn sums() -> Vec<f32> {
    let of = |block: u32| (block * THREADS..(block + 1) * THREADS).sum::<u32>() as f32;
    (0..BLOCKS).map(of).collect()
}
