//! The kernels of `mathematics-kernels`, built to PTX.

use ridgepoint_driver::Embedded;

/// The PTX that the kernels were built to.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}
