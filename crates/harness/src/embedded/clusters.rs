//! Shared memory of another block of the cluster.

use kernels_hopper::clusters::{ELEMENTS, chase_neighbour, neighbour_reference, read_neighbour};

use super::latency::chased;
use super::pattern::{sum_of_words, warps};
use super::values::{Output, check_same};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Shared memory of the next block of the cluster, read by so many `blocks` in `passes` passes, in clusters of `cluster`.
pub(crate) struct Neighbour;

impl Workload for Neighbour {
    fn name(&self) -> &str {
        read_neighbour::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("blocks", [8]).help("blocks of the launch"),
            Axis::powers_of_two("cluster", [1, 2, 3]).help("blocks per cluster"),
            Axis::whole("passes", [3]).help("times that a thread reads 8 vectors of 16 bytes"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [blocks, cluster, passes] =
            ["blocks", "cluster", "passes"].map(|axis| at.whole(axis) as u32);
        let config = LaunchConfig::blocks(blocks.into(), at.block());
        let block = at.block();
        let arrays = at
            .launch(read_neighbour::entry(), config)
            .cluster([cluster, 1, 1])
            .arrays(move |device| Output::new(device, warps(config)))
            .check(move |sums| {
                let of_rank = |rank| neighbour_reference(rank, cluster, block, passes);
                let ranks: Vec<u32> = (0..cluster).map(of_rank).collect();
                let expected = (0..blocks).map(|block| ranks[(block % cluster) as usize]);
                let sums = sums.values()?;
                let actual = sums.chunks(sums.len() / blocks as usize).map(sum_of_words);
                check_same(&actual.collect::<Vec<_>>(), &expected.collect::<Vec<_>>())
            });
        // SAFETY: there is a sum for each warp, and blocks are whole warps.
        Ok(unsafe { arrays.arguments_unchecked(move |sums| (passes, sums.view())) })
    }
}

/// So many `loads` through a cycle of `places`, `stride` elements apart, in the shared memory of another block.
pub(crate) struct ChaseNeighbour;

impl Workload for ChaseNeighbour {
    fn name(&self) -> &str {
        chase_neighbour::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        super::latency::Chase::Shared.axes()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        const BLOCKS: u32 = 2;
        let loads = at.size("loads") as u32;
        let launch = at
            .launch(
                chase_neighbour::entry(),
                LaunchConfig::blocks(BLOCKS.into(), 1),
            )
            .cluster([BLOCKS, 1, 1]);
        let arrays = chased(at, launch, ELEMENTS);
        // SAFETY: the cycle's elements are below its length, for which there is room, and there are three words.
        Ok(unsafe {
            arrays.enqueue(move |it, prepared, stream| {
                it.launches += 1;
                let arguments = (it.there.slice(..), loads, it.out.slice_mut(..));
                prepared.launch(stream, &arguments)
            })
        })
    }
}
