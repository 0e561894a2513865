//! nvcc's kernels on both machines, with random input: all bits are alike, and are those of Rust's
//! arithmetic. Sums of floats have their order from the program; the only atomics add integers, of which any order has one
//! result.
//!
//! Each file is `nvcc -ptx -arch=sm_80` of 13.0: examples.ptx of benches/peers/examples.cu, nvcc.ptx of
//! examples/benches/nvcc.cu, and polynomial.ptx of benches/peers/polynomial.cu with `-fmad=false`. Without that the power
//! sum's products and sums have no rounding in the PTX, and `ptxas` may fuse them or not: their bits are not defined.

use std::fs;

use cuda_std::launch::{Entry, Foreign, ForeignParameters, In, Out};
use gpu_test::{Failed, Trial, alike, equal, on_both};
use ridgepoint::driver::{Device, DeviceBuffer, DeviceValue, LaunchConfig, Stream};
use ridgepoint::kernels::embedded_ptx;

const EXAMPLES: &str = include_str!("examples.ptx");
const POLYNOMIAL: &str = include_str!("polynomial.ptx");
const NVCC: &str = include_str!("../../../examples/benches/nvcc.ptx");

/// Elements of a tile of the sums and the scan.
const TILE: usize = 4096;
/// Elements around those of tiles.
const LENGTHS: [usize; 6] = [1, 1000, TILE - 1, TILE, TILE + 5, 70_001];
const BLOCK: u32 = 256;

/// A function that runs kernels on a device, and compares them with Rust.
type Case = fn(&Device) -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let cases: [(&str, Case); 7] = [
        ("matmul", matmul),
        ("histogram", histogram),
        ("tile_sums_and_scan", scan),
        ("saxpy", saxpy),
        ("horner", horner),
        ("horner_f32_v4", |device| {
            polynomial(device, "horner_f32_v4", horner_of)
        }),
        ("power_sum_f32_v4", |device| {
            polynomial(device, "power_sum_f32_v4", power_sum_of)
        }),
    ];
    let both = cases.map(|(name, case)| on_both(&format!("nvcc::{name}"), embedded_ptx(), case));
    both.into_iter().flatten().collect()
}

/// Checks that `run` gives the same with the kernels of the PTX on the device and, where that is a GPU, on the
/// emulator, and that it is as expected, by bits.
fn compare<T: DeviceValue + std::fmt::Debug>(
    device: &Device,
    ptx: &str,
    expected: &[T],
    run: impl Fn(&Device) -> Result<Vec<T>, Failed>,
) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kernels.ptx");
    fs::write(&file, ptx)?;
    let output = alike(device, embedded_ptx(), |device| run(&device.load(&file)?))?;
    let bits = |of: &[T]| {
        of.iter()
            .map(|it| bytemuck::bytes_of(it).to_vec())
            .collect::<Vec<_>>()
    };
    equal(&bits(&output), &bits(expected))
}

/// Launches a kernel of the loaded file, and waits for it.
///
/// # Safety
/// The kernel has these parameters, and reaches only what the arguments hold.
unsafe fn launch<P: ForeignParameters + 'static>(
    loaded: &Device,
    kernel: &str,
    config: LaunchConfig,
    arguments: &P::Arguments<'_>,
) -> Result<(), Failed> {
    let prepared = loaded.prepare(Entry::<Foreign<P>>::foreign(kernel), config)?;
    let stream = Stream::new(loaded)?;
    // SAFETY: the caller's contract; nothing is freed before the stream has been synchronised.
    unsafe { prepared.launch(&stream, arguments) }?;
    Ok(stream.synchronize()?)
}

fn floats(random: &mut fastrand::Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.f32() * 2.0 - 1.0).collect()
}

fn words(random: &mut fastrand::Rng, count: usize) -> Vec<u32> {
    (0..count).map(|_| random.u32(..)).collect()
}

/// Tiles of 64 x 64, slices of 16.
fn matmul(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(1);
    for (rows, columns, inner) in [(64, 64, 16), (128, 64, 48), (64, 192, 160)] {
        let (a, b) = (
            floats(&mut random, rows * inner),
            floats(&mut random, inner * columns),
        );
        let element = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            (0..inner).fold(0.0f32, |sum, k| {
                a[row * inner + k].mul_add(b[k * columns + column], sum)
            })
        };
        let expected: Vec<f32> = (0..rows * columns).map(element).collect();
        compare(device, EXAMPLES, &expected, |loaded| {
            let mut c = loaded.buffer_uninitialized(rows * columns)?;
            let (a, b) = (loaded.buffer_from(&a)?, loaded.buffer_from(&b)?);
            let grid = [columns as u64 / 64, rows as u64 / 64, 1];
            let config = LaunchConfig {
                grid,
                block: [16, 16, 1],
                ..LaunchConfig::blocks(1, 1)
            };
            let arguments = (a.slice(..), b.slice(..), c.slice_mut(..), inner as u32);
            // SAFETY: a block has a tile of c, whose rows of a and columns of b there are.
            unsafe {
                launch::<(In<f32>, In<f32>, Out<f32>, u32)>(loaded, "matmul", config, &arguments)
            }?;
            Ok(c.to_vec()?)
        })?;
    }
    Ok(())
}

/// Atomics add to integers: the order of adding is by chance, the sums are not.
fn histogram(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(2);
    for n in LENGTHS {
        let bytes: Vec<u8> = (0..n).map(|_| random.u8(..).min(random.u8(..))).collect();
        let mut expected = vec![0u32; 256];
        bytes
            .iter()
            .for_each(|byte| expected[usize::from(*byte)] += 1);
        compare(device, EXAMPLES, &expected, |loaded| {
            let (bytes, mut counts) = (loaded.buffer_from(&bytes)?, loaded.buffer_zeroed(256)?);
            let arguments = (bytes.slice(..), n as u64, counts.slice_mut(..));
            let config = LaunchConfig::blocks(3, BLOCK);
            // SAFETY: there are n bytes, and a count of each value.
            unsafe { launch::<(In<u8>, u64, Out<u32>)>(loaded, "histogram", config, &arguments) }?;
            Ok(counts.to_vec()?)
        })?;
    }
    Ok(())
}

