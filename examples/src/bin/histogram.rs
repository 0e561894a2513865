//! How often each byte occurs, by atomic additions in shared memory.

use example_kernels::histogram::{BINS, BLOCK, WIDTH, histogram};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

/// Blocks per multiprocessor: as many as run at once.
const BLOCKS_EACH: u64 = 8;

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 28,
        emulator: 1 << 20,
    })?;
    let mut random = fastrand::Rng::with_seed(1);
    // Some values occur more often than others.
    let bytes: Vec<u8> = (0..n).map(|_| random.u8(..) & random.u8(..)).collect();
    let device_bytes = device.buffer_from(&bytes)?;
    let mut counts = device.buffer_filled(BINS, 0u32)?;

    let most = BLOCKS_EACH * u64::from(device.properties().multiprocessors);
    let blocks = ((n / WIDTH) as u64).div_ceil(BLOCK.into()).clamp(1, most);
    let prepared = device.prepare(histogram::entry(), LaunchConfig::blocks(blocks, BLOCK))?;
    let stream = Stream::new(&device)?;
    // SAFETY: BINS counts; the buffers live until the stream is synchronised.
    unsafe { prepared.launch(&stream, &(device_bytes.slice(..), counts.slice_mut(..))) }?;
    stream.synchronize()?;

    let mut expected = vec![0u32; BINS];
    for &byte in &bytes {
        expected[usize::from(byte)] += 1;
    }
    let actual = counts.to_vec()?;
    if let Some(bin) = (0..BINS).find(|&bin| actual[bin] != expected[bin]) {
        let (actual, expected) = (actual[bin], expected[bin]);
        return Err(format!("{bin} occurs {actual} times, not {expected}").into());
    }

    // SAFETY: as above.
    let seconds = unsafe {
        examples::seconds(
            &prepared,
            &stream,
            &(device_bytes.slice(..), counts.slice_mut(..)),
        )
    }?;
    examples::report(
        &device,
        &format!("histogram of {n} bytes"),
        n as f64 / seconds / 1e9,
        "GB/s",
    );
    Ok(())
}
