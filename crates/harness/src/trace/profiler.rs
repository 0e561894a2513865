//! Ranges for the profiler that runs this process, through NVTX: the feature `nvtx`.

use std::env;

use tracing::Subscriber;
use tracing_subscriber::layer::Layer;

/// Whether this build shows its ranges to profilers: whether it has the feature `nvtx`.
pub const SHOWS_RANGES_TO_PROFILERS: bool = cfg!(feature = "nvtx");

/// Whether a profiler that reads NVTX runs this process.
pub fn profiler_is_there() -> bool {
    // Which is how a profiler makes itself known to NVTX.
    env::var_os("NVTX_INJECTION64_PATH").is_some()
}

/// Makes NVTX ranges of the spans.
#[cfg(feature = "nvtx")]
pub(super) fn layer<S: Subscriber>() -> impl Layer<S>
where
    nvtx::tracing::NvtxLayer: Layer<S>,
{
    nvtx::tracing::NvtxLayer::default()
}

#[cfg(not(feature = "nvtx"))]
pub(super) fn layer<S: Subscriber>() -> impl Layer<S> {
    tracing_subscriber::layer::Identity::new()
}

/// A range from here to where the value is dropped, for profilers alone.
#[cfg(feature = "nvtx")]
pub(crate) fn range(name: impl ToString) -> impl Sized {
    std::ffi::CString::new(name.to_string()).map(nvtx::LocalRange::new)
}

#[cfg(not(feature = "nvtx"))]
pub(crate) fn range(_: impl ToString) -> impl Sized {}
