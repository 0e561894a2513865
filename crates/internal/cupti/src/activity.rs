//! The description of a piece of work.

use std::time::{Duration, Instant};

/// A piece of work that a GPU did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The stream that it was in.
    pub stream: StreamId,
    /// When the device began it, on the host's clock.
    pub began: Instant,
    /// How long the device took.
    pub took: Duration,
    /// The kind of work.
    pub work: Work,
}

/// A stream as CUPTI knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId {
    /// The number of its context in the process.
    pub context: u32,
    /// Its number in the context.
    pub stream: u32,
}

/// Kinds of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A kernel, launched by itself or in a graph.
    Kernel {
        /// The name of the PTX entry.
        name: String,
        /// How it was launched.
        launch: Launch,
    },
    /// A copy.
    Copy {
        /// From where to where.
        direction: Direction,
        /// Bytes copied.
        bytes: u64,
    },
    /// Memory filled with a value.
    Fill {
        /// Bytes written.
        bytes: u64,
    },
}

/// How a kernel was launched, and what of the multiprocessor it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of shared memory per block, static and dynamic.
    pub shared: u32,
}

/// From where to where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host's memory to the device's.
    ToDevice,
    /// From the device's memory to the host's.
    FromDevice,
    /// Any other: within the device, between devices, arrays.
    Other,
}
