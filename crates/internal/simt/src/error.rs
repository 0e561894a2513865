//! The errors of a launch.

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
        /// The panic's message.
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
    /// A thread waited for longer than it may.
    #[error("{thread} goes on for ever, or for more than {limit} steps, at {place}")]
    Steps {
        /// Which thread.
        thread: Thread,
        /// The limit of [`Launch::steps`](crate::Launch::steps).
        limit: u64,
        /// Where it was.
        place: String,
    },
    /// The operating system gave no memory for the threads' stacks.
    #[error("no memory for the stack of an emulated thread: {0}")]
    Stack(String),
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
