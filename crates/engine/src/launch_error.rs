//! Why a launch fails.

use crate::check::{Finding, Thread};
use crate::exec::endless::Endless;
use crate::exec::failure::Failure;
use crate::exec::unlowered::Unlowered;
use crate::limits::LimitError;

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
        /// The failure.
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
    #[error("{kernel}: {finding}")]
    Found {
        /// The kernel.
        kernel: String,
        /// The finding.
        finding: Box<Finding>,
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
    /// The launch exceeds a limit of all GPUs or of the kernel.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// More registers than the host has memory for.
    #[error("{kernel}: {actual} bytes of registers; {free} bytes of memory are free")]
    Registers {
        /// The kernel.
        kernel: String,
        /// Of the blocks that begin at once.
        actual: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A function of the kernel cannot be made into what the engine executes.
    #[error(transparent)]
    Unlowered(#[from] Unlowered),
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
