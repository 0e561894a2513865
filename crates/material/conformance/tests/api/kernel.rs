//! `#[kernel]`, `Output` and the checks of a launch.

use conformance_kernels::{memory, output, warp};
use cuda_std::launch::{Entry, Signature};
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{DriverError, LaunchConfig, Stream};

use crate::support::{Case, launch};

pub(crate) const CASES: &[Case] = &[
    ("kernel::generic", generic_kernels),
    ("kernel::own", own_elements),
    ("kernel::run", safe_launches),
    ("kernel::parameters", parameters),
    ("kernel::bounds", bounds),
    ("kernel::lengths", lengths),
];

fn generic_kernels(device: &Device) -> Result<(), Failed> {
    for n in [0usize, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537] {
        let shape = LaunchConfig::blocks(3, 96);
        macro_rules! scaled {
            ($entry:expr, $factor:expr, $value:expr) => {{
                let values: Vec<_> = (0..n).map($value).collect();
                let mut buffer = device.buffer_from(&values)?;
                launch!(device, $entry, shape, $factor, buffer.slice_mut(..));
                let expected: Vec<_> = values.iter().map(|value| value * $factor).collect();
                equal(&buffer.to_vec()?, &expected)?;
            }};
        }
        scaled!(output::scale_f32::entry(), 1.1f32, |i| i as f32);
        scaled!(output::scale_f64::entry(), 1.1f64, |i| i as f64);
        scaled!(output::scale_i32::entry(), -3i32, |i| i as i32);

        let groups: Vec<[u32; 3]> = (0..n as u32).map(|i| [i, 2 * i, 7]).collect();
        let input = device.buffer_from(&groups)?;
        let mut sums = device.buffer_filled(n, 0u32)?;
        launch!(
            device,
            output::add_3::entry(),
            shape,
            input.slice(..),
            sums.slice_mut(..)
        );
        let expected: Vec<u32> = groups.iter().map(|group| group.iter().sum()).collect();
        equal(&sums.to_vec()?, &expected)?;
    }
    Ok(())
}

/// In a grid of any shape each element comes to one thread and once: with fewer elements than threads, as
/// many, and more.
fn own_elements(device: &Device) -> Result<(), Failed> {
    for (grid, block) in [
        ([6, 1, 1], [24, 1, 1]),
        ([3, 2, 1], [24, 1, 1]),
        ([3, 1, 2], [24, 1, 1]),
        ([6, 1, 1], [12, 2, 1]),
        ([6, 1, 1], [12, 1, 2]),
        ([3, 2, 1], [4, 3, 2]),
        ([1, 2, 3], [1, 4, 6]),
    ] {
        let shape = LaunchConfig {
            grid,
            block,
            dynamic_shared: 0,
        };
        for n in [1, 25, 143, 144, 145, 1000] {
            let values: Vec<i32> = (1..=n).collect();
            let mut buffer = device.buffer_from(&values)?;
            launch!(
                device,
                output::scale_i32::entry(),
                shape,
                -3,
                buffer.slice_mut(..)
            );
            let expected: Vec<i32> = values.iter().map(|value| -3 * value).collect();
            equal(&buffer.to_vec()?, &expected)?;
        }
    }
    Ok(())
}

/// A safe kernel runs without `unsafe`, and not in a capture, which nothing can wait for.
fn safe_launches(device: &Device) -> Result<(), Failed> {
    let input = device.buffer_from(&[[1u32, 2], [3, 4]])?;
    let mut sums = device.buffer_filled(2, 0u32)?;
    let prepared = device.prepare(output::add_2::entry(), LaunchConfig::blocks(1, 32))?;
    let stream = Stream::new(device)?;
    prepared.run(&stream, (input.slice(..), sums.slice_mut(..)))?;
    equal(&sums.to_vec()?, &[3, 7])?;
    let captured = stream.capture(|| prepared.run(&stream, (input.slice(..), sums.slice_mut(..))));
    match captured {
        Err(DriverError::Capturing("wait for a kernel")) => Ok(()),
        other => Err(format!("{:?}", other.err()).into()),
    }
}

fn parameters(device: &Device) -> Result<(), Failed> {
    let mixed = output::Mixed {
        small: 5,
        large: 1 << 40,
        array: [0, 0, 70],
    };
    let one = device.buffer_from(&[1000u32])?;
    let several = device.buffer_from(&[1u16, 2, 3])?;
    let mut out = device.buffer_filled(1, 0u64)?;
    launch!(
        device,
        output::parameters::entry(),
        LaunchConfig::blocks(1, 32),
        output::Unit,
        mixed,
        [0, 20_000, 0],
        true,
        one.slice(..),
        several.slice(..),
        out.slice_mut(..)
    );
    equal(
        &out.to_vec()?,
        &[(1 << 40) + 5 + 70 + 20_000 + 1 + 1000 + 6],
    )
}

fn lengths(device: &Device) -> Result<(), Failed> {
    let mut empty = device.buffer_filled(0, 0u32)?;
    let mut out = device.buffer_filled(70, [u64::MAX; 4])?;
    let (shape, entry) = (LaunchConfig::blocks(1, 32), output::lengths::entry());
    launch!(device, entry, shape, empty.slice_mut(..), out.slice_mut(..));
    equal(&out.to_vec()?, &[[0, 1, 70, 0]; 70])
}

fn bounds(device: &Device) -> Result<(), Failed> {
    let entry = output::add_3::entry();
    refused(
        device,
        entry,
        LaunchConfig::blocks(1, 256),
        "allows 1 to 128",
    )?;
    let entry = memory::statics::entry();
    refused(
        device,
        entry,
        LaunchConfig::blocks(1, 32),
        "requires [64, 1, 1]",
    )?;
    let shape = LaunchConfig {
        grid: [1, 1, 1],
        block: [1, 1, 128],
        dynamic_shared: 0,
    };
    refused(device, warp::votes::entry(), shape, "128 threads in z")?;
    let shape = LaunchConfig {
        grid: [1, 65_536, 1],
        ..LaunchConfig::blocks(1, 32)
    };
    refused(device, warp::votes::entry(), shape, "65536 blocks in y")?;
    let threads = "4294967296 threads; a kernel with outputs takes at most 4294967295";
    let shape = LaunchConfig::blocks(1 << 22, 1024);
    refused(device, output::lengths::entry(), shape, threads)
}

/// That the launch is an error before it begins, and which.
pub(crate) fn refused<S: Signature>(
    device: &Device,
    entry: Entry<S>,
    shape: LaunchConfig,
    why: &str,
) -> Result<(), Failed> {
    match device.prepare(entry, shape) {
        Ok(_) => Err(format!("{shape:?} was allowed").into()),
        Err(error) if error.to_string().contains(why) => Ok(()),
        Err(error) => Err(format!("{error} does not say {why:?}").into()),
    }
}
