//! Helpers of the cases of all modules.

use gpu_test::{Device, Failed};
use ridgepoint_driver::LaunchConfig;

/// A case's name and what it does.
pub(crate) type Case = (&'static str, fn(&Device) -> Result<(), Failed>);

/// Launches a kernel and waits for it.
macro_rules! launch {
    ($device:expr, $entry:expr, $shape:expr $(, $argument:expr)* $(,)?) => {{
        let prepared = $device.prepare($entry, $shape)?;
        let stream = ridgepoint_driver::Stream::new($device)?;
        // SAFETY: each case gives the buffers that its kernel asks for, and waits here.
        unsafe { prepared.launch(&stream, &($($argument,)*)) }?;
        stream.synchronize()?;
    }};
}
pub(crate) use launch;

/// Returns what the threads of a kernel write: `per_thread` words each.
macro_rules! words {
    ($device:expr, $entry:expr, $shape:expr, $per_thread:expr $(, $argument:expr)*) => {{
        let shape: ridgepoint_driver::LaunchConfig = $shape;
        let blocks: u64 = shape.grid.iter().product();
        let words = (blocks * shape.block_threads()) as usize * $per_thread;
        let mut out = $device.buffer_filled(words, u64::MAX)?;
        $crate::support::launch!($device, $entry, shape, out.slice_mut(..) $(, $argument)*);
        out.to_vec()?
    }};
}
pub(crate) use words;

/// The words that each thread of a one-dimensional launch should have written.
pub(crate) fn expected<const N: usize>(
    shape: LaunchConfig,
    of_thread: impl Fn(u32, u32) -> [u64; N],
) -> Vec<u64> {
    let blocks = 0..shape.grid[0] as u32;
    let threads = move |block| (0..shape.block[0]).map(move |thread| (block, thread));
    blocks
        .flat_map(threads)
        .flat_map(|(block, thread)| of_thread(block, thread))
        .collect()
}

/// The failure, with what it is about in front.
pub(crate) fn with(error: Failed, what: &str) -> Failed {
    format!("{what}: {}", error.message().unwrap_or_default()).into()
}
