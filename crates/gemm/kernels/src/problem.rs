//! The sizes and factors of a product.

use bytemuck::{Pod, Zeroable};

/// A type of factors, and of sums.
pub trait Factor: Zeroable + Copy + PartialEq + From<f32> + 'static {}
impl Factor for f32 {}
impl Factor for f64 {}

/// The sizes of a product, `m` rows and `n` columns of sums of `k` products each, and what becomes of the sums. The
/// factors are of type `F`, as sums are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Problem<F = f32> {
    /// Rows of the result, and of `A`.
    pub m: u32,
    /// Columns of the result, and of `B`.
    pub n: u32,
    /// The inner dimension.
    pub k: u32,
    /// Elements of the result from one row to the next.
    pub pitch: u32,
    /// The factor of the product.
    pub alpha: F,
    /// The factor of the result's former elements; where it is 0 they are not read.
    pub beta: F,
    /// Whether there is a bias, an element for each column: 1, or else 0.
    pub has_bias: u32,
    /// The function that is applied at the end, an [`Activation`]'s number.
    pub activation: u32,
}

// SAFETY: zeros are a number of all fields' types.
unsafe impl<F: Factor> Zeroable for Problem<F> {}
// SAFETY: any bits are numbers; of 4 and of 8 bytes the factors are at multiples of their size, as the end is: there is no padding.
unsafe impl<F: Factor> Pod for Problem<F> {}

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
