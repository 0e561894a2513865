//! The occupancy sweep: how fast a kernel is with how many threads and how much independent work of
//! each thread in flight, and how many it needs.

mod best;
mod error;
mod knee;
mod limited;
mod plan;
mod record;
mod run;

pub use best::{BestBlock, best_blocks};
pub use error::OccupancyError;
pub use knee::{Knee, Reached, families, knees, reached, variant};
pub use limited::Limited;
pub use plan::OccupancyPlan;
pub use record::{InFlight, OccupancyRecord};
pub use run::OccupancySweep;
