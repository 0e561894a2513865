//! The PTX of the kernels that `tests/api` runs.

use ridgepoint_driver::Embedded;

/// The PTX that the kernels were built to.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// The PTX that the kernel of `conformance-panicking` was built to, with `Panics::Message`.
#[inline(never)]
pub fn panicking_ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/panicking.rs"))
}
