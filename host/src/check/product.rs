//! A matrix times a vector, and times a matrix.

use kernels_gpu::matmul::{BLOCK, DEPTH, TILE, matmul};

use super::values::{Expected, Output, check_each, check_same, epsilon, random};
use super::{Case, Failure, launch};
use crate::driver::{Device, LaunchConfig, Stream};
use crate::vector::{Product, Real};

/// The most rows of a matrix times a vector, and the most columns of one times a matrix: each takes a
/// block, or as many steps, whatever their number.
const MOST: usize = 1000;

pub(super) fn cases() -> Vec<Case> {
    vec![
        times_vector::<f32>(),
        times_vector::<f64>(),
        Case::new(matmul::entry().name(), |device, n| {
            let inner = n.min(MOST).next_multiple_of(DEPTH);
            times_matrix(device, [2 * TILE, inner, 2 * TILE])?;
            times_matrix(device, [TILE, DEPTH, n.max(1).next_multiple_of(TILE)])
        }),
    ]
}

/// Of few rows of `n` elements, and of many rows of few elements.
fn times_vector<T: Real>() -> Case {
    Case::new(T::gemv().name(), |device, n| {
        product::<T>(device, 3, n)?;
        product::<T>(device, n.clamp(1, MOST), 5)
    })
}

fn product<T: Real>(device: &Device, rows: usize, columns: usize) -> Result<(), Failure> {
    let numbers = random::<T>((rows + 1) * columns);
    let (x, a) = numbers.split_at(columns);
    let (a_there, x_there) = (device.buffer_from(a)?, device.buffer_from(x)?);
    let mut y = Output::new(device, rows)?;
    let product = Product::<T>::new(device, rows as u32)?;
    let stream = Stream::new(device)?;
    // SAFETY: the buffers live until the stream is synchronised.
    unsafe { product.launch(&stream, a_there.slice(..), x_there.slice(..), y.view()) }?;
    stream.synchronize()?;
    let expected = (0..rows).map(|row| {
        let row = &a[row * columns..][..columns];
        let terms = || row.iter().zip(x).map(|(&a, &x)| a.into() * x.into());
        Expected {
            value: terms().sum(),
            tolerance: 16.0 * epsilon::<T>() * terms().map(f64::abs).sum::<f64>(),
        }
    });
    check_each(y.values()?.into_iter().map(Into::into), expected)
}

/// Sizes: rows, inner, columns.
fn times_matrix(device: &Device, [rows, inner, columns]: [usize; 3]) -> Result<(), Failure> {
    let (a, b) = (random::<f32>(rows * inner), random::<f32>(inner * columns));
    let (a_there, b_there) = (device.buffer_from(&a)?, device.buffer_from(&b)?);
    let mut c = Output::new(device, rows * columns)?;
    let shape = LaunchConfig {
        grid: [(columns / TILE) as u64, (rows / TILE) as u64, 1],
        block: [BLOCK[0], BLOCK[1], 1],
        dynamic_shared: 0,
    };
    let arguments = (a_there.slice(..), b_there.slice(..), c.view(), inner as u32);
    // SAFETY: the sizes are multiples of TILE and DEPTH, and device allocations are aligned.
    unsafe { launch(device, matmul::entry(), shape, arguments) }?;
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
    check_same(&c.values()?, &expected)
}
