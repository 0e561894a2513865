//! Launches the kernels.

use kernels::scale;
use ridgepoint_driver::{Device, DriverError, Embedded, LaunchConfig, Stream};

/// Threads per block.
const BLOCK: u32 = 256;

/// The PTX of the kernels, which build.rs made.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// `a` times each element of `x`, worked out by the device.
///
/// # Errors
/// There is too little memory, or the launch fails.
pub fn scaled(device: &Device, x: &[f32], a: f32) -> Result<Vec<f32>, DriverError> {
    let input = device.buffer_from(x)?;
    // NaN shows where a kernel has not written.
    let mut output = device.buffer_filled(x.len(), f32::NAN)?;
    let prepared = device.prepare(scale::entry(), LaunchConfig::linear(x.len() as u64, BLOCK))?;
    let stream = Stream::new(device)?;
    prepared.run(&stream, (input.slice(..), output.slice_mut(..), a))?;
    output.to_vec()
}
