//! Shuffles and votes, each of which waits for the one before.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::exchange::{LINE, shuffle, value, vote};

use super::values::{Output, check_passed, check_same};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// An operation of the lanes of `n` threads' warps in each of so many `steps`.
#[derive(Clone, Copy)]
pub(crate) enum Exchange {
    /// They take their neighbour's value.
    Shuffle,
    /// They vote.
    Vote,
}

impl Workload for Exchange {
    fn name(&self) -> &str {
        match self {
            Exchange::Shuffle => shuffle::entry().name(),
            Exchange::Vote => vote::entry().name(),
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 16]).help("threads"),
            Axis::whole("steps", [1024]).help("shuffles or votes per thread"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let lines = lines(at.whole("steps"));
        let config = LaunchConfig::linear(at.size("n") as u64, at.block());
        let blocks = config.grid[0] as usize;
        let threads = blocks * config.block_threads() as usize;
        let entry = match self {
            Exchange::Shuffle => shuffle::entry(),
            Exchange::Vote => vote::entry().with_signature(),
        };
        let of = *self;
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| Ok((Output::new(device, threads)?, Output::new(device, blocks)?)))
            .check(move |(values, clocks)| {
                check_passed(clocks.values()?.as_flattened())?;
                let expected = (0..threads as u32).map(|thread| of.expected(thread, lines * LINE));
                check_same(&values.values()?, &expected.collect::<Vec<_>>())
            })
            .counters(|(_, clocks)| Ok(clocks.values()?[0]));
        // SAFETY: there is a value for each thread and a clock for each block, and blocks are whole warps.
        Ok(unsafe {
            arrays
                .arguments_unchecked(move |(values, clocks)| (lines, values.view(), clocks.view()))
        })
    }
}

/// Lines of steps of a thread: at least one.
pub(crate) fn lines(steps: u64) -> u32 {
    (steps as u32 / LINE).max(1)
}

impl Exchange {
    /// Returns a thread's value after so many steps.
    fn expected(self, thread: u32, steps: u32) -> u32 {
        match self {
            Exchange::Shuffle => {
                let lane = thread % WARP;
                value(thread - lane + (lane + steps) % WARP)
            }
            // The first vote does not have all lanes.
            Exchange::Vote => steps % 2,
        }
    }
}
