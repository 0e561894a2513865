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
/// With `criterion`, whose `iter_custom` takes a time that somebody else measured:
///
/// ```no_run
/// use criterion::Criterion;
/// use ridgepoint::driver::DeviceChoice;
/// use ridgepoint::embedded::Stream;
/// use ridgepoint::kernels::{bench, embedded_ptx};
/// use ridgepoint::workload::Timed;
///
/// let bench = bench(&DeviceChoice::Auto, embedded_ptx())?;
/// let mut copy = Timed::new(&bench, &Stream::COPY, &[("n", (1 << 20).into())])?;
/// let mut criterion = Criterion::default();
/// criterion.bench_function("copy", |bencher| {
///     bencher.iter_custom(|launches| copy.time(launches).expect("the launch works"));
/// });
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
