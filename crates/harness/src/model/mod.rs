//! Roofline arithmetic: pure functions.

use std::str::FromStr;

use ::occupancy::ComputeCapability;

mod gpu_roofs;
mod occupancy;
mod peaks;
mod roofline;
mod tensor;
mod units;
mod verdict;
mod work;

pub use gpu_roofs::{Attainable, GpuRoofs};
pub use occupancy::{OccupancyRow, Relief};
pub use peaks::Datasheet;
pub use roofline::{Limit, Roof, Roofs};
pub use tensor::{TensorRoof, TensorRoofs, TensorType};
pub use units::{BytesPerSec, FlopsPerByte, FlopsPerSec};
pub use verdict::{Bound, Situation};
pub use work::{Operation, Work};

/// A floating-point type, for what the hardware does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
    /// 16 bits, two in a register, on which one instruction works.
    F16x2,
    /// The same of `bf16`, which has the exponent of `f32`.
    Bf16x2,
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Precision::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| {
            let names = Precision::ALL.map(Precision::name).join(", ");
            format!("{text:?} is not an element type that there are kernels for: {names}")
        })
    }
}

impl Precision {
    /// Every one, in the order of tables.
    pub const ALL: [Precision; 4] = [
        Precision::F32,
        Precision::F64,
        Precision::F16x2,
        Precision::Bf16x2,
    ];

    /// Its name on the command line, in tables and in files.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
            Precision::F16x2 => "f16x2",
            Precision::Bf16x2 => "bf16x2",
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u32 {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
            Precision::F16x2 | Precision::Bf16x2 => 2,
        }
    }

    /// Numbers in an element of a kernel: two where they are worked on in pairs.
    pub fn numbers(self) -> u32 {
        match self {
            Precision::F32 | Precision::F64 => 1,
            Precision::F16x2 | Precision::Bf16x2 => 2,
        }
    }
}

/// A GPU, as far as its roofs depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// What the driver calls it.
    pub name: String,
    /// What its multiprocessors can do.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Their highest clock.
    pub clock_hz: f64,
    /// The highest clock of the memory.
    pub memory_clock_hz: f64,
    /// Width of the memory bus.
    pub memory_bus_bits: u32,
}
