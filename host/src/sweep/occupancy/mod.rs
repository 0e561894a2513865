//! The occupancy sweep: how fast a kernel is with how many threads and how much independent work of
//! each thread in flight, and how many it needs.

mod axes;
mod kernels;
mod knee;
mod record;
mod run;

pub use axes::{Instance, OccupancyAxes, OccupancyPoint, Studied};
pub use knee::{Knee, knees};
pub use record::{InFlight, OccupancyRecord};
pub use run::{Limited, OccupancyError, OccupancySweep};
