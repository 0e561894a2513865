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
        let works = counts.iter().map(profile::work);
        let work = works.fold(Work::default(), Work::and);
        Ok(Some(Sum {
            flop: counts.iter().map(Counts::flop).sum(),
            bytes: work.bytes().unwrap_or(0.0) as u64,
            work,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::DeviceChoice;
    use crate::embedded::Polynomial;
    use crate::model::{Operation, Precision};
    use crate::sweep::{Selection, Settings, Sweep};
    use crate::workload::{Axis, Value, Workload};

    /// Writes 512 bytes, and says that it writes so many numbers of 4.
    struct Writes(Option<usize>);

    impl Workload for Writes {
        fn name(&self) -> &str {
            "writes"
        }

        fn axes(&self) -> Vec<Axis> {
            Vec::new()
        }

        fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
            let entry = kernels_gpu::ceilings::stream::write_u1::entry();
            let arrays = at
                .launch(entry, LaunchConfig::blocks(1, 32))
                .arrays(|device| device.buffer_filled(32, [0f32; 4]));
            // SAFETY: there are 32 vectors, which live until the launch has ended.
            let case = unsafe { arrays.arguments_unchecked(|y| (y.slice_mut(..), 32)) };
            Ok(match self.0 {
                Some(numbers) => case.writes::<f32>(numbers),
                None => case,
            })
        }
    }

    /// The only row of a workload at these values, where others have their first.
    fn row(
        workload: &'static dyn Workload,
        values: &[(&str, u64)],
    ) -> Result<crate::sweep::Record, SweepError> {
        let bench = Bench::embedded(&DeviceChoice::Cpu).expect("the emulator");
        let mut selection = Selection::defaults(workload, true);
        for (name, all) in &mut selection.values {
            all.truncate(1);
            if let Some((_, value)) = values.iter().find(|(it, _)| it == name) {
                *all = vec![Value::Whole(*value)];
            }
        }
        let plan = Plan {
            selected: vec![selection],
            ..Plan::default()
        };
        Sweep::new(&bench, &plan, Settings::quick())?.measure(0, None)
    }

    #[test]
    fn rows_have_what_was_counted_beside_the_formula() {
        let row = row(&Polynomial::HORNER, &[("k", 16), ("n", 4096)]).expect("a row");
        assert_eq!(row.counted_flop, Some(2 * 16 * 4096));
        assert_eq!(row.counted_bytes, Some(2 * 4 * 4096));
        assert_eq!((row.ai, row.counted_ai), (Some(4.0), Some(4.0)));
    }

    #[test]
    fn what_a_workload_leaves_out_is_counted_and_what_it_says_too_much_is_refused() {
        let counted = row(&Writes(None), &[]).expect("a row");
        assert_eq!((counted.counted_bytes, counted.ai), (Some(512), None));
        let said = row(&Writes(Some(128)), &[]).expect("a row");
        assert!(counted.bandwidth.is_some() && said.bandwidth.is_some());
        let error = row(&Writes(Some(256)), &[]).expect_err("twice as many");
        let text = error.to_string();
        assert!(
            text.contains("the workload says 1,024 bytes, and 512 were counted"),
            "{text}"
        );
    }

    #[test]
    fn works_add_up() {
        let first = Work::default().reads(8.0);
        let second = Work::default().writes(4.0);
        let second = second.operations(Precision::F32, Operation::Fma, 6.0);
        let both = first.and(second);
        assert_eq!((both.bytes(), both.flops()), (Some(12.0), Some(12.0)));
    }
}
