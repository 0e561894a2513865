//! The treatment of sums before they are rounded.

use cuda_std::prelude::*;
use cuda_std::wgmma::Accumulator;
use cuda_std::{FloatExt, unroll};

use crate::epilogue::Part;
use crate::operand::Width;
use crate::problem::{Activation, Problem};
use crate::stored::Stored;

const RELU: u32 = Activation::Relu as u32;
const GELU: u32 = Activation::Gelu as u32;

/// Factors, a bias and an activation.
pub struct Finishing<R> {
    /// An element for each column of the result, if the problem says so.
    pub bias: *const R,
    /// Sizes and factors.
    pub problem: Problem,
}

impl<R: Stored> Finishing<R> {
    /// An element before it is rounded, from the sum, what the result held and the bias.
    #[inline(always)]
    pub fn element(&self, sum: f32, former: f32, bias: f32) -> f32 {
        let product = self.problem.alpha * sum;
        let sum = match self.problem.beta {
            0.0 => product,
            beta => beta.mul_add(former, product),
        };
        let x = sum + bias;
        match self.problem.activation {
            RELU => rectified(x),
            GELU => {
                let half = 0.5 * x;
                half.mul_add(
                    FloatExt::error_function(x * core::f32::consts::FRAC_1_SQRT_2),
                    half,
                )
            }
            _ => x,
        }
    }

    /// The bias of a column: 0 if there is none.
    #[inline(always)]
    pub fn bias(&self, column: u32) -> f32 {
        match self.problem.has_bias != 0 && column < self.problem.n {
            // SAFETY: the bias has an element for each column.
            true => unsafe { *self.bias.wrapping_add(column as usize) }.widen(),
            false => 0.0,
        }
    }

    /// Finishes a warpgroup's sums in their registers, where `beta` is 0 and the activation not [`Activation::Gelu`]: a hundred
    /// instructions for each of them would be ten thousand.
    #[inline(always)]
    pub fn in_registers<N: Width>(&self, sums: &mut Accumulator<N>, part: Part) {
        let Problem {
            alpha,
            has_bias,
            activation,
            ..
        } = self.problem;
        // Products that stay as they are pass one branch, and the code behind it is not between them and their copies.
        if alpha == 1.0 && has_bias == 0 && activation != RELU {
            return;
        }
        core::hint::cold_path();
        let values = sums.values_mut();
        if alpha != 1.0 {
            each::<N>(values, |_, sum| alpha * sum);
        }
        if has_bias != 0 {
            // A lane has two neighbours of each eight columns. Past the last column any will do: a branch around each of these loads
            // would make each wait for the one before.
            let first = part.column + thread::thread_idx_x() % 4 * 2;
            let last = self.problem.n - 1;
            each::<N>(values, |column, sum| {
                let column = (first + column).min(last);
                // SAFETY: the bias has an element for each column.
                sum + unsafe { *self.bias.wrapping_add(column as usize) }.widen()
            });
        }
        if activation == RELU {
            each::<N>(values, |_, sum| rectified(sum));
        }
    }
}

/// Replaces each of a lane's sums by `finished` of it, given how far its column is from the lane's first one.
#[inline(always)]
fn each<N: Width>(values: &mut N::Registers<f32>, finished: impl Fn(u32, f32) -> f32) {
    unroll!(GROUP in 0..32 => {
        if (GROUP as u32) * 8 < N::COLUMNS {
            // Two neighbours in each of two rows.
            unroll!(I in 0..4 => {
                let sum = N::sum_mut(values, 4 * GROUP + I);
                *sum = finished(8 * GROUP as u32 + I as u32 % 2, *sum);
            });
        }
    });
}

/// Unlike the maximum of `x` and 0 it keeps NaN.
#[inline(always)]
fn rectified(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}
