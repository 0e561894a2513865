//! Devices that reach each other's memory.
//!
//! Access that GPUs allow each other lasts until the process ends, so their cases run in one of their own.

use std::env;
use std::process::Command;

use gpu_test::{Failed, REQUIRE_GPU, Trial, equal, on_two_gpus};
use kernels_gpu::functions::Scale;
use ridgepoint::driver::{Device, DriverError, Emulation, Stream};
use ridgepoint::kernels::embedded_ptx;

use super::{N, REACH, Work, after, current, launch, mismatches, two};

/// The case that also runs on the driver that computes nothing.
pub(crate) const FAKE: &str = "peers::operations";

/// The cases of emulated devices, and those of two GPUs: in a process that `reaches` those itself, or in another.
pub(crate) fn all(reaches: bool) -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("peers::emulated_devices_are_different_ones", different),
        Trial::test("peers::emulated_devices_reach_each_other", || {
            let (a, b) = (emulated(40)?, emulated(41)?);
            operations(&a, &b)?;
            computing(&a, &b)
        }),
    ];
    if reaches {
        trials.push(two(FAKE, |a, b| {
            operations(a, b)?;
            unjoined(a)
        }));
        trials.push(two("peers::computing", |a, b| {
            a.enable_peer_access(b)?;
            b.enable_peer_access(a)?;
            computing(a, b)
        }));
    } else {
        let apart = on_two_gpus(
            "peers::two_gpus_reach_each_other",
            embedded_ptx(),
            |_, _| apart(),
        );
        trials.push(apart);
    }
    trials
}

fn emulated(number: u32) -> Result<Device, DriverError> {
    Device::emulator_number(number, Emulation::default(), embedded_ptx())
}

fn different() -> Result<(), Failed> {
    let devices = [emulated(42)?, emulated(43)?];
    let [a, b] = &devices;
    mismatches(a, b)?;
    mismatches(b, a)?;
    // All of one number are one device.
    let (mut work, other) = (Work::on(a)?, emulated(42)?);
    work.x = other.buffer_filled(N, 1.0)?;
    Ok(work.launch(2.0)?)
}

/// The cases of two GPUs, in a process of their own.
fn apart() -> Result<(), Failed> {
    let output = Command::new(env::current_exe()?)
        .args(["peers::", "--test-threads=1"])
        .env(REACH, "1")
        .env(REQUIRE_GPU, "2")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.success() && text.matches("... ok").count() == 2 {
        true => Ok(()),
        false => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Everything that is done with a peer, but for what a kernel computes.
fn operations(a: &Device, b: &Device) -> Result<(), Failed> {
    assert!(after(b, || a.can_access_peer(b))? && a.can_access_peer(a)?);
    let (mut own, mut other) = (Work::on(a)?, Work::on(b)?);
    let refused = launch(&own.prepared, &own.stream, 2.0, &other.x, &mut own.y);
    assert!(matches!(refused, Err(DriverError::OtherDevice { .. })));
    for _ in 0..2 {
        after(b, || a.enable_peer_access(b))?;
    }
    after(b, || {
        launch(&own.prepared, &own.stream, 2.0, &other.x, &mut own.y)
    })?;
    after(b, || {
        launch(&own.prepared, &own.stream, 2.0, &own.x, &mut other.y)
    })?;
    let mut graph = own.graph()?;
    let arguments = (
        Scale { factor: 2.0 },
        other.x.slice(..),
        own.y.slice_mut(..),
        N,
    );
    // SAFETY: the buffers have N elements, and live until the stream has been waited for.
    unsafe {
        after(b, || graph.update(0, &own.prepared, &arguments))?;
        graph.launch(&own.stream)?;
    }
    own.stream.synchronize()?;
    // The other direction is another matter.
    let refused = launch(&other.prepared, &other.stream, 2.0, &own.x, &mut other.y);
    assert!(matches!(refused, Err(DriverError::OtherDevice { .. })));
    after(b, || a.enter())?;
    let is_emulated = a.properties().is_emulated();
    assert!(is_emulated || current() == after(a, current), "not entered");
    assert_eq!(own.stream.as_raw().is_none(), is_emulated);
    copies(a, b)?;
    after(a, || b.enable_peer_access(a))?;
    own.does_everything(3.0, b)?;
    other.does_everything(4.0, a)
}

/// Between all pairs, in a stream of either, each from amid a buffer to amid another.
fn copies(a: &Device, b: &Device) -> Result<(), Failed> {
    let values: Vec<u32> = (0..N as u32).collect();
    for (from, to) in [(a, b), (b, a), (a, a)] {
        for of in [a, b] {
            let (source, mut target) = (from.buffer_from(&values)?, to.buffer_zeroed::<u32>(N)?);
            let stream = Stream::new(of)?;
            let (part, into) = (source.slice(1..N - 2), target.slice_mut(2..));
            // SAFETY: both live until the stream has been waited for, and nothing else uses them.
            let copied = after(b, || unsafe { stream.copy_peer(part, into) });
            if std::ptr::eq(from, to) && !std::ptr::eq(from, of) {
                assert!(matches!(copied, Err(DriverError::OtherDevice { .. })));
                continue;
            }
            copied?;
            after(a, || stream.synchronize())?;
            let copied = target.to_vec()?;
            equal(&copied[2..N - 1], &values[1..N - 2])?;
            equal(&[copied[1], copied[N - 1]], &[0; 2])?;
            // SAFETY: nothing of it gets to a device.
            let captured = stream
                .capture(|| unsafe { stream.copy_peer(source.slice(..), target.slice_mut(..)) });
            assert!(matches!(captured, Err(DriverError::Capturing(_))));
        }
    }
    Ok(())
}

/// A GPU that no link joins to the first: the driver that computes nothing has one.
fn unjoined(a: &Device) -> Result<(), Failed> {
    let Ok(third) = Device::with_ptx(2, embedded_ptx()) else {
        return Ok(());
    };
    match a.enable_peer_access(&third) {
        Err(error @ DriverError::NoPeerAccess { .. }) => {
            let text = error.to_string();
            let parts = [
                "cuda:0 (",
                "cannot access the memory of cuda:2 (",
                "no link",
            ];
            let has_all = parts.iter().all(|it| text.contains(it));
            has_all.then_some(()).ok_or_else(|| text.into())
        }
        // Of four GPUs all may be joined.
        Ok(()) => Ok(()),
        Err(other) => Err(other.into()),
    }
}

/// Kernels of each read the other's memory, and write it.
fn computing(a: &Device, b: &Device) -> Result<(), Failed> {
    let (mut own, mut other) = (Work::on(a)?, Work::on(b)?);
    other.x = b.buffer_filled(N, 3.0)?;
    launch(&own.prepared, &own.stream, 2.0, &other.x, &mut own.y)?;
    own.stream.synchronize()?;
    equal(&own.y.to_vec()?, &[6.0; N])?;
    launch(&own.prepared, &own.stream, 5.0, &own.y, &mut other.y)?;
    own.stream.synchronize()?;
    equal(&other.y.to_vec()?, &[30.0; N])
}