/// The sums of tiles, the scan of the sums, and that of each tile: what each of the three has written.
fn scan(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(3);
    for n in LENGTHS {
        let x = words(&mut random, n);
        let before = |of: &[u32]| -> Vec<u32> {
            let sums = of.iter().scan(0u32, |sum, x| {
                let before = *sum;
                *sum = sum.wrapping_add(*x);
                Some(before)
            });
            sums.collect()
        };
        let sum = |tile: &[u32]| tile.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
        let tiles: Vec<u32> = x.chunks(TILE).map(sum).collect();
        let expected = [tiles.clone(), before(&tiles), before(&x)].concat();
        compare(device, EXAMPLES, &expected, |loaded| scanned(loaded, &x))?;
    }
    Ok(())
}

fn scanned(loaded: &Device, x: &[u32]) -> Result<Vec<u32>, Failed> {
    let (n, tiles) = (x.len() as u64, x.len().div_ceil(TILE));
    let x: DeviceBuffer<u32> = loaded.buffer_from(x)?;
    let (mut sums, mut y) = (
        loaded.buffer_uninitialized(tiles)?,
        loaded.buffer_uninitialized(x.len())?,
    );
    let config = LaunchConfig::blocks(tiles as u64, BLOCK);
    // SAFETY: x and y have n elements, and sums one per tile, here and below.
    unsafe {
        let arguments = (x.slice(..), n, sums.slice_mut(..));
        launch::<(In<u32>, u64, Out<u32>)>(loaded, "tile_sums", config, &arguments)?;
    }
    let mut all = sums.to_vec()?;
    // SAFETY: as above.
    unsafe {
        let arguments = (sums.slice_mut(..), tiles as u32);
        launch::<(Out<u32>, u32)>(
            loaded,
            "scan_sums",
            LaunchConfig::blocks(1, BLOCK),
            &arguments,
        )?;
    }
    all.extend(sums.to_vec()?);
    // SAFETY: as above.
    unsafe {
        let arguments = (x.slice(..), n, sums.slice(..), y.slice_mut(..));
        launch::<(In<u32>, u64, In<u32>, Out<u32>)>(loaded, "scan_tiles", config, &arguments)?;
    }
    all.extend(y.to_vec()?);
    Ok(all)
}

fn saxpy(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(4);
    for n in LENGTHS {
        let (a, x, y) = (random.f32(), floats(&mut random, n), floats(&mut random, n));
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| a.mul_add(*x, *y)).collect();
        compare(device, NVCC, &expected, |loaded| {
            let (x, mut y) = (loaded.buffer_from(&x)?, loaded.buffer_from(&y)?);
            let arguments = (n as i32, a, x.slice(..), y.slice_mut(..));
            let config = LaunchConfig::linear(n as u64, BLOCK);
            // SAFETY: both have n elements.
            unsafe {
                launch::<(i32, f32, In<f32>, Out<f32>)>(loaded, "saxpy", config, &arguments)
            }?;
            Ok(y.to_vec()?)
        })?;
    }
    Ok(())
}

fn horner(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(5);
    for (n, k) in LENGTHS.into_iter().zip([0, 1, 7, 33, 100, 16]) {
        let x = floats(&mut random, n);
        let expected: Vec<f32> = x.iter().map(|x| horner_of(*x, k)).collect();
        compare(device, NVCC, &expected, |loaded| {
            let (x, mut y) = (loaded.buffer_from(&x)?, loaded.buffer_uninitialized(n)?);
            let arguments = (n as i32, k as i32, x.slice(..), y.slice_mut(..));
            let config = LaunchConfig::linear(n as u64, BLOCK);
            // SAFETY: both have n elements.
            unsafe {
                launch::<(i32, i32, In<f32>, Out<f32>)>(loaded, "horner", config, &arguments)
            }?;
            Ok(y.to_vec()?)
        })?;
    }
    Ok(())
}

/// Four elements a thread.
fn polynomial(device: &Device, kernel: &str, of: fn(f32, u32) -> f32) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(6);
    for (n, k) in LENGTHS.into_iter().zip([0, 1, 31, 32, 100, 16]) {
        let x = floats(&mut random, n.next_multiple_of(4));
        let expected: Vec<f32> = x.iter().map(|x| of(*x, k)).collect();
        compare(device, POLYNOMIAL, &expected, |loaded| {
            let (x, mut y) = (
                loaded.buffer_from(&x)?,
                loaded.buffer_uninitialized(x.len())?,
            );
            let arguments = (x.slice(..), y.slice_mut(..), k, x.len() as u64);
            let config = LaunchConfig::linear(x.len() as u64 / 4, BLOCK);
            // SAFETY: both have that many elements, aligned as vectors of four.
            unsafe { launch::<(In<f32>, Out<f32>, u32, u64)>(loaded, kernel, config, &arguments) }?;
            Ok(y.to_vec()?)
        })?;
    }
    Ok(())
}

fn horner_of(x: f32, k: u32) -> f32 {
    (0..k).fold(0.0, |sum: f32, _| sum.mul_add(x, x))
}

fn power_sum_of(x: f32, k: u32) -> f32 {
    let step = |(sum, power): (f32, f32), _| (sum + power, power * x);
    (0..k).fold((0.0, x), step).0
}
