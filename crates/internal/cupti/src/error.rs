//! Why there are no activity records, or no counters.

use std::ffi::CStr;

use crate::library::LIBRARY;

/// Why there are no activity records, or no counters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The library is not installed where it is looked for.
    #[error(
        "libcupti was not found, neither by the loader nor in a CUDA toolkit in CUDA_HOME or \
         /usr/local, nor beside the Python packages of the program; {LIBRARY} can name the file"
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

    /// The library has no range profiler: the function that is missing.
    #[error("this libcupti has no {0}: hardware counters need CUPTI of CUDA 12.6 or newer")]
    NoCounters(&'static str),

    /// A metric that the device does not have.
    #[error("the device has no metric {0:?}")]
    NoSuchMetric(String),

    /// CUPTI wants more passes than it announced.
    #[error("CUPTI announced {0} passes, and wants more")]
    Unfinished(usize),

    /// A kernel that runs together with others, and would wait for them for ever.
    #[error("the kernel waits for others, and would wait for ever where it runs alone")]
    WaitsForOthers,

    /// Counters were lost.
    #[error("CUPTI dropped {0} ranges of counters")]
    Dropped(usize),
}

impl Error {
    /// An error of adding a metric, in words of the metric.
    pub(crate) fn of_metric(self, metric: &CStr) -> Error {
        // CUPTI 13.0 answers with the first, its documentation names the second.
        const INVALID_PARAMETER: u32 = 1;
        const INVALID_METRIC_NAME: u32 = 17;
        match self {
            Error::Refused {
                code: INVALID_PARAMETER | INVALID_METRIC_NAME,
                ..
            } => Error::NoSuchMetric(metric.to_string_lossy().into_owned()),
            other => other,
        }
    }
}
