//! What power iteration needs beside the product and the norm, and the counter of launches.

use kernels_gpu::counter::{self, count};
use kernels_gpu::power::{BLOCK, inspect, with_spectrum};

use super::values::{Expected, Output, check_each, check_same, random};
use super::{Case, Failure, launch};
use crate::driver::{Device, LaunchConfig, Stream};

/// The largest matrix with a row for each of `n`; above, `n` are its elements.
const MOST_ROWS: usize = 1000;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new(with_spectrum::entry().name(), spectrum),
        Case::new(inspect::entry().name(), look),
        Case::new(count::entry().name(), counted),
    ]
}

fn spectrum(device: &Device, n: usize) -> Result<(), Failure> {
    let rows = if n <= MOST_ROWS { n } else { n.isqrt() + 1 };
    let numbers = random::<f64>(2 * rows);
    let (d, v) = numbers.split_at(rows);
    let middle: f64 = d.iter().zip(v).map(|(d, v)| v * v * d).sum();
    let (d_there, v_there) = (device.buffer_from(d)?, device.buffer_from(v)?);
    let mut a = Output::new(device, rows * rows)?;
    // A matrix of no rows needs no block.
    if rows > 0 {
        let arguments = (d_there.slice(..), v_there.slice(..), middle, a.view());
        let shape = LaunchConfig::blocks(rows as u64, BLOCK);
        // SAFETY: v is as long as d, a is its square, and there is a block a row.
        unsafe { launch(device, with_spectrum::entry(), shape, arguments) }?;
    }
    // (I - 2 v vᵀ) D (I - 2 v vᵀ), multiplied out.
    let expected = (0..rows * rows).map(|i| {
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
    });
    check_each(a.values()?.into_iter(), expected)
}

fn look(device: &Device, n: usize) -> Result<(), Failure> {
    let numbers = random::<f64>(2 * n);
    let (x, y) = numbers.split_at(n);
    let (x_there, y_there) = (device.buffer_from(x)?, device.buffer_from(y)?);
    let mut seen = Output::new(device, n + 2)?;
    let arguments = (x_there.slice(..), y_there.slice(..), seen.view());
    let shape = LaunchConfig::blocks(1, BLOCK);
    // SAFETY: y is as long as x, `seen` two longer, and there is one block.
    unsafe { launch(device, inspect::entry(), shape, arguments) }?;
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    // Of no elements both are 0 / 0.
    let xx = dot(x, x);
    let quotient = dot(x, y) / xx;
    let off: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - quotient * x).collect();
    let residual = (dot(&off, &off) / xx).sqrt();
    let seen = seen.values()?;
    // As many roundings as there are elements, each of a term that is not greater than 1.
    let tolerance = f64::EPSILON * (n as f64 + 4.0) * (1.0 + (n as f64) / xx);
    for (what, value, actual) in [
        ("the quotient", quotient, seen[0]),
        ("the residual", residual, seen[1]),
    ] {
        Expected { value, tolerance }.check(what, actual)?;
    }
    check_same(&seen[2..], x)
}

/// As many launches as there are elements.
fn counted(device: &Device, n: usize) -> Result<(), Failure> {
    let mut counter = device.buffer_zeroed(1)?;
    let prepared = device.prepare(count::entry(), LaunchConfig::blocks(1, counter::BLOCK))?;
    let stream = Stream::new(device)?;
    for _ in 0..n {
        // SAFETY: one block, and the launches of a stream come one after the other.
        unsafe { prepared.launch(&stream, &(counter.slice_mut(..),)) }?;
    }
    stream.synchronize()?;
    check_same(&counter.to_vec()?, &[n as u32])
}
