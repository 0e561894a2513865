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
    /// Results per clock of a multiprocessor. `None` for what is not known.
    pub fn lanes(self, arithmetic: Arithmetic) -> Option<u32> {
        let facts = self.facts();
        let lanes = match arithmetic {
            Arithmetic::F32 => facts.f32,
            Arithmetic::F64 => facts.f64,
            Arithmetic::F16x2 => facts.f16x2,
            Arithmetic::Bf16x2 => facts.bf16x2,
            Arithmetic::I32 => facts.i32,
            Arithmetic::Special => facts.special,
        };
        (lanes > 0).then_some(lanes)
    }
}
