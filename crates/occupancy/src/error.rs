//! Why a block does not run at all.

use crate::ComputeCapability;

/// Why there is no occupancy to compute, with the actual value and the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OccupancyError {
    /// There is no table of this compute capability.
    #[error(
        "the limits of compute capability {0} are not known: expected one of {known}",
        known = crate::table::known()
    )]
    UnknownCapability(ComputeCapability),

    /// A block has no thread, or more than the GPU or the kernel allows.
    #[error("a block of {actual} threads: 1 to {limit} are allowed")]
    BlockThreads {
        /// The block.
        actual: u32,
        /// The most that both the GPU and the kernel allow.
        limit: u32,
    },

    /// A thread has too many registers.
    #[error("{actual} registers per thread: at most {limit} are possible")]
    RegistersPerThread {
        /// The kernel's registers per thread.
        actual: u32,
        /// The most that the GPU allows.
        limit: u32,
    },

    /// A block has too many registers.
    #[error(
        "{actual} registers per block ({per_thread} per thread, as they are allocated): at most \
         {limit} are possible"
    )]
    RegistersPerBlock {
        /// The block's registers, as the GPU counts them.
        actual: u32,
        /// The most that a block may have.
        limit: u32,
        /// Registers per thread.
        per_thread: u32,
    },

    /// A block has too much shared memory.
    #[error("{actual_bytes} bytes of shared memory per block: at most {limit_bytes} are possible")]
    SharedMemory {
        /// The block's shared memory.
        actual_bytes: u32,
        /// The most that a block may have where it opts in.
        limit_bytes: u32,
    },
}
