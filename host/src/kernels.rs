//! The kernels that this package embeds, and what kernels need of a multiprocessor.

pub use ridgepoint_harness::kernels::*;

use crate::driver::{Device, DeviceChoice, DriverError, Embedded};
use crate::workload::Bench;

/// The embedded kernels' PTX, ascending by architecture.
// Megabytes, of which each place that it is inlined in would have a copy.
#[inline(never)]
pub fn embedded_ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// Opens the chosen device with the embedded kernels.
///
/// # Errors
/// As [`Device::open`].
pub fn open(choice: &DeviceChoice) -> Result<Device, DriverError> {
    Device::open(choice, embedded_ptx())
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
