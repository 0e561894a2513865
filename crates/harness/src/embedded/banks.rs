//! Shared memory read by words from one bank or from many.

use kernels_gpu::ceilings::banks::{banks_reference, read_banks};

use super::pattern::warps;
use super::values::{Output, check_same};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Lanes of a warp that want different words from the same bank.
pub(crate) const WAYS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Shared memory, read by `n` threads in `passes` passes, by neighbours at places that are `stride` words apart.
pub(crate) struct Banks;

impl Workload for Banks {
    fn name(&self) -> &str {
        read_banks::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 16]).help("threads"),
            Axis::one_of("stride", WAYS, WAYS).help("words from a lane's to its neighbour's"),
            Axis::whole("passes", [3]).help("times that a thread reads 8 words"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [stride, passes] = ["stride", "passes"].map(|axis| at.whole(axis) as u32);
        let config = LaunchConfig::linear(at.size("n") as u64, at.block());
        let arrays = at
            .launch(read_banks::entry(), config)
            .arrays(move |device| Output::new(device, warps(config)))
            .check(move |sums| {
                let expected = banks_reference(stride, passes);
                check_same(&sums.values()?, &vec![expected; warps(config)])
            });
        // SAFETY: there is a sum for each warp, and blocks are whole warps.
        Ok(unsafe { arrays.arguments_unchecked(move |sums| (stride, passes, sums.view())) })
    }
}
