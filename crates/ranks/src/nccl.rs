//! NVIDIA's library of collectives, opened at run time.
//!
//! ```
//! use ranks::nccl::{LIBRARY, NcclError, Version, version};
//!
//! let version: Result<Version, NcclError> = version();
//! match version {
//!     Ok(version) => println!("NCCL {version}"),
//!     Err(error) => println!("{error}; {LIBRARY} can name the file"),
//! }
//! ```

pub(crate) mod group;
mod library;

pub use library::{LIBRARY, Version, version};

/// Why there are no collectives of GPUs.
///
/// ```
/// use ranks::nccl::NcclError;
///
/// let error = NcclError::NotFound("libnccl.so.2: cannot open shared object file".to_owned());
/// assert!(error.to_string().contains("RIDGEPOINT_NCCL"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NcclError {
    /// The library is not installed where the loader looks for it: what the loader says.
    #[error(
        "collectives of GPUs need NCCL, and libnccl.so.2 was not found ({0}): install it, add its folder to \
         LD_LIBRARY_PATH, or name the file in {LIBRARY}"
    )]
    NotFound(String),

    /// The library is there and cannot be used: the file, and what is wrong with it.
    #[error("{0}")]
    Unusable(String),

    /// Another rank has no NCCL, or could not begin: the rank, and its error.
    #[error("rank {0}: {1}")]
    OfRank(usize, String),

    /// Ranks have different versions.
    #[error("NCCL is version {own} here and {other} on rank {rank}: all ranks need the same")]
    Versions {
        /// Another rank.
        rank: usize,
        /// This rank's version.
        own: String,
        /// That rank's.
        other: String,
    },

    /// NCCL does not do what is asked.
    #[error("{function}: {message} ({code})")]
    Refused {
        /// NCCL's function.
        function: &'static str,
        /// NCCL's words for the error.
        message: String,
        /// Its number of the error (`ncclResult_t`).
        code: i32,
    },

    /// NCCL did not come to an end: the operation, and how many seconds it was given.
    #[error("{0}: NCCL has not finished within {1} s")]
    Stuck(&'static str, u64),

    /// The collectives were given up after a fault.
    #[error("{0}: collectives were given up after a fault")]
    GivenUp(&'static str),
}
