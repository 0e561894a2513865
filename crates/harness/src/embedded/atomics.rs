//! Atomic additions to one counter, or to one of each thread's own.

use kernels_gpu::ceilings::atomics::{SHARED_COUNTERS, add_in_shared, add_to_counters};

use super::values::{Output, check_same};
use crate::driver::{DeviceBuffer, LaunchConfig};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// The addend: neither 0 nor 1, which have instructions of their own.
const VALUE: u32 = 3;

/// All threads have the same counter.
pub(crate) const TOGETHER: u64 = 0;
/// Each thread has its own.
pub(crate) const APART: u64 = 1;

/// So many additions of each of `n` threads, to counters `stride` apart.
#[derive(Clone, Copy)]
pub(crate) enum Additions {
    /// In memory, which the level 2 cache holds.
    Global,
    /// In each block's shared memory.
    Shared,
}

impl Workload for Additions {
    fn name(&self) -> &str {
        match self {
            Additions::Global => add_to_counters::entry().name(),
            Additions::Shared => add_in_shared::entry().name(),
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 16]).help("threads"),
            Axis::whole("stride", [TOGETHER, APART])
                .within(TOGETHER..=APART)
                .help("counters from a thread's to its neighbour's"),
            Axis::whole("steps", [3]).help("additions per thread"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        match self {
            Additions::Global => Ok(global(at)),
            Additions::Shared if at.block() as usize > SHARED_COUNTERS => Err(format!(
                "a block of {} threads; shared memory has {SHARED_COUNTERS} counters",
                at.block()
            )
            .into()),
            Additions::Shared => Ok(shared(at)),
        }
    }
}

/// Counters, and how many launches have added to them.
struct Counted {
    counters: DeviceBuffer<u32>,
    launches: u32,
}

fn global<'d>(at: &Point<'d>) -> Case<'d> {
    let [stride, steps] = ["stride", "steps"].map(|axis| at.whole(axis) as u32);
    let config = LaunchConfig::linear(at.size("n") as u64, at.block());
    let threads = (config.grid[0] * config.block_threads()) as usize;
    let counters = 1 + (threads - 1) * stride as usize;
    let arrays = at
        .launch(add_to_counters::entry(), config)
        .arrays(move |device| {
            let counters = device.buffer_zeroed(counters)?;
            Ok(Counted {
                counters,
                launches: 0,
            })
        })
        .check(move |it| {
            let each = ((threads / counters) as u32).wrapping_mul(it.launches);
            let expected = each.wrapping_mul(steps).wrapping_mul(VALUE);
            check_same(&it.counters.to_vec()?, &vec![expected; counters])
        });
    // SAFETY: there is a counter for each thread, or one where the stride is 0.
    unsafe {
        arrays.enqueue(move |it, prepared, stream| {
            it.launches += 1;
            prepared.launch(stream, &(stride, VALUE, steps, it.counters.slice_mut(..)))
        })
    }
}

fn shared<'d>(at: &Point<'d>) -> Case<'d> {
    let [stride, steps] = ["stride", "steps"].map(|axis| at.whole(axis) as u32);
    let config = LaunchConfig::linear(at.size("n") as u64, at.block());
    let threads = (config.grid[0] * config.block_threads()) as usize;
    let together = match u64::from(stride) {
        TOGETHER => at.block(),
        _ => 1,
    };
    let arrays = at
        .launch(add_in_shared::entry(), config)
        .arrays(move |device| Output::new(device, threads))
        .check(move |totals| {
            let expected = together.wrapping_mul(steps).wrapping_mul(VALUE);
            check_same(&totals.values()?, &vec![expected; threads])
        });
    // SAFETY: there is a total for each thread, and `case` has seen that there are counters for a block.
    unsafe { arrays.arguments_unchecked(move |totals| (stride, VALUE, steps, totals.view())) }
}
