//! Kernels in the style of Rust-CUDA.

use conformance_kernels::migrated;
use cuda_std::glam::UVec2;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[
    ("migrated::vecadd", vecadd),
    ("migrated::gemm_tiled", gemm_tiled),
    ("migrated::mandelbrot", mandelbrot),
];

fn vecadd(device: &Device) -> Result<(), Failed> {
    for n in [1usize, 33, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let a_buffer = device.buffer_from(&a)?;
        let mut c = device.buffer_filled(n, f32::NAN)?;
        let shape = LaunchConfig::linear(n as u64, 128);
        let entry = migrated::vecadd::entry();
        launch!(
            device,
            entry,
            shape,
            a_buffer.slice(..),
            a_buffer.slice(..),
            c.slice_mut(..)
        );
        let expected: Vec<f32> = a.iter().map(|x| x + x).collect();
        equal(&c.to_vec()?, &expected)?;
    }
    Ok(())
}

fn gemm_tiled(device: &Device) -> Result<(), Failed> {
    for n in [1usize, 16, 33, 100] {
        // Small whole numbers, whose products and sums have no rounding error.
        let matrix = |seed: usize| -> Vec<f32> {
            (0..n * n).map(|i| ((i * seed) % 7) as f32 - 3.0).collect()
        };
        let (a, b) = (matrix(3), matrix(5));
        let (a_buffer, b_buffer) = (device.buffer_from(&a)?, device.buffer_from(&b)?);
        let mut c = device.buffer_filled(n * n, 1.0f32)?;
        launch!(
            device,
            migrated::gemm_tiled::entry(),
            LaunchConfig::tiles([n as u64; 2], [16, 16]),
            a_buffer.slice(..),
            b_buffer.slice(..),
            c.slice_mut(..),
            n,
            2.0,
            3.0
        );
        let expected: Vec<f32> = (0..n * n)
            .map(|i| (i / n, i % n))
            .map(|(row, col)| (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum())
            .map(|sum: f32| 2.0 * sum + 3.0)
            .collect();
        equal(&c.to_vec()?, &expected)?;
    }
    Ok(())
}

fn mandelbrot(device: &Device) -> Result<(), Failed> {
    let size = UVec2::new(67, 41);
    let view = migrated::View {
        origin: (-2.0, -1.2),
        step: 0.05,
    };
    let mut pixels = device.buffer_filled((size.x * size.y) as usize, u32::MAX)?;
    let shape = LaunchConfig::tiles([size.x.into(), size.y.into()], [16, 8]);
    launch!(
        device,
        migrated::mandelbrot::entry(),
        shape,
        pixels.slice_mut(..),
        size,
        view
    );
    let pixels = pixels.to_vec()?;
    let inside = pixels.iter().filter(|&&count| count == 100).count();
    let at_once = pixels.iter().filter(|&&count| count <= 1).count();
    // The set has an area of 1.507, each pixel of 1/400.
    if !(580..=640).contains(&inside) || at_once == 0 || pixels.iter().any(|&count| count > 100) {
        return Err(format!("{inside} pixels in the set, {at_once} far from it").into());
    }
    Ok(())
}
