//! What a product is of.

use bytemuck::{Pod, Zeroable};

/// The sizes of a product, `m` rows and `n` columns of sums of `k` products each, and what becomes of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Problem {
    /// Rows of the result, and of `A`.
    pub m: u32,
    /// Columns of the result, and of `B`.
    pub n: u32,
    /// The inner dimension.
    pub k: u32,
    /// What the product is multiplied by.
    pub alpha: f32,
    /// What the result's former elements are multiplied by; where it is 0 they are not read.
    pub beta: f32,
    /// Elements of the result from one row to the next.
    pub pitch: u32,
    /// Whether there is a bias, an element for each column: 1, or else 0.
    pub has_bias: u32,
    /// What is applied at the end, an [`Activation`]'s number.
    pub activation: u32,
}

/// A function that is applied to each element of a result before it is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    /// Elements stay what they are.
    #[default]
    None = 0,
    /// `max(x, 0)`. NaN stays NaN.
    Relu = 1,
    /// `x (1 + erf(x / sqrt 2)) / 2`.
    Gelu = 2,
}
