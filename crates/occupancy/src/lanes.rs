//! How much arithmetic a multiprocessor does at once.

use crate::ComputeCapability;

/// Arithmetic that a multiprocessor has so many lanes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Add, multiply, multiply-add of `f32`.
    F32,
    /// Add, multiply, multiply-add of `f64`.
    F64,
    /// The same of `f16` in pairs.
    F16x2,
    /// The same of `bf16` in pairs.
    Bf16x2,
    /// Multiply and multiply-add of 32-bit integers.
    I32,
    /// Reciprocal, square root, logarithm, exponential, sine of `f32`, approximate.
    Special,
}

impl ComputeCapability {
    /// Results per clock of a multiprocessor: the table "Throughput of Native Arithmetic Instructions"
    /// of NVIDIA's CUDA C++ Programming Guide. `None` for what is not known.
    pub fn lanes(self, arithmetic: Arithmetic) -> Option<u32> {
        Some(match (arithmetic, (self.major(), self.minor())) {
            (Arithmetic::F32, (7, 0 | 2 | 5) | (8, 0)) => 64,
            (Arithmetic::F32, (8, 6 | 7 | 9) | (9, 0) | (10, 0 | 3) | (12, _)) => 128,
            (Arithmetic::F64, (7, 0 | 2) | (8, 0)) => 32,
            (Arithmetic::F64, (9, 0) | (10, 0)) => 64,
            (Arithmetic::F64, (7, 5) | (8, 6 | 7 | 9) | (10, 3) | (12, _)) => 2,
            (Arithmetic::F16x2, (7, 0 | 2 | 5)) | (Arithmetic::Bf16x2, (8, 0)) => 128,
            (Arithmetic::F16x2, (8 | 9, 0)) | (Arithmetic::Bf16x2, (9, 0)) => 256,
            (Arithmetic::I32, (7..=9, _)) => 64,
            (Arithmetic::Special, (7..=9, _)) => 16,
            _ => return None,
        })
    }
}
