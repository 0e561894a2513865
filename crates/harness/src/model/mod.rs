//! Roofline arithmetic: pure functions.

use ::occupancy::ComputeCapability;

mod board;
mod gpu_roofs;
mod occupancy;
mod precision;
mod roofline;
mod tensor;
mod units;
mod verdict;
mod work;

pub use board::Board;
pub use gpu_roofs::{Attainable, GpuRoofs};
pub use occupancy::{OccupancyRow, Relief};
pub use precision::Precision;
pub use roofline::{Limit, Roof, Roofs};
pub use tensor::{TensorRoof, TensorRoofs, TensorType};
pub use units::{BytesPerSec, FlopsPerByte, FlopsPerSec};
pub use verdict::{Bound, Situation};
pub use work::{Numbers, Operation, Work};

/// A GPU, as far as its roofs depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Name, as the driver gives it.
    pub name: String,
    /// Compute capability of its multiprocessors.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Their highest clock.
    pub clock_hz: f64,
    /// Memory bandwidth by its clock and the width of its bus, or the data sheet's.
    pub memory: BytesPerSec,
}
