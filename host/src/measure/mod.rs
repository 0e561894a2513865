//! Timing and its statistics.

#[cfg(feature = "cli")]
mod conditions;
#[cfg(feature = "cli")]
mod host;
#[cfg(feature = "cli")]
mod sampling;
mod statistics;
mod timing;

#[cfg(feature = "cli")]
pub use conditions::{Conditions, Monitor};
#[cfg(feature = "cli")]
pub use host::{HostRoofsError, host_roofs};
#[cfg(feature = "cli")]
pub(crate) use sampling::places;
#[cfg(feature = "cli")]
pub use sampling::{CacheState, Enqueue, Sampler, Samples, Sampling};
pub use statistics::{Summary, outliers};
pub use timing::{Runs, time};
