//! The steps from a product's sums to its elements.

use cuda_std::launch::Slice;
use cuda_std::{bf16, f16};
pub use gemm_kernels::problem::{Activation, Factor};
use ridgepoint_driver::{DeviceValue, TensorElement};

/// An element type of results: `bf16`, `f16`, `f32` or `f64`.
pub trait ResultElement: TensorElement + DeviceValue {
    /// The type of `alpha` and `beta`, and of sums: `f64` if the elements are, and otherwise `f32`.
    type Factor: Factor;
}

impl ResultElement for bf16 {
    type Factor = f32;
}

impl ResultElement for f16 {
    type Factor = f32;
}

impl ResultElement for f32 {
    type Factor = f32;
}

impl ResultElement for f64 {
    type Factor = f64;
}

/// The steps from a sum to the element that is rounded and stored: `activation(alpha (A B) + beta C + bias)`.
///
/// ```
/// use gemm::{Activation, Finish};
///
/// let halved = Finish::<f32> { alpha: 0.5, activation: Activation::Relu, ..Finish::default() };
/// assert_eq!((halved.beta, halved.bias.is_none()), (0.0, true));
/// ```
pub struct Finish<'a, R: ResultElement> {
    /// The factor of the product.
    pub alpha: R::Factor,
    /// The factor of the result's former elements. If it is 0, they do not matter, NaN included.
    pub beta: R::Factor,
    /// An element for each column of the result, which is added to all of the column's elements.
    pub bias: Option<Slice<'a, R>>,
    /// The function that is applied last.
    pub activation: Activation,
}

impl<R: ResultElement> Default for Finish<'_, R> {
    /// The product as it is.
    fn default() -> Self {
        Finish {
            alpha: R::Factor::from(1.0),
            beta: R::Factor::from(0.0),
            bias: None,
            activation: Activation::None,
        }
    }
}

impl<R: ResultElement> Finish<'_, R> {
    /// Whether it leaves the product as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_in_registers()
            && self.alpha == R::Factor::from(1.0)
            && self.bias.is_none()
            && self.activation == Activation::None
    }

    /// Whether kernels that store by copies do it: it does not read what the result held, and is short.
    pub(crate) fn is_in_registers(&self) -> bool {
        self.beta == R::Factor::from(0.0) && self.activation != Activation::Gelu
    }
}
