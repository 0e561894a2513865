//! The records.

use serde::{Deserialize, Serialize};

/// One thing that was seen. Texts and stacks come before the records that name them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// The process that is recorded: the first record.
    Process(Process),
    /// A text, which later records name by its number.
    Text(Text),
    /// Callers, which later records name by their number.
    Stack(Stack),
    /// A file of machine code in the process's memory.
    Module(Module),
    /// A GPU.
    Device(Device),
    /// A call of the runtime or the driver.
    Call(Call),
    /// A piece of work of a GPU.
    Activity(Activity),
    /// A wait of the host by a call, or of a stream that a call made wait.
    Synchronization(Synchronization),
    /// An event put into a stream.
    Event(Event),
    /// Memory allocated or freed.
    Allocation(Allocation),
    /// The begin, or the end, of a range of NVTX.
    Range(Range),
    /// The end of the process.
    End(End),
    /// The begin, or an end, of a part that was asked for: nothing is recorded outside of parts where there are any.
    Part(Part),
    /// The parts that were asked for, in words.
    Asked(String),
    /// The hardware's counts of a launch.
    Counted(Counted),
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// Its parent's.
    pub parent: u32,
    /// Its command line.
    pub command: Vec<String>,
    /// When the recording began.
    pub time: u64,
    /// The same moment in nanoseconds since 1970.
    pub unix_time: u64,
    /// Its recorder: `CUPTI 13.0`, or the emulator.
    pub source: String,
    /// Whether its GPUs were emulated: then no time of a device is a GPU's.
    pub is_emulated: bool,
}

/// A text with its number, from 1; 0 is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Its number.
    pub id: u32,
    /// The text: a function, a kernel, a range.
    pub text: String,
}

/// Callers with their number, from 1; 0 is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Its number.
    pub id: u32,
    /// The callers, the innermost first.
    pub frames: Vec<Frame>,
    /// The stack is that of this other thread, which waited while the thread without callers of its own called:
    /// such are PyTorch's threads for gradients. 0 where the stack is the caller's own.
    pub of_thread: u32,
}

/// A caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Frame {
    /// A function of an interpreter.
    Source {
        /// The function's name.
        function: String,
        /// The file, as the interpreter names it.
        file: String,
        /// The line that is executed.
        line: u32,
    },
    /// Machine code: an address within a call's instruction. The modules say of which file.
    Native(u64),
}

/// A file of machine code, at its place in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The file.
    pub path: String,
    /// The addresses of its code: from here.
    pub start: u64,
    /// To before here.
    pub end: u64,
    /// The distance from an address in the file to that in memory.
    pub bias: u64,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its number in the process.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A call of the runtime or the driver, outermost: those that the runtime itself makes of the driver are part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The function's text.
    pub name: u32,
    /// The operating system's number of the thread.
    pub thread: u32,
    /// The callers.
    pub stack: u32,
    /// When it was called.
    pub start: u64,
    /// When it returned.
    pub end: u64,
    /// The number that the records of the work that it has put into a stream have, too. Unique in a process.
    pub correlation: u32,
    /// Its answer; 0 is success.
    pub status: u32,
}

/// A piece of work of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// The work.
    pub work: Work,
    /// The GPU.
    pub device: u32,
    /// The context's number in the process.
    pub context: u32,
    /// The stream's number in the context.
    pub stream: u32,
    /// The call's.
    pub correlation: u32,
    /// The graph that it was in; 0 where in none.
    pub graph: u32,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// Work of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// A kernel.
    Kernel(Kernel),
    /// A copy.
    Copy {
        /// The memory that was read.
        from: Memory,
        /// The memory that was written.
        to: Memory,
        /// Bytes copied.
        bytes: u64,
        /// The device that was written where it is another than the activity's.
        peer: Option<u32>,
    },
    /// Memory filled with a value.
    Fill {
        /// Bytes written.
        bytes: u64,
    },
}

/// A kernel's launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The text of its name, as the module has it.
    pub name: u32,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of shared memory per block: static, dynamic.
    pub shared: [u32; 2],
}

/// The hardware's counts of a kernel's launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The text of the kernel's name, as the module has it.
    pub kernel: u32,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// The GPU.
    pub device: u32,
    /// The call's.
    pub correlation: u32,
    /// The texts of metrics, and their values.
    pub counts: Vec<(u32, u64)>,
    /// The text that says why it could not be counted; 0 where it was.
    pub problem: u32,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Memory {
    /// Of the host, which the operating system may move.
    Pageable,
    /// Of the host, page-locked.
    Pinned,
    /// Of a GPU.
    Device,
    /// Of both, moved on demand.
    Managed,
    /// A texture's array.
    Array,
    /// Not known.
    Unknown,
}

/// A wait of the host by a call, or of a stream that a call made wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synchronization {
    /// For what.
    pub on: Synchronized,
    /// The context.
    pub context: u32,
    /// The call's.
    pub correlation: u32,
    /// When the wait began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// The subject of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Synchronized {
    /// The host, for an event.
    Event {
        /// The event.
        event: u32,
        /// Which of its recordings.
        recording: u64,
    },
    /// The host, for all work of a stream.
    Stream(u32),
    /// The host, for all work of a context.
    Context,
    /// A stream, for an event.
    StreamOnEvent {
        /// The stream that waits.
        stream: u32,
        /// The event.
        event: u32,
        /// Which of its recordings.
        recording: u64,
    },
}

/// An event put into a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The event.
    pub event: u32,
    /// Which of its recordings; 0 where that is not known.
    pub recording: u64,
    /// The context.
    pub context: u32,
    /// The stream.
    pub stream: u32,
    /// The call's.
    pub correlation: u32,
}

/// Memory allocated or freed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Which memory.
    pub memory: Memory,
    /// Freed, and not allocated.
    pub is_release: bool,
    /// Whether it is of a pool, in the order of a stream.
    pub is_pooled: bool,
    /// Where it is.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The GPU.
    pub device: u32,
    /// The call's.
    pub correlation: u32,
    /// When.
    pub time: u64,
}

/// The begin, the end or the moment of a range of NVTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Range {
    /// It begins.
    Begin {
        /// Its number.
        id: u32,
        /// Its thread; 0 where it is the process's.
        thread: u32,
        /// The text of its name.
        name: u32,
        /// When.
        time: u64,
    },
    /// It ends.
    End {
        /// Its number.
        id: u32,
        /// When.
        time: u64,
    },
    /// A mark, which takes no time.
    Mark {
        /// Its thread; 0 where it is the process's.
        thread: u32,
        /// The text of its name.
        name: u32,
        /// When.
        time: u64,
    },
}

/// The begin of a part of a process, or an end. A part has ended at the first of its ends: one is written as soon as it is known,
/// and may lie ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// It begins at this time.
    Begin(u64),
    /// It ends at this time, if not before.
    End(u64),
}

/// The end of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// When.
    pub time: u64,
    /// Records of devices that could not be kept, as far as is known.
    pub lost: u64,
    /// Nanoseconds that the recorder took in the program's threads.
    pub cost: u64,
}
