//! Points launched once and counted.

use super::roofline::cases;
use super::{Plan, SweepError};
use crate::driver::count::Counts;
use crate::driver::{DriverError, LaunchConfig};
use crate::model::Work;
use crate::profile::{self, Formula};
use crate::workload::{Bench, Case, Point, PointError};

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
/// As [`check`](super::check); also, a result is wrong ([`SweepError::Wrong`]).
pub fn count(bench: &Bench, plan: &Plan<'_>) -> Result<Counted, SweepError> {
    let (cases, left_out) = cases(bench, plan)?;
    let mut points = Vec::new();
    for (point, mut case) in cases {
        points.push(CountedPoint {
            name: point.to_string(),
            config: case.config,
            counts: launched(&point, &mut case)?,
            work: case.work,
        });
    }
    Ok(Counted { points, left_out })
}

/// Launches a case once, and compares what was written. The counts of each kernel that it launches.
fn launched(point: &Point<'_>, case: &mut Case<'_>) -> Result<Vec<Counts>, SweepError> {
    // Of launches that a workload makes to describe its case.
    case.device.take_counts();
    case.check().map_err(|error| match error {
        PointError::Driver(error) => SweepError::Driver(error),
        PointError::Refused(reason) => SweepError::Wrong {
            point: point.to_string(),
            reason,
        },
    })?;
    Ok(case.device.take_counts())
}

/// What the launches of a point did, in sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    pub(super) flop: u64,
    pub(super) bytes: u64,
    pub(super) work: Work,
    /// The kernel, where it is one, and its launch.
    pub(super) kernel: Option<(String, LaunchConfig)>,
}

/// The points of a sweep once more, on an emulator that counts.
pub(super) struct Counting<'d>(Vec<(Point<'d>, Case<'d>)>);

impl<'d> Counting<'d> {
    /// None where the device is a GPU.
    pub(super) fn new(bench: &'d Bench, plan: &Plan<'_>) -> Result<Counting<'d>, SweepError> {
        let bench = bench.counting();
        let cases = bench.map(|bench| cases(bench, plan)).transpose()?;
        Ok(Counting(cases.map_or(Vec::new(), |(points, _)| points)))
    }

    /// The counts of point number `index`, whose workload says `formula`; none of a kernel without PTX.
    pub(super) fn count(
        &mut self,
        index: usize,
        formula: &Work,
    ) -> Result<Option<Sum>, SweepError> {
        let Some((point, case)) = self.0.get_mut(index) else {
            return Ok(None);
        };
        let counts = match launched(point, case) {
            Err(SweepError::Driver(DriverError::WithoutPtx { .. })) => return Ok(None),
            counts => counts?,
        };
        let wrong = Formula::of(formula).and_then(|it| it.compare(&counts).wrong);
        if let Some(reason) = wrong {
            let point = point.to_string();
            return Err(SweepError::Formula { point, reason });
        }
        let kernel = match &counts[..] {
            [one] => Some((one.kernel.clone(), case.config)),
            _ => None,
        };
        let works = counts.iter().map(profile::work);
        let work = works.fold(Work::default(), Work::and);
        Ok(Some(Sum {
            flop: counts.iter().map(Counts::flop).sum(),
            bytes: work.bytes().unwrap_or(0.0) as u64,
            work,
            kernel,
        }))
    }
}
