//! Layer normalization of each row of a matrix: a block for each row.

use cuda_std::group;
use cuda_std::prelude::*;

/// Writes to each row of `y` that of `x` with mean 0 and variance 1, times `gain` and plus `bias`, which have an element
/// for each column.
#[kernel(max_threads = 256)]
pub fn layer_norm(x: &[f32], gain: &[f32], bias: &[f32], epsilon: f32, mut y: BlockOutput<f32>) {
    let (block, columns) = (group::block(), y.columns());
    for mut row in y.own_rows() {
        let Some(x) = x.get(row.row() * columns..).and_then(|x| x.get(..columns)) else {
            return;
        };
        let mean = block.sum(block.own(x).fold(0.0, |sum, (_, x)| sum + x)) / columns as f32;
        let squares = block
            .own(x)
            .fold(0.0, |sum: f32, (_, x)| (x - mean).mul_add(x - mean, sum));
        let variance = block.sum(squares) / columns as f32;
        let scale = 1.0 / (variance + epsilon).sqrt();
        for (column, y) in row.own() {
            if let (Some(x), Some(gain), Some(bias)) =
                (x.get(column), gain.get(column), bias.get(column))
            {
                *y = ((x - mean) * scale).mul_add(*gain, *bias);
            }
        }
    }
}

/// One row, normalized in float64.
pub fn reference(row: &[f32], gain: f32, bias: f32, epsilon: f32) -> impl Iterator<Item = f64> {
    let count = row.len() as f64;
    let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let square = |x: &f32| (f64::from(*x) - mean) * (f64::from(*x) - mean);
    let variance = row.iter().map(square).sum::<f64>() / count;
    let scale = 1.0 / GpuFloat::sqrt(variance + f64::from(epsilon));
    row.iter()
        .map(move |x| (f64::from(*x) - mean) * scale * f64::from(gain) + f64::from(bias))
}
