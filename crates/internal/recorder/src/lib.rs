//! Records a process from within: its calls, who made them, and what became of them.
//!
//! A shared library that a driver injects, and the emulated driver, are given a folder by the environment and leave a
//! file of records there for each process ([`recording`]). A [`Recorder`] numbers texts and callers, so that a record of
//! a call is a few bytes.
//!
//! Callers are the frames of the Python interpreter where the thread is one of its, and machine code's where not.
//! No symbol is looked up in the process: `recording::Module` says where addresses are from.

mod calls;
mod gate;
mod names;
mod native;
pub mod nvtx;
mod python;
mod selection;
mod stacks;

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use recording::{End, Log, Process, Record, Text};

use crate::gate::Gate;
pub use crate::selection::{Selection, Within};
use crate::stacks::Stacks;

/// The environment variable that names the folder; without it nothing is recorded.
pub const FOLDER: &str = "RIDGEPOINT_RECORDING";
/// The environment variable that limits a process's file, in bytes.
pub const LIMIT: &str = "RIDGEPOINT_RECORDING_LIMIT";
/// The environment variable that names hardware counters, separated by commas: launches are counted then, and not timed.
pub const COUNTERS: &str = "RIDGEPOINT_RECORDING_COUNTERS";
/// How large a file grows where nothing is said: some ten million records.
pub const DEFAULT_LIMIT: u64 = 1 << 30;

/// The recorder of a process.
#[derive(Debug)]
pub struct Recorder {
    log: Log,
    /// The moment in nanoseconds, on the clock of all records.
    clock: fn() -> u64,
    gate: Gate,
    texts: Mutex<HashMap<Box<str>, u32>>,
    stacks: Stacks,
    /// Nanoseconds that recording has taken in the program's threads.
    cost: AtomicU64,
    /// The process that this was made in: a child of `fork` has its memory, and must not write.
    process: u32,
}

/// The folder that the environment names.
pub fn folder() -> Option<PathBuf> {
    let folder = env::var_os(FOLDER).filter(|it| !it.is_empty());
    folder.map(PathBuf::from)
}

/// The hardware counters that the environment names; `None` where launches are to be timed.
pub fn counters() -> Option<Vec<String>> {
    let names = env::var(COUNTERS).ok().filter(|it| !it.is_empty())?;
    Some(names.split(',').map(str::to_owned).collect())
}

impl Recorder {
    /// Makes this process's file in the folder. `clock` gives the moment in nanoseconds, on the clock of all records;
    /// `source` says what records.
    ///
    /// # Errors
    /// The file system refuses, or the environment names a limit or a part that is none.
    pub fn create(
        folder: &Path,
        source: &str,
        is_emulated: bool,
        clock: fn() -> u64,
    ) -> io::Result<Recorder> {
        let id = std::process::id();
        let selection = Selection::from_environment()?;
        let asked = (!selection.is_all()).then(|| selection.to_string());
        let (gate, turns) = Gate::new(selection, clock());
        let recorder = Recorder {
            log: new_file(folder, id, limit()?)?,
            clock,
            gate,
            texts: Mutex::default(),
            stacks: Stacks::default(),
            cost: AtomicU64::new(0),
            process: id,
        };
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        recorder.write(&Record::Process(Process {
            id,
            parent: parent_id(),
            command: command_line(),
            time: clock(),
            unix_time: since_1970.map_or(0, |it| it.as_nanos() as u64),
            source: source.to_owned(),
            is_emulated,
        }));
        if let Some(asked) = asked {
            recorder.write(&Record::Asked(asked));
        }
        recorder.turn(&turns);
        Ok(recorder)
    }

    /// Appends a record. A child of `fork` writes nothing.
    pub fn write(&self, record: &Record) {
        if self.is_own() {
            self.log.write(record);
        }
    }

    /// Whether this process is the recorder's, and not forked off it.
    pub fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// The number of a text.
    pub fn text(&self, text: &str) -> u32 {
        let mut texts = lock(&self.texts);
        if let Some(&id) = texts.get(text) {
            return id;
        }
        let id = texts.len() as u32 + 1;
        texts.insert(text.into(), id);
        self.write(&Record::Text(Text {
            id,
            text: text.to_owned(),
        }));
        id
    }

    /// The number of the callers of this function; 0 where none can be found.
    fn callers(&self) -> u32 {
        self.stacks.current(|record| self.write(record))
    }

