//! Timing and its statistics.

#[cfg(feature = "cli")]
mod conditions;
#[cfg(feature = "cli")]
mod counters;
mod gpu;
#[cfg(feature = "cli")]
mod host;
#[cfg(feature = "cli")]
mod sampling;
mod statistics;
mod timing;

#[cfg(feature = "cli")]
pub use conditions::{Conditions, Monitor};
#[cfg(feature = "cli")]
pub use counters::{HardwareCounters, Measured};
#[cfg(all(test, feature = "cli"))]
pub(crate) use gpu::h200;
#[cfg(feature = "cli")]
pub use host::{HostRoofsError, host_roofs};
#[cfg(feature = "cli")]
pub(crate) use sampling::places;
#[cfg(feature = "cli")]
pub use sampling::{CacheState, Sampler, Samples, Sampling};
pub use statistics::{Summary, outliers};
#[cfg(feature = "cli")]
pub(crate) use timing::time_launches;
pub use timing::{Enqueue, Runs, time};
