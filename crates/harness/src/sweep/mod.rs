//! Sweeps: workloads, the points of their axes, and a record for each point measured.

mod context;
mod count;
mod counting;
pub mod occupancy;
mod plan;
mod predict;
mod record;
mod roofline;
mod rounds;
mod scaling_law;
mod timed;

pub use count::{Counted, CountedPoint, Origin, count};
pub(crate) use plan::product;
pub use plan::{Plan, Selection, TooManyPoints};
pub use predict::Prediction;
pub use record::{AxisValues, Record};
pub(crate) use record::{NOISY_PERCENT, PLAUSIBLE_PERCENT, by_series};
pub(crate) use roofline::check_points;
pub use roofline::{Checked, Settings, Sweep, SweepError, WrongPoint, check};
