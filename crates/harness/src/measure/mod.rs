//! Timing and its statistics.

mod conditions;
mod counters;
mod gpu;
mod sampling;
mod statistics;
mod timing;

pub use conditions::{Conditions, Monitor};
pub use counters::{
    HardwareCounters, Instructions, Measured, counted_l2_bytes, counted_work, launch_metrics,
};
#[cfg(test)]
pub(crate) use gpu::h200;
pub(crate) use sampling::places;
pub use sampling::{CacheState, Sampler, Samples, Sampling};
pub use statistics::{Summary, outliers};
pub use timing::{Enqueue, Runs, time};
pub(crate) use timing::{Interval, time_launches};
