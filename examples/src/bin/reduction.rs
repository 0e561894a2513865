//! The sum of many numbers, by warp shuffles.

use example_kernels::reduction::{BLOCK, WIDTH, block_sums};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

/// Blocks per multiprocessor: enough to keep the memory busy.
const BLOCKS_EACH: u64 = 8;

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 26,
        emulator: 1 << 20,
    })?;
    let mut random = fastrand::Rng::with_seed(1);
    let x: Vec<f32> = (0..n).map(|_| random.f32()).collect();
    let device_x = device.buffer_from(&x)?;

    let most = BLOCKS_EACH * u64::from(device.properties().multiprocessors);
    let blocks = ((n / WIDTH) as u64).div_ceil(BLOCK.into()).clamp(1, most);
    let mut sums = device.buffer_filled(blocks as usize, f32::NAN)?;
    let mut sum = device.buffer_filled(1, f32::NAN)?;
    let first = device.prepare(block_sums::entry(), LaunchConfig::blocks(blocks, BLOCK))?;
    let second = device.prepare(block_sums::entry(), LaunchConfig::blocks(1, BLOCK))?;
    let stream = Stream::new(&device)?;
    // SAFETY: a sum for each block; the buffers live until the stream is synchronised.
    unsafe {
        first.launch(&stream, &(device_x.slice(..), sums.slice_mut(..)))?;
        second.launch(&stream, &(sums.slice(..), sum.slice_mut(..)))?;
    }
    stream.synchronize()?;

    let actual = f64::from(sum.to_vec()?[0]);
    let expected: f64 = x.iter().map(|&x| f64::from(x)).sum();
    // Every addition of positive numbers adds at most half an epsilon of the sum; few of them lie
    // one behind the other.
    let depth = (n as u64).div_ceil(blocks * u64::from(BLOCK)) + 32;
    let allowed = expected * depth as f64 * f64::from(f32::EPSILON);
    if actual.is_nan() || (actual - expected).abs() > allowed {
        return Err(format!("the sum is {actual}, not {expected}").into());
    }

    // SAFETY: as above.
    let seconds =
        unsafe { examples::seconds(&first, &stream, &(device_x.slice(..), sums.slice_mut(..))) }?;
    let bytes = size_of::<f32>() * n;
    examples::report(
        &device,
        &format!("sum of {n} elements"),
        bytes as f64 / seconds / 1e9,
        "GB/s",
    );
    Ok(())
}
