//! Arithmetic on two 16-bit floats at once.

pub(crate) use crate::packed::software::{fma_bf16x2, fma_f16x2};
