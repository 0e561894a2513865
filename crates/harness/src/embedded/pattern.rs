//! The pattern that vectors are filled with, and what it adds up to.

use std::iter;
use std::ops::Range;
use std::thread;

use cuda_std::launch::Slice;
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::{Vector, pattern, pattern_vector, read_u1, write_u1};

use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Stream};
use crate::workload::PointError;

/// Elements of a vector.
pub(crate) const WIDTH: usize = size_of::<Vector>() / size_of::<f32>();

/// Of up to so many elements each is compared, of more their sum.
pub(crate) const EACH: usize = 1 << 20;

/// The first element of z, in the pattern that x begins: what is compared element by element tells them
/// apart.
pub(super) fn first_of_z(n: usize) -> usize {
    if n <= EACH { n } else { 0 }
}

pub(super) fn warps(config: LaunchConfig) -> usize {
    (config.grid[0] * config.block_threads() / u64::from(WARP)) as usize
}

const FILLING_BLOCK: u32 = 256;

/// So many vectors of the pattern from element `first` on, which is 0 for more than [`EACH`].
pub(crate) fn patterned(
    device: &Device,
    first: usize,
    vectors: usize,
) -> Result<DeviceBuffer<Vector>, DriverError> {
    if vectors * WIDTH <= EACH {
        let first = first / WIDTH;
        let values: Vec<Vector> = (first..first + vectors).map(pattern_vector).collect();
        return device.buffer_from(&values);
    }
    let mut array = device.buffer_uninitialized::<Vector>(vectors)?;
    let config = LaunchConfig::linear(vectors as u64, FILLING_BLOCK);
    let prepared = device.prepare(write_u1::entry(), config)?;
    let stream = Stream::new(device)?;
    // SAFETY: the array has so many vectors, aligned as device allocations are, and lives until the
    // stream is synchronised.
    unsafe { prepared.launch(&stream, &(array.slice_mut(..), vectors as u64)) }?;
    stream.synchronize()?;
    Ok(array)
}

/// The wrapping sum of the words of y, by the kernel that is checked when it reads x.
pub(crate) fn sum_on_device(device: &Device, y: Slice<'_, Vector>) -> Result<u32, DriverError> {
    const BLOCKS: u64 = 8;
    let full = LaunchConfig::linear(y.len() as u64, FILLING_BLOCK);
    let most = BLOCKS * u64::from(device.properties().multiprocessors);
    let config = LaunchConfig::blocks(full.grid[0].min(most), FILLING_BLOCK);
    let mut sums = device.buffer_uninitialized::<u32>(warps(config))?;
    let stream = Stream::new(device)?;
    let prepared = device.prepare(read_u1::entry(), config)?;
    // SAFETY: sums has a place for each warp, and blocks are whole warps; both arrays live until the stream
    // is synchronised.
    unsafe { prepared.launch(&stream, &(y, sums.slice_mut(..))) }?;
    stream.synchronize()?;
    Ok(sum_of_words(&sums.to_vec()?))
}

pub(super) fn adds_up(words: &[u32], expected: u32) -> Result<(), PointError> {
    match sum_of_words(words) {
        actual if actual == expected => Ok(()),
        actual => Err(format!("the sum of the words is {actual}, not {expected}").into()),
    }
}

pub(super) fn norm_of_pattern(n: usize) -> f64 {
    let squares =
        |range: Range<usize>| -> f64 { range.map(|i| f64::from(pattern(i)).powi(2)).sum() };
    on_all_cores(n, squares).into_iter().sum::<f64>().sqrt()
}

/// The wrapping sum of words, such as warps that add up words have written.
pub(crate) fn sum_of_words(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
}

/// Computes each part of `0..n`, a part for each core of the host.
pub(crate) fn on_all_cores<T: Send>(n: usize, of: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let cores = crate::driver::cores();
    let size = n.div_ceil(cores);
    let part = &|core: usize| of((core * size).min(n)..((core + 1) * size).min(n));
    thread::scope(|scope| {
        let start = |core| thread::Builder::new().spawn_scoped(scope, move || part(core));
        let started: Vec<_> = (1..cores).map(start).collect();
        let first = part(0);
        let others = (1..).zip(started).map(|(core, started)| match started {
            Ok(thread) => thread.join().expect("arithmetic does not panic"),
            // There are no more threads.
            Err(_) => part(core),
        });
        iter::once(first).chain(others).collect()
    })
}
