//! The kernels that this package embeds, and what kernels need of a multiprocessor.

pub use ridgepoint_harness::kernels::*;

use crate::driver::{Device, DeviceChoice, DriverError, Embedded, Emulation};
use crate::workload::Bench;

/// The embedded kernels' PTX, ascending by architecture.
// Megabytes, of which each place that it is inlined in would have a copy.
#[inline(never)]
pub fn embedded_ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// The PTX of the embedded kernels for `sm_90a`, which a Hopper GPU alone runs.
#[inline(never)]
pub fn hopper_ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/hopper.rs"))
}

/// Opens the chosen device with the embedded kernels.
///
/// # Errors
/// As [`Device::open`].
pub fn open(choice: &DeviceChoice) -> Result<Device, DriverError> {
    Device::open(choice, embedded_ptx())
}

/// The same device with [`hopper_ptx`], if it runs these kernels.
///
/// ```
/// use ridgepoint::driver::DeviceChoice;
/// use ridgepoint::kernels::{hopper, open};
///
/// let hopper_too = hopper(&open(&DeviceChoice::Cpu)?)?;
/// assert!(hopper_too.is_some());
/// assert!(hopper(&open(&"cpu:sm_80".parse()?)?)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Device::open`].
pub fn hopper(device: &Device) -> Result<Option<Device>, DriverError> {
    /// The compute capability that has `wgmma`, and no later one.
    const HOPPER: (u32, u32) = (9, 0);
    let of = device.properties();
    if of.compute_capability != HOPPER {
        return Ok(None);
    }
    match &of.gpu {
        Some(gpu) => Device::with_ptx(gpu.ordinal, hopper_ptx()),
        None => Device::emulator_of(of.capability(), Emulation::default(), hopper_ptx()),
    }
    .map(Some)
}

/// Opens the chosen device for workloads with the kernels of this PTX, which `CudaBuilder::embed_to` wrote,
/// or with [`embedded_ptx`].
///
/// ```
/// use ridgepoint::driver::{DeviceChoice, Stream};
/// use ridgepoint::kernels::{bench, embedded_ptx};
/// use ridgepoint::workload::Launches;
///
/// let bench = bench(&DeviceChoice::Cpu, embedded_ptx())?;
/// let stream = Stream::new(bench.device())?;
/// let copy = ridgepoint::embedded::Stream::COPY;
/// Launches::new(&bench, &copy, &[("n", (1 << 10).into())])?.each(&stream, |launch| launch())?;
/// # Ok::<(), ridgepoint::workload::PointError>(())
/// ```
///
/// # Errors
/// As [`Device::open`].
pub fn bench(choice: &DeviceChoice, ptx: &[Embedded<'_>]) -> Result<Bench, DriverError> {
    match std::ptr::eq(ptx, embedded_ptx()) {
        true => Bench::open(choice, ptx),
        false => Bench::with_own(choice, ptx, embedded_ptx()),
    }
}
