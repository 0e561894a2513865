//! The caches and shared memory: the same bytes read again and again.

use kernels_gpu::ceilings::cache::{UNROLL, Words, read_again, read_shared, shared_reference};

use super::pattern::{sum_of_words, warps};
use super::values::{Output, check_same};
use crate::driver::LaunchConfig;
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// `n` vectors of 16 bytes in chunks of `steps` steps, one for each block, read in `passes` passes: in each a
/// block takes the chunk of the block that is `shift` further on.
pub(crate) struct Again;

/// Returns the vectors that a block of so many threads reads at a time.
pub(crate) fn step(block: u32) -> usize {
    UNROLL * block as usize
}

impl Workload for Again {
    fn name(&self) -> &str {
        "read_again"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 16]).help("vectors of 16 bytes"),
            Axis::whole("steps", [2]).help("steps of a block's chunk"),
            passes(),
            Axis::whole("shift", [0, 1])
                .within(0..=1)
                .help("blocks from a pass's chunk to the next pass's"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let chunk = step(at.block()) * at.size("steps");
        let [passes, shift] = ["passes", "shift"].map(|axis| at.whole(axis) as u32);
        let blocks = match chunk {
            // However many are empty, there is nothing to read.
            0 => 2,
            _ => at.size("n").div_ceil(chunk).max(1),
        };
        let config = LaunchConfig::blocks(blocks as u64, at.block());
        let arrays = at
            .launch(read_again::entry(), config)
            .arrays(move |device| {
                let x: Vec<Words> = (0..(blocks * chunk) as u32).map(words).collect();
                Ok((device.buffer_from(&x)?, Output::new(device, warps(config))?))
            })
            .check(move |(_, sums)| {
                let chunks = chunk_sums(blocks, chunk);
                let of_block = |block: usize| {
                    let read = (0..passes as usize).map(|pass| block + pass * shift as usize);
                    read.map(|chunk| chunks[chunk % blocks])
                        .fold(0, u32::wrapping_add)
                };
                let expected: Vec<u32> = (0..blocks).map(of_block).collect();
                let sums = sums.values()?;
                let actual = sums.chunks(sums.len() / blocks).map(sum_of_words);
                check_same(&actual.collect::<Vec<_>>(), &expected)
            });
        // SAFETY: x is of whole chunks of whole steps, and there is a sum for each warp.
        let case = unsafe {
            arrays.arguments_unchecked(move |(x, sums)| (x.slice(..), passes, shift, sums.view()))
        };
        // What memory moves is left to be counted: the caches deliver the rest.
        Ok(case)
    }
}

/// Shared memory, read by `n` threads in `passes` passes.
pub(crate) struct Shared;

impl Workload for Shared {
    fn name(&self) -> &str {
        "read_shared"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("n", [1 << 16]).help("threads"), passes()]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let passes = at.whole("passes") as u32;
        let config = LaunchConfig::linear(at.size("n") as u64, at.block());
        let (blocks, block) = (config.grid[0] as u32, at.block());
        let arrays = at
            .launch(read_shared::entry(), config)
            .arrays(move |device| Output::new(device, warps(config)))
            .check(move |sums| {
                let expected = shared_reference(blocks, block, passes);
                check_same(&[sum_of_words(&sums.values()?)], &[expected])
            });
        // SAFETY: there is a sum for each warp, and blocks are whole warps.
        Ok(unsafe { arrays.arguments_unchecked(move |sums| (passes, sums.view())) })
    }
}

fn passes() -> Axis {
    Axis::whole("passes", [3]).help("times that all is read")
}

/// The wrapping sums of the words of so many chunks, of so many elements each.
pub(super) fn chunk_sums(chunks: usize, elements: usize) -> Vec<u32> {
    let of_chunk = |number: usize| {
        let words = (number * elements..(number + 1) * elements).map(|i| words(i as u32));
        words.fold(0, |sum: u32, it| sum.wrapping_add(sum_of_words(&it)))
    };
    (0..chunks).map(of_chunk).collect()
}

/// Element `i` of an array: words without regularity.
pub(super) fn words(i: u32) -> Words {
    [i, !i, i.wrapping_mul(0x9E37_79B1), i ^ 0x5555]
}
