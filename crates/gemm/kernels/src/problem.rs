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
}
