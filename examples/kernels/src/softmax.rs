//! The softmax of each row of a matrix: a warp for each row.

use cuda_std::ApproxFloat;
use cuda_std::group;
use cuda_std::prelude::*;

/// Writes `exp(x) / sum` of each row of `x` to that of `y`, less the row's largest element in the exponents.
#[kernel]
pub fn softmax(x: &[f32], mut y: WarpOutput<f32>) {
    let (warp, columns) = (group::warp(), y.columns());
    for mut row in y.own_rows() {
        let Some(x) = x.get(row.row() * columns..).and_then(|x| x.get(..columns)) else {
            return;
        };
        let largest = warp
            .own(x)
            .fold(f32::NEG_INFINITY, |largest, (_, x)| largest.max(*x));
        let largest = warp.max(largest);
        let sum = warp
            .own(x)
            .fold(0.0, |sum, (_, x)| sum + (x - largest).fast_exp());
        let scale = 1.0 / warp.sum(sum);
        for (x, y) in row.own_with(x) {
            *y = scale * (x - largest).fast_exp();
        }
    }
}

/// The softmax of one row, in float64.
pub fn reference(row: &[f32]) -> impl Iterator<Item = f64> {
    let largest = row
        .iter()
        .fold(f32::NEG_INFINITY, |largest, x| largest.max(*x));
    let exp = move |x: &f32| GpuFloat::exp(f64::from(*x) - f64::from(largest));
    let sum: f64 = row.iter().map(exp).sum();
    row.iter().map(move |x| exp(x) / sum)
}
