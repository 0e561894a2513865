//! `y = a x + y`: the first kernel.

use example_kernels::saxpy::saxpy;
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 26,
        emulator: 1 << 20,
    })?;
    let a = 2.0;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let device_x = device.buffer_from(&x)?;
    let mut device_y = device.buffer_filled(n, 1.0f32)?;

    let prepared = device.prepare(saxpy::entry(), LaunchConfig::linear(n as u64, 256))?;
    let stream = Stream::new(&device)?;
    // SAFETY: the buffers live until the stream is synchronised, and nothing else uses them.
    unsafe { prepared.launch(&stream, &(a, device_x.slice(..), device_y.slice_mut(..))) }?;
    stream.synchronize()?;

    let y = device_y.to_vec()?;
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        // Small whole numbers, which have no rounding error.
        if *y != a * x + 1.0 {
            return Err(format!("element {i} is {y}, not {}", a * x + 1.0).into());
        }
    }

    // SAFETY: as above.
    let seconds = unsafe {
        examples::seconds(
            &prepared,
            &stream,
            &(a, device_x.slice(..), device_y.slice_mut(..)),
        )
    }?;
    let bytes = 3 * size_of::<f32>() * n;
    examples::report(
        &device,
        &format!("saxpy of {n} elements"),
        bytes as f64 / seconds / 1e9,
        "GB/s",
    );
    Ok(())
}
