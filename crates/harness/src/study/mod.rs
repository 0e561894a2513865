//! Studies of asynchrony: what launches, copies and waits cost, and how to be rid of them.

pub mod devices;
mod dispatch;
mod norm;
mod pattern;
mod pipeline;
mod power;
mod rounds;
mod work;

pub use dispatch::{DispatchRow, dispatch};
pub use norm::{NormMode, NormRow, NormStudy};
pub use pipeline::{Parts, Pipeline, PipelineMode, PipelineRow, Plan};
pub use power::{Checkpoint, PowerMode, PowerPlan, PowerRow, Progress, newest, power};
pub use rounds::{PerIteration, Rounds};
pub use work::Work;

use std::fmt;
use std::path::PathBuf;

use ranks::RankError;

use crate::driver::DriverError;

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The device computed something else.
    #[error("{what}: {actual:e}, not {expected:e} to {allowed:e}")]
    Wrong {
        /// The quantity that was compared.
        what: String,
        /// The value that came out.
        actual: f64,
        /// The reference.
        expected: f64,
        /// By how much they may differ.
        allowed: f64,
    },
    /// A workload takes no chunks, or computed something else.
    #[error("{0}")]
    Refused(String),
    /// There is nothing to go on from.
    #[error("no complete checkpoint to resume from in {}", .0.display())]
    NoCheckpoint(PathBuf),
    /// A run that begins anew would mix its checkpoints with those.
    #[error("{} has checkpoints: resume from them, or choose another folder", .0.display())]
    HasCheckpoints(PathBuf),
    /// Another run writes its checkpoints there.
    #[error("{}: {} writes checkpoints there; choose another folder, or wait until it ends", .folder.display(), .process.map_or_else(|| "another process".to_owned(), |it| format!("process {it}")))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process, where the system says which.
        process: Option<u32>,
    },
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
    #[error(
        "nothing to do: the checkpoint is of step {from}, and the last step asked for is {last}"
    )]
    NoSteps {
        /// The step to go on from.
        from: u64,
        /// The last one.
        last: u64,
    },
    /// No polynomial is so heavy.
    #[error(
        "a weight of {weight} takes a polynomial of degree {degree:.0}; at most {most} is possible: \
         choose a lower weight, or larger batches"
    )]
    Degree {
        /// The weight asked for.
        weight: f64,
        /// The degree that would take so long.
        degree: f64,
        /// The highest that is run.
        most: u32,
    },
    /// There is too little memory of the host for the batches.
    #[error("the batches take {needed} bytes of host memory; {free} are free")]
    HostMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Words of another device were waited for in vain.
    #[error("another device has sent nothing for {seconds} s: it is lost, or cannot be reached")]
    Silent {
        /// How long they were waited for.
        seconds: f64,
    },
    /// Ranks cannot work together, or one of them is lost.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// More devices than can share a vector in this way.
    #[error(
        "{actual} devices: at most {limit} can share a vector by stores to each other's memory"
    )]
    Devices {
        /// How many there are.
        actual: usize,
        /// How many there can be.
        limit: usize,
    },
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

/// Calls what knows the driver's errors alone with work that fails in more ways: the work's results go through `pass`.
fn through<T>(
    call: impl FnOnce(
        &mut dyn FnMut(Result<(), StudyError>) -> Result<(), DriverError>,
    ) -> Result<T, DriverError>,
) -> Result<T, StudyError> {
    let mut failed = None;
    let done = call(&mut |result| {
        result.map_err(|error| match error {
            StudyError::Driver(error) => error,
            other => {
                failed = Some(other);
                // Nobody sees it: the other error is the one that counts.
                DriverError::Capturing("what has failed")
            }
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

/// The most bytes of host memory that this process has had; 0 where the system does not say.
fn host_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
