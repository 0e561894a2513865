//! Barriers in shared memory.

use kernels_hopper::arrivals::arrive_and_wait;

use super::latency::counted;
use super::values::{Output, check_same};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// So many phases of an mbarrier that all threads of a block arrive and wait at.
pub(crate) struct Arrivals;

impl Workload for Arrivals {
    fn name(&self) -> &str {
        arrive_and_wait::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("phases", [1000]).help("phases of a launch")]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let phases = at.whole("phases") as u32;
        let arrays = at
            .launch(
                arrive_and_wait::entry(),
                LaunchConfig::blocks(1, at.block()),
            )
            .arrays(|device| Output::<u64>::new(device, 3))
            .check(move |out| check_same(&out.values()?[2..], &[u64::from(phases)]))
            .counters(|out| counted(&out.values()?));
        // SAFETY: there are three words.
        Ok(unsafe { arrays.arguments_unchecked(move |out| (phases, out.view())) })
    }
}
