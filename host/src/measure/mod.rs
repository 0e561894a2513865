//! Timing and its statistics.

mod host;
mod statistics;
mod timing;

pub use host::host_roofs;
pub use statistics::Summary;
pub use timing::{Runs, time};
