//! The exclusive prefix sum, in three launches.

use std::error::Error;

use example_kernels::scan::{BLOCK, TILE, scan_sums, scan_tiles, tile_sums};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 26,
        emulator: 1 << 20,
    })?;
    let mut random = fastrand::Rng::with_seed(1);
    let x: Vec<u32> = (0..n).map(|_| random.u32(..100)).collect();
    let device_x = device.buffer_from(&x)?;
    let mut device_y = device.buffer_filled(n, u32::MAX)?;

    let tiles = n.div_ceil(TILE).max(1);
    let mut sums = device.buffer_filled(tiles, u32::MAX)?;
    let each_tile = LaunchConfig::blocks(tiles as u64, BLOCK);
    let first = device.prepare(tile_sums::entry(), each_tile)?;
    let second = device.prepare(scan_sums::entry(), LaunchConfig::blocks(1, BLOCK))?;
    let third = device.prepare(scan_tiles::entry(), each_tile)?;
    let stream = Stream::new(&device)?;
    let tile_count = u32::try_from(tiles)?;
    let mut scan = || -> Result<f64, Box<dyn Error>> {
        let start = stream.record()?;
        // SAFETY: a sum for each tile, and y is as long as x; the buffers live until the stream is
        // synchronised.
        unsafe {
            first.launch(&stream, &(device_x.slice(..), sums.slice_mut(..)))?;
            second.launch(&stream, &(sums.slice_mut(..), tile_count))?;
            third.launch(
                &stream,
                &(device_x.slice(..), sums.slice(..), device_y.slice_mut(..)),
            )?;
        }
        let end = stream.record()?;
        stream.synchronize()?;
        Ok(end.milliseconds_since(&start)? / 1e3)
    };
    let mut seconds = (0..10).map(|_| scan()).collect::<Result<Vec<_>, _>>()?;

    let mut expected = 0u32;
    for (i, (x, y)) in x.iter().zip(device_y.to_vec()?).enumerate() {
        if y != expected {
            return Err(format!("element {i} is {y}, not {expected}").into());
        }
        expected = expected.wrapping_add(*x);
    }

    seconds.sort_by(f64::total_cmp);
    // Read twice, written once.
    let bytes = 3 * size_of::<u32>() * n;
    examples::report(
        &device,
        &format!("scan of {n} elements"),
        bytes as f64 / seconds[seconds.len() / 2] / 1e9,
        "GB/s",
    );
    Ok(())
}
