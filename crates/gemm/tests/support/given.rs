//! Matrices of random numbers, of any size, whose product the host knows whole.

use gemm::Order;
use ridgepoint::driver::DeviceBuffer;
use ridgepoint::prelude::*;

use super::number::{Number, bound};

/// After so many rows `A` begins again, and `B` after so many columns: so the host knows all elements of `C` from
/// a few, each a sum of `k` products of random numbers. Neither divides a tile.
const PERIODS: [usize; 2] = [61, 53];

/// Random numbers from -1 to 1: the rows of `A` that there are, and the columns of `B`.
pub(crate) struct Given<T> {
    pub(crate) sizes: [usize; 3],
    rows: Vec<T>,
    columns: Vec<T>,
}

impl<T: Number> Given<T> {
    pub(crate) fn new(sizes: [usize; 3]) -> Given<T> {
        let mut random = fastrand::Rng::with_seed(sizes[2] as u64);
        let mut numbers = |count: usize| {
            let each = (0..count * sizes[2]).map(|_| T::from_f64(random.f64() * 2.0 - 1.0));
            each.collect()
        };
        let [rows, columns] = PERIODS.map(&mut numbers);
        Given {
            sizes,
            rows,
            columns,
        }
    }

    pub(crate) fn a(&self) -> Vec<T> {
        let [m, _, k] = self.sizes;
        self.rows.iter().copied().cycle().take(m * k).collect()
    }

    pub(crate) fn b(&self, order: Order) -> Vec<T> {
        let [_, n, k] = self.sizes;
        match order {
            Order::ByColumns => self.columns.iter().copied().cycle().take(n * k).collect(),
            Order::ByRows => (0..k * n)
                .map(|i| self.columns[i % n % PERIODS[1] * k + i / n])
                .collect(),
        }
    }

    /// Each element of `C`, and the sum of its terms' sizes.
    pub(crate) fn expected(&self) -> impl Iterator<Item = (f64, f64)> {
        let [m, n, k] = self.sizes;
        let (rows, columns) = (self.rows.chunks(k), self.columns.chunks(k));
        let all = rows.flat_map(|row| columns.clone().map(|column| sum(row, column)));
        let all: Vec<(f64, f64)> = all.collect();
        (0..m * n).map(move |i| all[i / n % PERIODS[0] * PERIODS[1] + i % n % PERIODS[1]])
    }

    /// Compares every element.
    pub(crate) fn check<R>(&self, c: &DeviceBuffer<R>) -> Result<(), PointError>
    where
        R: Number + DeviceValue,
    {
        let n = self.sizes[1];
        let all = c.to_vec()?.into_iter().zip(self.expected());
        for (i, (element, (value, size))) in all.enumerate() {
            let (row, column) = (i / n, i % n);
            let (actual, bound) = (element.to_f64(), bound::<T, R>(value, size, self.sizes[2]));
            let off = (actual - value).abs();
            if off.is_nan() || off > bound {
                return Err(format!(
                    "row {row}, column {column} is {actual:e}, and the reference {value:e}: the difference may be \
                     {bound:e}"
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The sum of products, and of their sizes.
fn sum<T: Number>(row: &[T], column: &[T]) -> (f64, f64) {
    let products = row.iter().zip(column).map(|(a, b)| a.to_f64() * b.to_f64());
    products.fold((0.0, 0.0), |(sum, size), it| (sum + it, size + it.abs()))
}
