//! Why a launch fails.

use crate::check::Finding;
use crate::exec::endless::Endless;
use crate::exec::failure::{Failure, Thread};

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// A thread failed.
    #[error("{kernel}: {thread}: {failure}, at {place}")]
    Thread {
        /// The kernel.
        kernel: String,
        /// Which thread.
        thread: Thread,
        /// What went wrong.
        failure: Box<Failure>,
        /// File and line, or the PTX's line.
        place: String,
    },
    /// The launch has not ended in its time, though no thread runs for long.
    #[error("{kernel}: the launch {endless}")]
    Unfinished {
        /// The kernel.
        kernel: String,
        /// How far it has come.
        endless: Box<Endless>,
    },
    /// Threads do what they must not.
    #[error("{kernel}: {text}")]
    Found {
        /// The kernel.
        kernel: String,
        /// What, with both places.
        text: String,
        /// The same for programs, of what takes checks to find.
        finding: Option<Box<Finding>>,
    },
    /// Not as many bytes of parameters as the kernel has.
    #[error("{kernel} has {expected} bytes of parameters; {given} were given")]
    Parameters {
        /// The kernel.
        kernel: String,
        /// How many it has.
        expected: u32,
        /// How many were given.
        given: usize,
    },
    /// Clusters that there cannot be.
    #[error("{kernel}: {text}")]
    Cluster {
        /// The kernel.
        kernel: String,
        /// Why.
        text: String,
    },
    /// A block of more threads than there may be.
    #[error("{kernel}: block of {actual} threads; {limited_by} allows {limit}")]
    Threads {
        /// The kernel.
        kernel: String,
        /// Threads of the block.
        actual: u64,
        /// The most that are allowed.
        limit: u64,
        /// What allows no more.
        limited_by: &'static str,
    },
    /// More blocks or threads in one direction than there may be.
    #[error("{kernel}: {actual} {of} in {axis}; a GPU allows {limit}")]
    Extent {
        /// The kernel.
        kernel: String,
        /// `blocks` or `threads`.
        of: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// How many.
        actual: u32,
        /// The most that are allowed.
        limit: u32,
    },
    /// A block of another shape than the kernel is compiled for.
    #[error("{kernel}: block of {actual:?} threads; its .reqntid requires {required:?}")]
    RequiredBlock {
        /// The kernel.
        kernel: String,
        /// The block, x, y, z.
        actual: [u32; 3],
        /// What it is compiled for.
        required: [u32; 3],
    },
    /// More shared memory than a block may have.
    #[error(
        "{kernel}: {dynamic} bytes of dynamic shared memory beside the kernel's own {own}; a block may \
         have {limit}"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// What the launch asks for.
        dynamic: u32,
        /// What the kernel declares.
        own: u32,
        /// The most that both may be.
        limit: u32,
    },
    /// More bytes of something than there are.
    #[error("{kernel}: {actual} bytes of {what}; a GPU allows {limit}")]
    Bytes {
        /// The kernel.
        kernel: String,
        /// Of what.
        what: &'static str,
        /// How many.
        actual: u32,
        /// The most that are allowed.
        limit: u32,
    },
    /// More registers than the host has memory for.
    #[error("{kernel}: {actual} bytes of registers; {free} bytes of memory are free")]
    Registers {
        /// The kernel.
        kernel: String,
        /// Of the blocks that begin at once.
        actual: u64,
        /// What there is.
        free: u64,
    },
    /// A function of the kernel cannot be made into what the engine executes.
    #[error(transparent)]
    Unlowered(#[from] crate::Unlowered),
}

impl LaunchError {
    /// Whether the launch would go on for ever, or for longer than its limits allow.
    pub fn is_endless(&self) -> bool {
        match self {
            LaunchError::Unfinished { .. } => true,
            LaunchError::Thread { failure, .. } => matches!(**failure, Failure::Endless(_)),
            _ => false,
        }
    }

    /// Whether the launch failed because its blocks do not all run at once, as those of a cooperative launch do.
    pub fn wants_cooperation(&self) -> bool {
        let LaunchError::Thread { failure, .. } = self else {
            return false;
        };
        matches!(
            **failure,
            Failure::NotCooperative | Failure::NotPromised { .. }
        )
    }
}
