//! Why there are no activity records.

use crate::library::LIBRARY;

/// Why there are no activity records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The library is not installed where it is looked for.
    #[error(
        "libcupti was not found, neither by the loader nor in a CUDA toolkit in CUDA_HOME or \
         /usr/local; {LIBRARY} can name the file"
    )]
    NotFound,

    /// The library is there and cannot be used: the file, and what is wrong with it.
    #[error("{0}")]
    Unusable(String),

    /// Another session of this process goes on.
    #[error("CUPTI collects for another session of this process")]
    Busy,

    /// CUPTI does not do what is asked: another profiler may be attached, or the driver too old.
    #[error("{function}: {message} ({code})")]
    Refused {
        /// CUPTI's function.
        function: &'static str,
        /// Its name of the error.
        message: String,
        /// Its number of the error.
        code: u32,
    },
}
