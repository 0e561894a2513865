//! What becomes of a product's sums.

use cuda_std::launch::Slice;
pub use gemm_kernels::problem::Activation;

/// What becomes of a sum before it is rounded and stored: `activation(alpha (A B) + beta C + bias)`.
///
/// ```
/// use gemm::{Activation, Finish};
///
/// let halved = Finish::<f32> { alpha: 0.5, activation: Activation::Relu, ..Finish::default() };
/// assert_eq!((halved.beta, halved.bias.is_none()), (0.0, true));
/// ```
pub struct Finish<'a, R> {
    /// What the product is multiplied by.
    pub alpha: f32,
    /// What the result's former elements are multiplied by. If it is 0, they do not matter, NaN included.
    pub beta: f32,
    /// An element for each column of the result, which is added to all of the column's elements.
    pub bias: Option<Slice<'a, R>>,
    /// What is applied last.
    pub activation: Activation,
}

impl<R> Default for Finish<'_, R> {
    /// The product as it is.
    fn default() -> Self {
        Finish {
            alpha: 1.0,
            beta: 0.0,
            bias: None,
            activation: Activation::None,
        }
    }
}

impl<R> Finish<'_, R> {
    /// Whether it leaves the product as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.alpha == 1.0
            && self.beta == 0.0
            && self.bias.is_none()
            && self.activation == Activation::None
    }
}
