//! What happened when: on the host, at the driver gate, and on the device.
//!
//! The library is instrumented with `tracing`: its spans become ranges here, and NVTX ranges for a
//! profiler. Without a trace, none of that runs.

mod chrome;
mod profile;
mod ranges;

use std::time::Instant;

use cuda_loader::Call;
use tracing_subscriber::layer::SubscriberExt;

pub use chrome::write_chrome;
pub use profile::profile;
pub use ranges::Range;
use ranges::Ranges;

use crate::driver::trace::{self, Span};

/// All that happened while a piece of work ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// When it began.
    pub began: Instant,
    /// When it ended.
    pub ended: Instant,
    /// The host's ranges, by their beginnings.
    pub ranges: Vec<Range>,
    /// The driver's calls of the thread that ran the work, in order.
    pub calls: Vec<Call>,
    /// The device's work, by its beginnings.
    pub spans: Vec<Span>,
}

/// Runs `work` and records what happens. Devices that it opens are traced once it has closed them.
pub fn record<R>(work: impl FnOnce() -> R) -> (R, Trace) {
    let ranges = Ranges::default();
    let subscriber = tracing_subscriber::registry()
        .with(nvtx::tracing::NvtxLayer::default())
        .with(ranges.clone());
    trace::begin();
    let began = Instant::now();
    let (result, calls) =
        tracing::subscriber::with_default(subscriber, || cuda_loader::record(work));
    let trace = Trace {
        began,
        ended: Instant::now(),
        ranges: ranges.take(),
        calls,
        spans: trace::take(),
    };
    (result, trace)
}

/// Runs `work` with its ranges shown to the profiler that runs this process, if one does.
pub fn annotated<R>(work: impl FnOnce() -> R) -> R {
    // Which is how a profiler makes itself known to NVTX.
    if std::env::var_os("NVTX_INJECTION64_PATH").is_none() {
        return work();
    }
    let subscriber = tracing_subscriber::registry().with(nvtx::tracing::NvtxLayer::default());
    tracing::subscriber::with_default(subscriber, work)
}
