//! `C = A B` for square matrices, in tiles of shared memory.

use std::error::Error;

use example_kernels::matmul::{BLOCK, DEPTH, TILE, matmul};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 4096,
        emulator: 200,
    })?;
    let mut random = fastrand::Rng::with_seed(1);
    let mut matrix = || -> Vec<f32> { (0..n * n).map(|_| random.f32() - 0.5).collect() };
    let (a, b) = (matrix(), matrix());

    // The kernel works on whole tiles. Zeros around the matrices do not change the product.
    let size = n.next_multiple_of(TILE).max(TILE);
    assert!(size.is_multiple_of(DEPTH), "tiles are made of whole slices");
    let device_a = device.buffer_from(&padded(&a, n, size))?;
    let device_b = device.buffer_from(&padded(&b, n, size))?;
    let mut device_c = device.buffer_filled(size * size, f32::NAN)?;
    let tiles = (size / TILE) as u64;
    let shape = LaunchConfig {
        grid: [tiles, tiles, 1],
        block: [BLOCK[0], BLOCK[1], 1],
        dynamic_shared: 0,
    };
    let prepared = device.prepare(matmul::entry(), shape)?;
    let stream = Stream::new(&device)?;
    let inner = u32::try_from(size)?;
    let arguments = (
        device_a.slice(..),
        device_b.slice(..),
        device_c.slice_mut(..),
        inner,
    );
    // SAFETY: three matrices of size x size, a multiple of TILE, which live until the stream is
    // synchronised.
    unsafe { prepared.launch(&stream, &arguments) }?;
    stream.synchronize()?;
    // SAFETY: as above.
    let seconds = unsafe { examples::seconds(&prepared, &stream, &arguments) }?;

    check(&a, &b, &device_c.to_vec()?, n, size)?;
    let operations = 2.0 * (n as f64).powi(3);
    examples::report(
        &device,
        &format!("matmul of {n} x {n}"),
        operations / seconds / 1e9,
        "GFLOP/s",
    );
    Ok(())
}

/// The matrix of `n` rows, with zeros on the right and below.
fn padded(matrix: &[f32], n: usize, size: usize) -> Vec<f32> {
    let mut padded = vec![0.0; size * size];
    for row in 0..n {
        padded[row * size..][..n].copy_from_slice(&matrix[row * n..][..n]);
    }
    padded
}

/// Compares up to 64 rows and columns, spread over the matrix, with the product in double
/// precision.
fn check(a: &[f32], b: &[f32], c: &[f32], n: usize, size: usize) -> Result<(), Box<dyn Error>> {
    let step = n.div_ceil(64).max(1);
    // Each of n products below 1/4 in size adds at most a rounding error of the partial sum.
    let allowed = n as f64 * n as f64 * 0.25 * f64::from(f32::EPSILON) / 2.0;
    for row in (0..n).step_by(step) {
        for column in (0..n).step_by(step) {
            let expected: f64 = (0..n)
                .map(|k| f64::from(a[row * n + k]) * f64::from(b[k * n + column]))
                .sum();
            let actual = f64::from(c[row * size + column]);
            let error = (actual - expected).abs();
            if error.is_nan() || error > allowed {
                return Err(format!("element {row}, {column} is {actual}, not {expected}").into());
            }
        }
    }
    Ok(())
}
