//! What can go wrong in a launch.

use std::fmt;

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A thread panicked.
    #[error("{thread} panicked at {place}: {message}")]
    Panicked {
        /// Which thread.
        thread: Thread,
        /// What it said.
        message: String,
        /// Where: file, line and column.
        place: String,
    },
    /// Threads of a block wait for others that will never come.
    #[error("block {block:?} cannot go on: {waiting}")]
    Stuck {
        /// The block's index, x, y, z.
        block: [u32; 3],
        /// Who waits where for what.
        waiting: String,
    },
    /// Threads go separate ways where they must stay together.
    #[error("divergence in block {block:?}: {what}")]
    Diverged {
        /// The block's index, x, y, z.
        block: [u32; 3],
        /// Who is where.
        what: String,
    },
    /// Two threads reach the same memory, one of them writing, and nothing orders them.
    #[error(
        "race on {location}: {} {} at {}, and {} {} at {}",
        .now.thread, .now.kind.it(), .now.place,
        .before.thread, .before.kind.past(), .before.place
    )]
    Race {
        /// What both reach.
        location: Location,
        /// The access at which it was found.
        now: Box<AccessBy>,
        /// The one before.
        before: Box<AccessBy>,
    },
    /// Memory is read that nothing has written.
    #[error("uninitialised: {}", .access.of(location))]
    Uninitialised {
        /// What is read.
        location: Location,
        /// By whom.
        access: Box<AccessBy>,
    },
    /// An access outside of the memory that the launch has.
    #[error("out of bounds: {}", .access.of(location))]
    OutOfBounds {
        /// Which memory it misses.
        location: Location,
        /// By whom.
        access: Box<AccessBy>,
    },
    /// An access to an address that is not a multiple of its alignment.
    #[error("misaligned: {}, with an alignment of {alignment} bytes", .access.of(location))]
    Misaligned {
        /// What is reached.
        location: Location,
        /// The alignment that the access needs, in bytes.
        alignment: usize,
        /// By whom.
        access: Box<AccessBy>,
    },
    /// A thread went on for longer than it may.
    #[error("{thread} goes on for ever, or for more than {limit} steps, at {place}")]
    Steps {
        /// Which thread.
        thread: Thread,
        /// [`Options::steps`](crate::Options::steps).
        limit: u64,
        /// Where it was.
        place: String,
    },
    /// A check of memory was asked for and the code is not instrumented.
    #[error(
        "memory cannot be checked: the kernel is not instrumented; run `ridgepoint check`, or ask \
         for no check of races, bounds and uninitialised memory"
    )]
    NotInstrumented,
    /// `ridgepoint check` has started the program, and the code is not instrumented.
    #[error(
        "memory was not checked: this program was started by `ridgepoint check`, and its kernels \
         are not instrumented; let `ridgepoint check` build it, without a target folder or a \
         compiler (RUSTC_WRAPPER) of its own"
    )]
    Unseen,
    /// The operating system gave no memory for the threads' stacks.
    #[error("no memory for the stack of an emulated thread: {0}")]
    Stack(String),
    /// The operating system gave no memory for a block's shared memory.
    #[error("no memory for the shared memory of an emulated block: {bytes} bytes")]
    SharedMemory {
        /// How much was asked for.
        bytes: usize,
    },
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Index of its block, x, y, z.
    pub block: [u32; 3],
    /// Its index in the block, x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "block {:?}, thread {:?}",
            self.block, self.thread
        )
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads or writes atomically.
    Atomic,
}

impl AccessKind {
    fn now(self) -> &'static str {
        match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Atomic => "atomically accesses",
        }
    }

    fn it(self) -> &'static str {
        match self {
            AccessKind::Read => "reads it",
            AccessKind::Write => "writes it",
            AccessKind::Atomic => "atomically accesses it",
        }
    }

    fn past(self) -> &'static str {
        match self {
            AccessKind::Read => "read it",
            AccessKind::Write => "wrote it",
            AccessKind::Atomic => "atomically accessed it",
        }
    }
}

/// An access, and who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessBy {
    /// Which thread.
    pub thread: Thread,
    /// What it does.
    pub kind: AccessKind,
    /// File and line.
    pub place: String,
}

impl AccessBy {
    fn of(&self, location: &Location) -> String {
        let (thread, verb, place) = (self.thread, self.kind.now(), &self.place);
        format!("{thread} {verb} {location} at {place}")
    }
}

/// Memory, as the kernel's author knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Of a buffer handed to the launch, or past its ends.
    Parameter {
        /// The parameter's name.
        name: String,
        /// The element. Below 0 and from `len` on it is none of the buffer's.
        element: i64,
        /// Elements in the buffer.
        len: usize,
    },
    /// Of a shared array, or past its end.
    Shared {
        /// The type of its elements.
        element_type: &'static str,
        /// The element. Below 0 and from `len` on it is none of the array's.
        element: i64,
        /// Elements in the array.
        len: usize,
    },
    /// Of dynamic shared memory, or past its end.
    DynamicShared {
        /// The first byte of the access.
        byte: i64,
        /// Bytes that the launch gave.
        bytes: usize,
    },
    /// A static.
    Static {
        /// Where.
        address: usize,
    },
    /// Memory of which nothing is known.
    Unknown {
        /// Where.
        address: usize,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Parameter { name, element, len } => {
                write!(formatter, "element {element} of `{name}` (of {len})")
            }
            Location::Shared {
                element_type,
                element,
                len,
            } => write!(
                formatter,
                "element {element} of the shared array [{element_type}; {len}]"
            ),
            Location::DynamicShared { byte, bytes } => write!(
                formatter,
                "byte {byte} of the dynamic shared memory (of {bytes})"
            ),
            Location::Static { address } => write!(formatter, "a static at {address:#x}"),
            Location::Unknown { address } => write!(
                formatter,
                "address {address:#x}, in no buffer of the launch,"
            ),
        }
    }
}
