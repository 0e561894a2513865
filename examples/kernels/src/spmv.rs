//! A sparse matrix, in compressed rows, times a vector: a warp for each row.

use cuda_std::group;
use cuda_std::prelude::*;

/// Writes the product's element of each row to that of `y`. The entries of row `r` are those from `starts[r]` to
/// `starts[r + 1]`: `columns` and `values` have one for each.
#[kernel]
pub fn spmv(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: WarpOutput<f32>) {
    let warp = group::warp();
    for mut row in y.own_rows() {
        let (Some(&start), Some(&end)) = (starts.get(row.row()), starts.get(row.row() + 1)) else {
            return;
        };
        let entries = start as usize..end as usize;
        let columns = columns.get(entries.clone()).unwrap_or(&[]);
        let values = values.get(entries).unwrap_or(&[]);
        let mut sum = 0.0f32;
        for (i, column) in warp.own(columns) {
            let entry = values.get(i).zip(x.get(*column as usize));
            sum = entry.map_or(sum, |(value, x)| value.mul_add(*x, sum));
        }
        let sum = warp.sum(sum);
        if let Some((_, y)) = row.own_element() {
            *y = sum;
        }
    }
}

/// An element of the product, in float64.
pub fn reference(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], row: usize) -> f64 {
    let entries = starts[row] as usize..starts[row + 1] as usize;
    let products = entries.map(|i| f64::from(values[i]) * f64::from(x[columns[i] as usize]));
    products.sum()
}
