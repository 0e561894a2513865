//! A recorded program: its processes, with each call beside what it made a device do.

use std::path::Path;
use std::sync::Arc;

use recording::{Allocation, Device, Memory, Recording, Synchronized};

use super::function::Purpose;
use super::place::Place;
use super::read::{Reader, header};
use super::streams::Streams;

/// Recordings that make no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// There is none.
    #[error(
        "no process was recorded: the program has ended before it called CUDA, or does not use it"
    )]
    Nothing,
}

/// A recorded program. All times are nanoseconds since it began.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its processes, in the order in which their recordings began.
    pub processes: Vec<Process>,
    /// When its first call was made: before, it did without CUDA.
    pub start: u64,
    /// When its last call returned, or its last work ended.
    pub end: u64,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// Its parent's.
    pub parent: u32,
    /// Its command line.
    pub command: Vec<String>,
    /// The recorder.
    pub source: String,
    /// Whether its devices were emulated.
    pub is_emulated: bool,
    /// Whether its recording has an end: the process was not killed.
    pub has_ended: bool,
    /// Records that are missing.
    pub missing: Missing,
    /// Nanoseconds that the recorder took in the process's threads.
    pub cost: u64,
    /// The parts that were asked for, in words; `None` where all was recorded.
    pub asked: Option<String>,
    /// When each part began and ended, where parts were asked for: of the time between them nothing is known.
    pub parts: Vec<(u64, u64)>,
    /// When its recording began.
    pub start: u64,
    /// When it ended; of a killed process, its last record's time.
    pub end: u64,
    /// Its devices.
    pub devices: Vec<Device>,
    /// Calls by their starts.
    pub calls: Vec<Call>,
    /// Work of devices by its starts.
    pub activities: Vec<Activity>,
    /// Waits of the host, and of streams, in the order of the records.
    pub synchronizations: Vec<Synchronization>,
    /// Events put into streams, in the order of the records.
    pub events: Vec<EventRecord>,
    /// Memory allocated and freed, by time.
    pub allocations: Vec<Allocated>,
    /// Ranges of NVTX by their starts.
    pub ranges: Vec<Range>,
    /// The activities of each stream.
    pub streams: Streams,
}

/// Records that a recording lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The file had no room for them.
    pub refused: u64,
    /// The recorder lost them.
    pub lost: u64,
    /// Work of devices whose call is not known.
    pub uncalled: u64,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function as it is documented.
    pub function: Arc<str>,
    /// Its purpose.
    pub purpose: Purpose,
    /// The operating system's number of its thread.
    pub thread: u32,
    /// The thread on whose behalf it was made, which waited meanwhile: most often the thread itself.
    pub actor: u32,
    /// Where in the program it was made.
    pub place: Arc<Place>,
    /// When it was made.
    pub start: u64,
    /// When it returned.
    pub end: u64,
    /// The number that its activities have, too.
    pub correlation: u32,
}

/// Work of a device.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The work.
    pub work: Work,
    /// The device.
    pub device: u32,
    /// The stream.
    pub stream: StreamId,
    /// The call, where it is known.
    pub call: Option<usize>,
    /// The graph; 0 for none.
    pub graph: u32,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// A stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// The context.
    pub context: u32,
    /// Its number in the context.
    pub stream: u32,
}

/// Work of a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A kernel.
    Kernel {
        /// Its name for people.
        name: Arc<str>,
        /// Its name in the module.
        symbol: Arc<str>,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads per block in x, y, z.
        block: [u32; 3],
    },
    /// A copy.
    Copy {
        /// Memory that was read.
        from: Memory,
        /// Memory that was written.
        to: Memory,
        /// Bytes copied.
        bytes: u64,
    },
    /// Memory filled with a value.
    Fill {
        /// Bytes written.
        bytes: u64,
    },
}

/// A wait of the host by a call, or of a stream that a call made wait.
#[derive(Clone, Copy, Debug)]
pub struct Synchronization {
    /// The object that is waited for.
    pub on: Synchronized,
    /// The context.
    pub context: u32,
    /// The call.
    pub call: usize,
}

/// An event put into a stream.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord {
    /// The event.
    pub event: u32,
    /// Which of its recordings; 0 where that is not known.
    pub recording: u64,
    /// The stream.
    pub stream: StreamId,
    /// The call.
    pub call: usize,
}

/// Memory allocated or freed.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// The record.
    pub of: Allocation,
    /// The call, where it is known.
    pub call: Option<usize>,
    /// When.
    pub time: u64,
}

/// A range of NVTX, or a mark, whose end is its start.
#[derive(Clone, Debug)]
pub struct Range {
    /// Its name.
    pub name: Arc<str>,
    /// Its thread; 0 for the process.
    pub thread: u32,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

impl Program {
    /// The program of these recordings, one for each process. Places are named for a reader in `directory`.
    ///
    /// # Errors
    /// [`NoProgram`]: nothing was recorded.
    pub fn of(recordings: Vec<Recording>, directory: &Path) -> Result<Program, NoProgram> {
        let headers = recordings.iter().filter_map(header);
        // Clocks of processes meet in the time since 1970.
        let begin = headers.map(|it| it.unix_time).min();
        let begin = begin.ok_or(NoProgram::Nothing)?;
        let read = |it: &Recording| Some(Reader::new(it, header(it)?, begin, directory).process());
        let mut processes: Vec<Process> = recordings.iter().filter_map(read).collect();
        processes.sort_by_key(|it| it.start);
        let spans = || processes.iter().filter_map(Process::span);
        let start = spans().map(|it| it.0).min().unwrap_or_default();
        let end = spans().map(|it| it.1).max().unwrap_or_default();
        Ok(Program {
            processes,
            start,
            end,
        })
    }

    /// Nanoseconds from its first call to its last.
    pub fn took(&self) -> u64 {
        self.end - self.start
    }

    /// Whether its devices were emulated: their times say nothing of a GPU.
    pub fn is_emulated(&self) -> bool {
        self.processes.iter().any(|it| it.is_emulated)
    }
}

impl Process {
    /// From its first call, or the begin of its first work, to the end of its last.
    pub fn span(&self) -> Option<(u64, u64)> {
        let calls = self.calls.iter().map(|it| (it.start, it.end));
        let works = self.activities.iter().map(|it| (it.start, it.end));
        calls
            .chain(works)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Whether a part ends after the first and before the second of these times, and another begins.
    pub(super) fn is_unrecorded_between(&self, start: u64, end: u64) -> bool {
        let between = self.parts.windows(2);
        between
            .map(|pair| (pair[0].1, pair[1].0))
            .any(|(ended, begun)| ended < end && start < begun)
    }

    /// The call of an activity.
    pub fn caller(&self, activity: &Activity) -> Option<&Call> {
        activity.call.map(|it| &self.calls[it])
    }
}

impl Activity {
    /// Nanoseconds that it took.
    pub fn took(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl Call {
    /// Nanoseconds that it took.
    pub fn took(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}
