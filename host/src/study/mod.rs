//! Studies of asynchrony: what launches, copies and waits cost, and how to be rid of them.

mod dispatch;
mod norm;
mod pipeline;
mod power;
mod rounds;
mod work;

pub use dispatch::{DispatchRow, dispatch};
pub use norm::{NormMode, NormRow, NormStudy};
pub use pipeline::{Parts, Pipeline, PipelineMode, PipelineRow, Plan};
pub use power::{Checkpoint, PowerMode, PowerPlan, PowerRow, Progress, newest, power};
pub use rounds::Rounds;
pub use work::Work;

use std::fmt;

use crate::driver::DriverError;

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The device computed something else.
    #[error("{what}: {actual:e}, not {expected:e} to {allowed:e}")]
    Wrong {
        /// What was compared.
        what: String,
        /// What came out.
        actual: f64,
        /// The reference.
        expected: f64,
        /// By how much they may differ.
        allowed: f64,
    },
    /// There is nothing to go on from.
    #[error("no whole checkpoint to resume from")]
    NoCheckpoint,
    /// The checkpoint belongs to another matrix.
    #[error(
        "the newest checkpoint is of dimension {dim}, seed {seed} and dominance {dominance}: resume \
         with the same"
    )]
    OtherMatrix {
        /// Its dimension.
        dim: usize,
        /// Its seed.
        seed: u64,
        /// Its dominance.
        dominance: f64,
    },
    /// The newest checkpoint is not the result.
    #[error("the result is that of step {step}, the newest checkpoint of {newest:?}")]
    Checkpoint {
        /// The result's step.
        step: u64,
        /// The checkpoint's.
        newest: Option<u64>,
    },
    /// The iteration was asked for no step.
    #[error("the checkpoint is of a later step than the last one asked for")]
    NoSteps,
    /// A checkpoint could not be written or read.
    #[error("{0}")]
    Io(String),
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl StudyError {
    /// Compares a result with its reference.
    fn check(
        what: impl fmt::Display,
        actual: f64,
        expected: f64,
        allowed: f64,
    ) -> Result<(), StudyError> {
        if (actual - expected).abs() <= allowed {
            return Ok(());
        }
        Err(StudyError::Wrong {
            what: what.to_string(),
            actual,
            expected,
            allowed,
        })
    }
}

/// The most bytes of host memory that this process has had; 0 where the system does not say.
fn host_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
