//! Attention in `f64`: for the tests, and for the workload of `benches/workloads`.

use attention::HEAD;
use half::bf16;

const COLUMNS: usize = HEAD as usize;

/// Rows of 128 elements.
pub(crate) struct Rows(Vec<f64>);

impl Rows {
    pub(crate) fn new(elements: &[bf16]) -> Rows {
        Rows(elements.iter().map(|it| it.to_f64()).collect())
    }

    pub(crate) fn row(&self, number: usize) -> &[f64] {
        &self.0[number * COLUMNS..][..COLUMNS]
    }
}

/// The scaled product of a query and a key.
pub(crate) fn score(query: &[f64], key: &[f64]) -> f64 {
    let products = query.iter().zip(key).map(|(a, b)| a * b);
    products.sum::<f64>() / f64::from(HEAD).sqrt()
}

/// The mean of values, weighted by exponentials of scores, and by how often each counts.
pub(crate) fn weighted(
    scores: &[f64],
    values: &Rows,
    count: impl Fn(usize) -> f64,
) -> Vec<(f64, f64)> {
    let seen = || (0..scores.len()).filter(|&key| count(key) > 0.0);
    let greatest = seen()
        .map(|key| scores[key])
        .fold(f64::NEG_INFINITY, f64::max);
    let mut sums = vec![(0.0, 0.0); COLUMNS];
    let mut total = 0.0;
    for key in seen() {
        let weight = count(key) * (scores[key] - greatest).exp();
        total += weight;
        for ((sum, size), value) in sums.iter_mut().zip(values.row(key)) {
            *sum += weight * value;
            *size += weight * value.abs();
        }
    }
    for (sum, size) in &mut sums {
        *sum /= total;
        *size /= total;
    }
    sums
}

/// By how much a result may differ from `value`, whose terms' sizes add up to `size`: weights are rounded to 8 bits and the
/// result, too; scores of up to 2^8 with 24 bits change a weight by less than its rounding.
pub(crate) fn bound(value: f64, size: f64) -> f64 {
    (value.abs() + size) / 256.0
}
