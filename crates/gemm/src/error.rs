//! The errors of a product.

use ridgepoint_driver::DriverError;

/// Why a product cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GemmError {
    /// Two matrices do not fit together.
    #[error("product of {a}, {b} and {c}: {reason}")]
    Sizes {
        /// Rows and columns of `A`.
        a: Size,
        /// Those of `B`, as it multiplies.
        b: Size,
        /// Those of `C`.
        c: Size,
        /// The size that does not fit.
        reason: &'static str,
    },

    /// A matrix does not lie in the memory that was given.
    #[error("{name}, {size} with {pitch} elements from row to row: {reason}")]
    Memory {
        /// The matrix.
        name: &'static str,
        /// Its rows and columns.
        size: Size,
        /// Elements from one row to the next.
        pitch: usize,
        /// The fault, with the actual value.
        reason: String,
    },

    /// A bias does not fit to the result.
    #[error("a bias of {elements} elements for {columns} columns: one for each is expected")]
    Bias {
        /// The elements that it has.
        elements: usize,
        /// Those of `C`.
        columns: usize,
    },

    /// The element type is not multiplied from a `B` that is given by rows.
    #[error("{0} is multiplied with B given by columns alone (Right::ByColumns)")]
    ByRows(&'static str),

    /// The device has no `wgmma`.
    #[error(
        "{device} is sm_{}{}: products are made of wgmma, which sm_90 alone has (H100, H200, and the emulator of one)",
        capability.0, capability.1
    )]
    Capability {
        /// The device's name.
        device: String,
        /// Its major and minor compute capability.
        capability: (u32, u32),
    },

    /// The device refuses.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize, pub usize);

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} x {}", self.0, self.1)
    }
}
