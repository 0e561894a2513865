//! Atomic additions to counters that may be another device's.

use kernels_gpu::ceilings::peer::add_to_peer;

use super::checked::Checked;
use super::registry::Listed;
use super::values::check_same;
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// The addend: neither 0 nor 1, which have instructions of their own.
pub(crate) const VALUE: u32 = 3;
/// All threads have the same counter.
pub(crate) const TOGETHER: u32 = 0;
/// Each thread has its own.
pub(crate) const APART: u32 = 1;

/// So many additions of each of `n` threads, to counters `stride` apart, all of one device.
struct Additions;

pub(super) fn listed() -> Listed {
    let points = Checked::one_shape(&Additions, 128)
        .at("stride", [TOGETHER, APART])
        .at("steps", [3, 8, 19]);
    Listed::checked(&Additions, [points])
}

/// Returns the value of each of so many counters.
pub(crate) fn expected(threads: usize, counters: usize, steps: u32, launches: u32) -> u32 {
    let each = (threads / counters) as u32;
    let additions = each.wrapping_mul(steps).wrapping_mul(launches);
    additions.wrapping_mul(VALUE)
}

impl Workload for Additions {
    fn name(&self) -> &str {
        add_to_peer::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 16]).help("threads"),
            Axis::whole("stride", [TOGETHER, APART].map(u64::from))
                .within(u64::from(TOGETHER)..=u64::from(APART))
                .help("counters from a thread's to its neighbour's"),
            Axis::whole("steps", [3]).help("additions per thread"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [stride, steps] = ["stride", "steps"].map(|axis| at.whole(axis) as u32);
        let config = LaunchConfig::linear(at.size("n") as u64, at.block());
        let threads = (config.grid[0] * config.block_threads()) as usize;
        let counters = 1 + (threads - 1) * stride as usize;
        let arrays = at
            .launch(add_to_peer::entry(), config)
            .arrays(move |device| Ok((device.buffer_zeroed(counters)?, 0)))
            .check(move |(sums, launches)| {
                let each = expected(threads, counters, steps, *launches);
                check_same(&sums.to_vec()?, &vec![each; counters])
            });
        // SAFETY: there is a counter for each thread, or one where the stride is 0.
        Ok(unsafe {
            arrays.enqueue(move |(sums, launches), prepared, stream| {
                *launches += 1;
                prepared.launch(stream, &(stride, VALUE, steps, sums.slice_mut(..)))
            })
        })
    }
}
