//! Why an occupancy sweep, or a point of it, has no record.

use crate::ceilings::Quantity;
use crate::driver::DriverError;
use crate::kernels::KernelsError;
use crate::sweep::TooManyPoints;

/// Why a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OccupancyError {
    /// A point cannot run.
    #[error("{point}: {reason}")]
    Model {
        /// Where.
        point: String,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// The workload or the device refuses a point.
    #[error("{point}: {reason}")]
    Refused {
        /// Where.
        point: String,
        /// Why.
        reason: String,
    },
    /// The kernel computed something else.
    #[error("{point}: wrong result: {reason}")]
    Wrong {
        /// Where.
        point: String,
        /// The reason.
        reason: String,
    },
    /// An axis has no values, or one that it does not take.
    #[error("{0}")]
    Selection(String),
    /// There are too many points.
    #[error(transparent)]
    Points(#[from] TooManyPoints),
    /// There is nothing to measure.
    #[error("no points: each axis needs at least one value, and a study at least one workload")]
    NoPoints,
    /// It is not known what a limit of registers makes of the kernels.
    #[error("at most {registers} registers per thread: {error}")]
    Registers {
        /// The limit.
        registers: u32,
        /// Why.
        error: KernelsError,
    },
    /// The limits of this GPU's multiprocessors are not known.
    #[error("{device}: {reason}")]
    UnknownGpu {
        /// The device's name.
        device: String,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// The ceilings lack what the sweep is compared with.
    #[error("the ceilings have no {}: run `ridgepoint ceilings` again", quantity.name())]
    NoCeiling {
        /// The missing ceiling.
        quantity: Quantity,
    },
    /// The measurement has no samples.
    #[error("no timed launches: at least one is needed")]
    NoRuns,
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}
