//! Events with their times: on the host, at the driver gate, and on the device.
//!
//! The library is instrumented with `tracing`: its spans become ranges here, and with the feature
//! `nvtx` also ranges for a profiler. Without a trace, none of that runs.

mod chrome;
mod events;
mod profile;
mod profiler;
mod ranges;
mod source;

use std::time::Instant;

use cuda_loader::Call;
use tracing_subscriber::layer::SubscriberExt;

pub use chrome::write_chrome;
pub(crate) use events::{Events, Track};
pub use profile::profile;
pub(crate) use profiler::range;
pub use profiler::{SHOWS_RANGES_TO_PROFILERS, profiler_is_there};
pub use ranges::Range;
use ranges::Ranges;
pub use source::{DeviceTimes, Source};

use crate::driver::DriverError;
use crate::driver::trace::{self, Span};

/// All that happened while a piece of work ran.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// The source of the device's times.
    pub source: Source,
}

/// Runs `work` and records what happens. Devices that it opens are traced once it has closed them.
///
/// # Errors
/// [`DriverError::Cupti`], [`DriverError::NoDriver`]: [`DeviceTimes::Cupti`] is asked for and not
/// available. `work` has not run then.
pub fn record<R>(times: DeviceTimes, work: impl FnOnce() -> R) -> Result<(R, Trace), DriverError> {
    let (session, source) = times.open()?;
    let ranges = Ranges::default();
    let subscriber = tracing_subscriber::registry()
        .with(profiler::layer())
        .with(ranges.clone());
    trace::begin(session);
    let began = Instant::now();
    let (result, calls) =
        tracing::subscriber::with_default(subscriber, || cuda_loader::record(work));
    let ended = Instant::now();
    let recorded = trace::take();
    let trace = Trace {
        began,
        ended,
        ranges: ranges.take(),
        calls,
        source: source.of(&recorded),
        spans: recorded.spans,
    };
    Ok((result, trace))
}

/// Runs `work` with its ranges shown to the profiler that runs this process, if one does.
pub fn annotated<R>(work: impl FnOnce() -> R) -> R {
    if !SHOWS_RANGES_TO_PROFILERS || !profiler_is_there() {
        return work();
    }
    let subscriber = tracing_subscriber::registry().with(profiler::layer());
    tracing::subscriber::with_default(subscriber, work)
}
