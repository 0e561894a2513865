//! Arithmetic on two 16-bit floats at once.

pub(crate) use crate::packed::software::{
    bf16_to_f32, bf16x2_from_f32, f16_to_f32, f16x2_from_f32, fma_bf16x2, fma_f16x2,
};
