//! Roofline arithmetic: pure functions.

#[cfg(feature = "cli")]
mod occupancy;
mod peaks;
mod roofline;
mod units;
mod verdict;

#[cfg(feature = "cli")]
pub use occupancy::{OccupancyRow, Relief};
pub use peaks::{Arithmetic, Datasheet, lanes_per_multiprocessor};
pub use roofline::{Limit, Roof, Roofs};
pub use units::{BytesPerSec, FlopsPerByte, FlopsPerSec};
pub use verdict::{Bound, Situation};

/// A floating-point type, for what the hardware does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

impl Precision {
    /// Its name in Rust, in tables and in files.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// Bytes of a value.
    pub fn bytes(self) -> u32 {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }
}
