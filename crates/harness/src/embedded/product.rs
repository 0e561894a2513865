//! A matrix times a vector, and times a matrix.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::gemv;
use kernels_gpu::matmul::{BLOCK, DEPTH, TILE, matmul};

use super::Checked;
use super::values::{Expected, Given, check_same, epsilon, random};
use crate::driver::{LaunchConfig, Stream};
use crate::vector::{Product, Real};
use crate::workload::{Axis, Case, Chunk, Point, PointError, Workload};

/// The most rows of a matrix times a vector, and the most columns of one times a matrix: each takes a
/// block, or as many steps, whatever their number.
const MOST: usize = 1000;

/// The axis of checks that says which of a matrix's sizes are `n`.
const LONG: &str = "long";

pub(super) fn checked() -> Vec<Checked> {
    let matmul = Checked::of_size(matmul::entry().name(), |at| {
        let n = at.size("n");
        times_matrix(
            at,
            match at.whole(LONG) {
                0 => [2 * TILE, n.min(MOST).next_multiple_of(DEPTH), 2 * TILE],
                _ => [TILE, DEPTH, n.max(1).next_multiple_of(TILE)],
            },
        )
    });
    let all = [times_vector::<f32>(), times_vector::<f64>(), matmul];
    all.into_iter().map(|it| it.at(LONG, [0, 1])).collect()
}

/// Of few rows of `n` elements, and of many rows of few elements.
fn times_vector<T: Real>() -> Checked {
    Checked::of_size(T::gemv().name(), |at| {
        let n = at.size("n");
        let (rows, columns) = match at.whole(LONG) {
            0 => (3, n),
            _ => (n.clamp(1, MOST), 5),
        };
        let arrays = at
            .launch(T::gemv(), LaunchConfig::blocks(rows as u64, gemv::BLOCK))
            .arrays(move |device| {
                let numbers = random::<T>((rows + 1) * columns);
                let given = Given::new(device, numbers, columns, rows)?;
                Ok((given, Product::<T>::new(device, rows as u32)?))
            })
            .check(move |(it, _)| {
                let (x, a) = it.here();
                it.out.check((0..rows).map(|row| {
                    let row = &a[row * columns..][..columns];
                    let terms = || row.iter().zip(x).map(|(&a, &x)| a.into() * x.into());
                    Expected {
                        value: terms().sum(),
                        tolerance: 16.0 * epsilon::<T>() * terms().map(f64::abs).sum::<f64>(),
                    }
                }))
            });
        // SAFETY: device allocations are aligned.
        Ok(unsafe {
            arrays.enqueue(|(it, product), _, stream| {
                product.launch(stream, it.y.slice(..), it.x.slice(..), it.out.view())
            })
        })
    })
}

/// `n` numbers as rows of `size`, times a matrix of so many rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Matmul;

impl Workload for Matmul {
    fn name(&self) -> &str {
        "matmul"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("n", [1 << 24]), Axis::whole("size", [1 << 12])]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let size = at.size("size");
        times_matrix(at, [at.size("n") / size, size, size])
    }

    fn chunk<'d>(&self, at: &Point<'d>, input: &[f32]) -> Result<Chunk<'d>, PointError> {
        let size = at.size("size");
        let prepared = at
            .device()
            .prepare(matmul::entry(), tiles(at.size("n") / size, size))?;
        // Positive, so that sums lose no digits.
        let matrix: Vec<f32> = random::<f32>(size * size)
            .into_iter()
            .map(f32::abs)
            .collect();
        let there = at.device().buffer_from(&matrix)?;
        let input = input.to_vec();
        let check = move |first: usize, c: &[f32]| {
            // Steps that meet other rows and columns each time.
            (0..c.len()).step_by(c.len() / 7 + 1).try_for_each(|i| {
                let (row, column) = (i / size, i % size);
                let terms = (0..size).map(|k| {
                    let a = input[(first + row * size + k) % input.len()];
                    f64::from(a) * f64::from(matrix[k * size + column])
                });
                let value = terms.sum();
                let tolerance = 1e-4 * value;
                let what = format!("row {row}, column {column}");
                Expected { value, tolerance }.check(&what, c[i].into())
            })
        };
        // SAFETY: as in `times_matrix`; the arrays are a chunk long each.
        Ok(unsafe {
            let launch = move |stream: &Stream<'_>, a: Slice<'_, f32>, c: SliceMut<'_, f32>| {
                prepared.launch(stream, &(a, there.slice(..), c, size as u32))
            };
            Chunk::new(launch, check)
        })
    }
}

fn tiles(rows: usize, columns: usize) -> LaunchConfig {
    LaunchConfig {
        grid: [(columns / TILE) as u64, (rows / TILE) as u64, 1],
        block: [BLOCK[0], BLOCK[1], 1],
        dynamic_shared: 0,
    }
}

/// Sizes: rows, inner, columns.
fn times_matrix<'d>(
    at: &Point<'d>,
    [rows, inner, columns]: [usize; 3],
) -> Result<Case<'d>, PointError> {
    let arrays = at
        .launch(matmul::entry(), tiles(rows, columns))
        .arrays(move |device| {
            let numbers = random::<f32>((rows + columns) * inner);
            Given::new(device, numbers, rows * inner, rows * columns)
        })
        .check(move |it| {
            let (a, b) = it.here();
            let mut expected = vec![0.0; rows * columns];
            for row in 0..rows {
                for k in 0..inner {
                    let a = a[row * inner + k];
                    for column in 0..columns {
                        // In the kernel's order, and so to the last bit.
                        let sum = &mut expected[row * columns + column];
                        *sum = a.mul_add(b[k * columns + column], *sum);
                    }
                }
            }
            check_same(&it.out.values()?, &expected)
        });
    // SAFETY: the sizes are multiples of TILE and DEPTH, and device allocations are aligned.
    Ok(unsafe {
        arrays.arguments_unchecked(move |it| {
            let (a, b) = (it.x.slice(..), it.y.slice(..));
            (a, b, it.out.view(), inner as u32)
        })
    })
}
