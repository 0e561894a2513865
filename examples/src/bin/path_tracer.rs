//! A small path tracer with glam: writes path_tracer.png.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use example_kernels::path_tracer::{pixel, trace};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

const FILE: &str = "path_tracer.png";

fn main() -> Outcome {
    // The width; the height is two thirds of it.
    let (device, n) = examples::start(Default {
        gpu: 1920,
        emulator: 240,
    })?;
    let width = u32::try_from(n)?;
    let height = width * 2 / 3;
    let samples = if device.properties().gpu.is_some() {
        256
    } else {
        16
    };
    let count = (width * height) as usize;
    let mut pixels = device.buffer_filled(count, [0u8; 4])?;

    let shape = LaunchConfig::tiles([width.into(), height.into()], [16, 16]);
    let prepared = device.prepare(trace::entry(), shape)?;
    let stream = Stream::new(&device)?;
    let arguments = (pixels.slice_mut(..), width, height, samples);
    let start = stream.record()?;
    // SAFETY: width x height pixels, which live until the stream is synchronised.
    unsafe { prepared.launch(&stream, &arguments) }?;
    let end = stream.record()?;
    stream.synchronize()?;
    let seconds = end.milliseconds_since(&start)? / 1e3;

    let image = pixels.to_vec()?;
    check(&image, width, height, samples)?;
    if count > 0 {
        save(&image, width, height)?;
    }
    let paths = count as f64 * f64::from(samples);
    examples::report(
        &device,
        &format!("{FILE} of {width} x {height} pixels"),
        paths / seconds / 1e6,
        "million paths/s",
    );
    Ok(())
}

/// Compares up to 500 pixels, spread over the image, with the host's. A rounding error may send
/// single paths elsewhere, so a few may differ, and all by little on the whole.
fn check(image: &[[u8; 4]], width: u32, height: u32, samples: u32) -> Result<(), Box<dyn Error>> {
    let mut difference = 0.0;
    let mut compared = 0.0;
    for index in (0..image.len()).step_by((image.len() / 500).max(1)) {
        let (x, y) = (index as u32 % width, index as u32 / width);
        let expected = pixel(x, y, width, height, samples);
        for channel in 0..4 {
            let [actual, expected] = [image[index], expected].map(|p| f64::from(p[channel]));
            difference += (actual - expected).abs();
            compared += 1.0;
        }
    }
    if difference > compared {
        let mean = difference / compared;
        return Err(format!("the image differs by {mean:.1} of 255 on average").into());
    }
    Ok(())
}

fn save(image: &[[u8; 4]], width: u32, height: u32) -> Outcome {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(FILE)?), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()?
        .write_image_data(bytemuck::cast_slice(image))?;
    Ok(())
}
