//! Sweeps: axes, the points they span, and a record for each point measured.

mod axes;
mod check;
pub mod occupancy;
mod record;
mod roofline;
mod workload;

pub use axes::{Axes, GridSize, Point, TooManyPoints};
pub use check::Mismatch;
pub use record::{NOISY_PERCENT, PLAUSIBLE_PERCENT, Record, Series, by_series};
pub use roofline::{Settings, Sweep, SweepError};
