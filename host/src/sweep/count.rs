//! Points launched once and counted.

use super::roofline::cases;
use super::{Plan, SweepError};
use crate::driver::LaunchConfig;
use crate::driver::count::Counts;
use crate::model::Work;
use crate::workload::{Bench, PointError};

/// What was counted at the points of a plan.
pub struct Counted {
    /// The points, in the plan's order.
    pub points: Vec<CountedPoint>,
    /// Why workloads are left out.
    pub left_out: Vec<String>,
}

/// What was counted at a point.
pub struct CountedPoint {
    /// Workload and values.
    pub name: String,
    /// Blocks and threads of its launch.
    pub config: LaunchConfig,
    /// What the workload says of its bytes and operations.
    pub work: Work,
    /// Those of each kernel that it launches.
    pub counts: Vec<Counts>,
}

/// Launches each point once on an emulator that counts, and compares what was written.
///
/// # Errors
/// As [`check`]; also, a result is wrong ([`SweepError::Wrong`]).
pub fn count(bench: &Bench, plan: &Plan<'_>) -> Result<Counted, SweepError> {
    let (cases, left_out) = cases(bench, plan)?;
    let mut points = Vec::new();
    for (point, mut case) in cases {
        // Of launches that a workload makes to describe its case.
        case.device.take_counts();
        case.check().map_err(|error| match error {
            PointError::Driver(error) => SweepError::Driver(error),
            PointError::Refused(reason) => SweepError::Wrong {
                point: point.to_string(),
                reason,
            },
        })?;
        points.push(CountedPoint {
            name: point.to_string(),
            config: case.config,
            counts: case.device.take_counts(),
            work: case.work,
        });
    }
    Ok(Counted { points, left_out })
}
