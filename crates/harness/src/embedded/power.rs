//! Kernels that power iteration needs beside the product and the norm, and the counter of launches.

use kernels_gpu::counter::{self, count};
use kernels_gpu::power::{BLOCK, inspect, with_spectrum};

use super::checked::{Checked, OfSize};
use super::registry::Listed;
use super::values::{Expected, Given, check_same, random};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError};

/// The largest matrix with a row for each of `n`; above, `n` are its elements.
const MAX_ROWS: usize = 1000;

pub(super) fn listed() -> Vec<Listed> {
    let launches = Axis::whole("launches", [20]).help("launches of a sample");
    let alone = |it: &'static OfSize| Listed::checked(it, [Checked::of_size(it)]);
    let inspected = OfSize::elements(inspect::entry().name(), look);
    // The last element is each of those that a thread asks for at once.
    let ends = (0..8).map(|i| u64::from(BLOCK) * (8 + i) + 100);
    vec![
        alone(OfSize::elements(with_spectrum::entry().name(), spectrum)),
        Listed::checked(
            inspected,
            [
                Checked::of_size(inspected),
                Checked::of_size(inspected).of_sizes(ends),
            ],
        ),
        alone(OfSize::new(count::entry().name(), launches, counted)),
    ]
}

fn spectrum<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("n");
    // A launch has a block at least, and so the matrix a row.
    let rows = if n <= MAX_ROWS {
        n.max(1)
    } else {
        n.isqrt() + 1
    };
    let numbers = random::<f64>(2 * rows);
    let middle: f64 = (0..rows)
        .map(|i| numbers[rows + i].powi(2) * numbers[i])
        .sum();
    let config = LaunchConfig::blocks(rows as u64, BLOCK);
    let arrays = at
        .launch(with_spectrum::entry(), config)
        .arrays(move |device| Given::new(device, numbers.clone(), rows, rows * rows))
        .check(move |it| {
            let (d, v) = it.here();
            // (I - 2 v vᵀ) D (I - 2 v vᵀ), multiplied out.
            it.out.check((0..rows * rows).map(|i| {
                let (row, column) = (i / rows, i % rows);
                let product = v[row] * v[column];
                let terms = [
                    if row == column { d[row] } else { 0.0 },
                    -2.0 * product * d[row],
                    -2.0 * product * d[column],
                    4.0 * product * middle,
                ];
                let size: f64 = terms.iter().map(|term| term.abs()).sum();
                Expected {
                    value: terms.iter().sum(),
                    tolerance: 8.0 * f64::EPSILON * size,
                }
            }))
        });
    // SAFETY: v is as long as d, a is its square, and there is a block a row.
    Ok(unsafe {
        arrays.arguments_unchecked(move |it| {
            (it.x.slice(..), it.y.slice(..), middle, 0, it.out.view())
        })
    })
}

fn look<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("n");
    let arrays = at
        .launch(inspect::entry(), LaunchConfig::blocks(1, BLOCK))
        .arrays(move |device| Given::new(device, random::<f64>(2 * n), n, n + 2))
        .check(move |it| {
            let (x, y) = it.here();
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            // Of no elements both are 0 / 0.
            let xx = dot(x, x);
            let quotient = dot(x, y) / xx;
            let off: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - quotient * x).collect();
            let residual = (dot(&off, &off) / xx).sqrt();
            let seen = it.out.values()?;
            // As many roundings as there are elements, each of a term that is not greater than 1.
            let tolerance = f64::EPSILON * (n as f64 + 4.0) * (1.0 + (n as f64) / xx);
            for (what, value, actual) in [
                ("the quotient", quotient, seen[0]),
                ("the residual", residual, seen[1]),
            ] {
                Expected { value, tolerance }.check(what, actual)?;
            }
            check_same(&seen[2..], x)
        });
    // SAFETY: y is as long as x, `seen` two longer, and there is one block.
    Ok(unsafe { arrays.arguments_unchecked(|it| (it.x.slice(..), it.y.slice(..), it.out.view())) })
}

/// As many launches as there are elements.
fn counted<'d>(at: &Point<'d>) -> Result<Case<'d>, PointError> {
    let n = at.size("launches");
    let arrays = at
        .launch(count::entry(), LaunchConfig::blocks(1, counter::BLOCK))
        .arrays(|device| Ok((device.buffer_zeroed(1)?, 0)))
        .check(|(counter, launches)| check_same(&counter.to_vec()?, &[*launches]));
    // SAFETY: one block, and the launches of a stream come one after the other.
    Ok(unsafe {
        arrays.enqueue(move |(counter, launches), prepared, stream| {
            *launches += n as u32;
            (0..n).try_for_each(|_| prepared.launch(stream, &(counter.slice_mut(..),)))
        })
    })
}
