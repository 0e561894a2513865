//! Launches the kernels.

use properties_kernels as kernels;
use ridgepoint_driver::{Device, DriverError, Embedded, LaunchConfig, Stream};

/// The PTX of the kernels, which build.rs made.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// How many elements of `x` are above `limit`, counted by the device.
///
/// # Errors
/// There is too little memory, or the launch fails.
pub fn count_above(
    device: &Device,
    x: &[u32],
    limit: u32,
    launch: LaunchConfig,
) -> Result<u32, DriverError> {
    let x = device.buffer_from(x)?;
    let mut count = device.buffer_filled(1, u32::MAX)?;
    let prepared = device.prepare(kernels::count_above::entry(), launch)?;
    let stream = Stream::new(device)?;
    // SAFETY: `count` has one element; the buffers live until the stream is synchronised, and nothing else uses them.
    unsafe { prepared.launch(&stream, &(x.slice(..), limit, count.slice_mut(..))) }?;
    stream.synchronize()?;
    Ok(count.to_vec()?[0])
}

/// The first `len` bytes of a packed text, zeros behind its end, unpacked by the device.
///
/// # Errors
/// There is too little memory, or the launch fails.
pub fn unpacked(
    device: &Device,
    packed: &[u8],
    len: usize,
    launch: LaunchConfig,
) -> Result<Vec<u8>, DriverError> {
    let packed = device.buffer_from(packed)?;
    let mut out = device.buffer_filled(len, 0u8)?;
    let prepared = device.prepare(kernels::unpack::entry(), launch)?;
    let stream = Stream::new(device)?;
    prepared.run(&stream, (packed.slice(..), out.slice_mut(..)))?;
    out.to_vec()
}