    /// Ends the recording: `lost` records of devices are missing. Records may follow all the same, of threads that go on. A
    /// child of `fork` leaves its parent's file alone.
    pub fn end(&self, lost: u64) {
        if !self.is_own() {
            return;
        }
        self.write(&Record::End(End {
            time: (self.clock)(),
            lost,
            cost: self.cost.load(Ordering::Relaxed),
        }));
        self.log.trim();
    }
}

/// The operating system's number of this thread.
pub fn thread() -> u32 {
    thread_local! {
        // SAFETY: the call has no arguments and always succeeds.
        static ID: u32 = unsafe { libc::gettid() } as u32;
    }
    // At a thread's end its variables are gone, and calls are still made.
    ID.try_with(|id| *id).unwrap_or(0)
}

fn limit() -> io::Result<u64> {
    match env::var(LIMIT) {
        Ok(text) => text.parse().map_err(|_| {
            let message = format!("{LIMIT}={text}: a number of bytes was expected");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        }),
        Err(_) => Ok(DEFAULT_LIMIT),
    }
}

/// A program may start another in its place, which has its number.
fn new_file(folder: &Path, process: u32, limit: u64) -> io::Result<Log> {
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("{process}.rec"),
            _ => format!("{process}-{number}.rec"),
        };
        match Log::create(&folder.join(name), limit) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            answer => return answer,
        }
    }
}

fn command_line() -> Vec<String> {
    let bytes = fs::read("/proc/self/cmdline").unwrap_or_default();
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    let words = bytes.split(|&byte| byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use recording::{Frame, Recording};

    use super::*;

    #[inline(never)]
    fn caller(recorder: &Recorder) -> u32 {
        recorder.callers()
    }

    #[test]
    fn texts_and_callers_are_written_once_and_files_are_never_shared() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::create(folder.path(), "a test", false, || 7).expect("a file");
        assert_eq!(["a", "b", "a"].map(|text| recorder.text(text)), [1, 2, 1]);
        let stacks: Vec<u32> = (0..3).map(|_| caller(&recorder)).collect();
        assert!(
            stacks[0] > 0 && stacks.iter().all(|it| it == &stacks[0]),
            "{stacks:?}"
        );
        recorder.end(1);
        let other = Recorder::create(folder.path(), "another", false, || 7).expect("a file");
        drop(other);

        let id = std::process::id();
        let path = folder.path().join(format!("{id}.rec"));
        let records = Recording::read(&path).expect("a recording").records;
        let second = folder.path().join(format!("{id}-2.rec"));
        assert_eq!(
            Recording::read(&second).expect("a recording").records.len(),
            1
        );

        let Record::Process(process) = &records[0] else {
            panic!("{records:?}")
        };
        assert_eq!((process.id, process.time), (id, 7));
        assert!(!process.command.is_empty());
        let stacks: Vec<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Stack(stack) => Some(stack),
                _ => None,
            })
            .collect();
        let [stack] = stacks[..] else {
            panic!("{stacks:?}")
        };
        let modules: Vec<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Module(module) => Some(module),
                _ => None,
            })
            .collect();
        // The function above is among the callers, and is in this program.
        let function = caller as *const () as u64;
        let callers = stack.frames.iter().filter_map(|frame| match frame {
            Frame::Native(address) => Some(*address),
            Frame::Source { .. } => None,
        });
        let address = callers
            .min_by_key(|address| address.abs_diff(function))
            .expect("callers");
        assert!(
            (function..function + 512).contains(&address),
            "{address:x} {function:x}"
        );
        let module = modules
            .iter()
            .find(|it| (it.start..it.end).contains(&address));
        let path = &module.expect("the address has a file").path;
        assert_eq!(Path::new(path), env::current_exe().expect("a program"));
        let end = End {
            time: 7,
            lost: 1,
            cost: 0,
        };
        assert_eq!(records.last(), Some(&Record::End(end)));
    }

    #[test]
    fn a_child_of_fork_leaves_its_parents_file_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::create(folder.path(), "a test", false, || 7).expect("a file");
        // SAFETY: the child takes no lock, and ends without what other threads would have to do.
        let child = unsafe { libc::fork() };
        if child == 0 {
            recorder.end(0);
            // SAFETY: it always succeeds.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the last is a place to write to.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        recorder.text("written after the child has ended");
        let path = folder.path().join(format!("{}.rec", std::process::id()));
        let records = Recording::read(&path).expect("a recording").records;
        assert!(
            matches!(records.last(), Some(Record::Text(_))),
            "{records:?}"
        );
    }
}
