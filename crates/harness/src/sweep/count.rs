//! Points launched once and counted.

use std::path::PathBuf;
use std::rc::Rc;

use serde::Serialize;

use super::roofline::cases;
use super::scaling_law::{self, Part};
use super::{Plan, SweepError};
use crate::driver::LaunchConfig;
use crate::driver::count::{Counts, SECTOR, Space};
use crate::model::Work;
use crate::profile::{Amounts, Formula, Sums};
use crate::workload::{Bench, Case, Point, PointError};

/// Counts at the points of a plan.
pub struct Counted {
    /// The points, in the plan's order.
    pub points: Vec<CountedPoint>,
    /// Why workloads are left out.
    pub left_out: Vec<String>,
}

/// Counts at a point.
#[non_exhaustive]
pub struct CountedPoint {
    /// Workload and values.
    pub name: String,
    /// The file that its kernel is from; `None` of the bench's own kernels.
    pub file: Option<PathBuf>,
    /// Blocks and threads of its launch.
    pub config: LaunchConfig,
    /// Bytes and operations, as the workload says.
    pub work: Work,
    /// Overhead, as the workload says.
    pub overhead: Work,
    /// Those of each kernel that it launches.
    pub counts: Vec<Counts>,
}

/// Launches each point once on an emulator that counts, and compares what was written. `begin` is told each point's
/// name before it is launched, and how many points there are.
///
/// # Errors
/// As [`check`](super::check); [`SweepError::Wrong`]: an element is not the reference of the workload.
pub fn count(
    bench: &Bench,
    plan: &Plan<'_>,
    mut begin: impl FnMut(&str, usize),
) -> Result<Counted, SweepError> {
    let (cases, left_out) = cases(bench, plan)?;
    let mut points = Vec::new();
    let count = cases.len();
    for (point, mut case) in cases {
        let name = point.to_string();
        begin(&name, count);
        points.push(CountedPoint {
            name,
            file: case.file.clone(),
            config: case.config,
            counts: launched(&point, &mut case)?,
            work: case.work,
            overhead: case.overhead,
        });
    }
    Ok(Counted { points, left_out })
}

/// Launches a case once, and compares what was written. The counts of each kernel that it launches.
pub(super) fn launched(point: &Point<'_>, case: &mut Case<'_>) -> Result<Vec<Counts>, SweepError> {
    // Of launches that a workload makes to describe its case.
    case.device.take_counts();
    case.check().map_err(|error| wrong(point, error))?;
    Ok(case.device.take_counts())
}

fn wrong(point: &Point<'_>, error: PointError) -> SweepError {
    match error {
        PointError::Driver(error) => SweepError::Driver(error),
        PointError::Refused(reason) => SweepError::Wrong {
            point: point.to_string(),
            reason,
        },
    }
}

/// Where a figure of a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The workload says it.
    Formula,
    /// The emulator has counted the launch.
    Counted,
    /// It has counted smaller launches, which follow a law.
    Scaled,
}

impl Origin {
    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Formula => "formula",
            Origin::Counted => "counted",
            Origin::Scaled => "scaled",
        }
    }
}

/// Sums over the launches of a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    pub(super) flop: u64,
    pub(super) bytes: u64,
    pub(super) work: Work,
    /// Of `flop`, those that `work` has no kind for; it has no operations then.
    pub(super) unknown_flop: f64,
    pub(super) origin: Origin,
    /// The kernel, where it is one, and its launch.
    pub(super) kernel: Option<(String, LaunchConfig)>,
    pub(super) buffers: usize,
    pub(super) warps: f64,
    /// All that was counted, where it is this launch that was.
    pub(super) exact: Option<Sums>,
    /// Where the launch itself was counted.
    pub(super) caches: Option<CacheBytes>,
    /// Those of each kernel, where the launch itself was counted: what its time is predicted from.
    pub(super) counts: Rc<[Counts]>,
}

/// The bytes that a launch moves between multiprocessors and their caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheBytes {
    /// Of the distinct sectors that each block reads and writes: what L2 gives and takes at least.
    pub(super) l2: u64,
    /// Of all sectors that warps ask for: what goes through L1.
    pub(super) l1: u64,
}

impl CacheBytes {
    pub(super) fn of(counts: &[Counts]) -> CacheBytes {
        let by_blocks = counts.iter().map(|it| &it.footprint);
        let by_blocks = by_blocks.map(|it| it.read_by_blocks + it.written_by_blocks);
        let memory = counts.iter().flat_map(|it| &it.instructions);
        let memory = memory.flat_map(|it| &it.memory);
        let global = memory.filter(|it| it.space == Space::Global);
        CacheBytes {
            l2: by_blocks.sum::<u64>() * SECTOR,
            l1: global.map(|it| it.sectors).sum::<u64>() * SECTOR,
        }
    }
}

impl Sum {
    pub(super) fn of(parts: &[Part], config: LaunchConfig, origin: Origin, buffers: usize) -> Sum {
        let (flop, bytes) = scaling_law::sums(parts);
        let blocks: u64 = config.grid.iter().product();
        Sum {
            flop: flop.round() as u64,
            bytes: bytes.round() as u64,
            work: scaling_law::work(parts),
            unknown_flop: scaling_law::unknown_flop(parts),
            origin,
            kernel: None,
            buffers,
            exact: None,
            caches: None,
            counts: Rc::default(),
            warps: (blocks * config.block_threads().div_ceil(32)) as f64,
        }
    }

    /// FLOP/byte; none without either.
    pub(super) fn intensity(&self) -> Option<f64> {
        (self.flop > 0 && self.bytes > 0).then(|| self.flop as f64 / self.bytes as f64)
    }

    /// Fails with both figures where a workload says something else.
    pub(super) fn compare(&self, formula: Option<Formula>) -> Result<(), String> {
        let counted = Amounts {
            flop: self.flop as f64,
            bytes: self.bytes as f64,
            warps: self.warps,
            buffers: self.buffers,
        };
        match formula.and_then(|it| it.compare_with(counted)) {
            None => Ok(()),
            Some(both) if self.origin == Origin::Scaled => {
                Err(format!("{both} at smaller sizes and scaled to this one"))
            }
            Some(both) => Err(both),
        }
    }
}
