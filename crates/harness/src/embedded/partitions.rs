//! Lines of the level 2 cache, each load timed by itself.

use kernels_gpu::ceilings::partitions::{LINE, LINES, element, next, time_lines};

use super::latency::counted;
use super::values::{Output, check_passed, check_same};
use crate::driver::{DeviceBuffer, LaunchConfig};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// The lines of so many `blocks`. Beside cycles and nanoseconds it counts the cycles of each load, block by block.
pub(crate) struct Lines;

/// Arrays of a launch.
struct Arrays {
    words: DeviceBuffer<u32>,
    cycles: Output<u32>,
    out: Output<u64>,
}

impl Workload for Lines {
    fn name(&self) -> &str {
        time_lines::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("blocks", [4]).help("blocks of the launch")]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let blocks = at.whole("blocks").max(1) as u32;
        let arrays = at
            .launch(time_lines::entry(), LaunchConfig::blocks(blocks.into(), 1))
            .arrays(move |device| {
                Ok(Arrays {
                    words: device.buffer_from(&lines(blocks))?,
                    cycles: Output::new(device, (blocks * LINES) as usize)?,
                    out: Output::new(device, 2)?,
                })
            })
            .check(move |it| {
                // A place that has been written is of a line that was loaded.
                let cycles = it.cycles.values()?;
                if cycles.iter().any(|&it| it > 1 << 30) {
                    return Err("a load took more than 2^30 cycles".into());
                }
                check_passed(&it.out.values()?)?;
                check_same(&it.words.to_vec()?, &lines(blocks))
            })
            .counters(|it| {
                let cycles = it.cycles.values()?.into_iter().map(u64::from);
                let of_all = counted(&it.out.values()?)?;
                Ok(of_all.into_iter().chain(cycles).collect::<Vec<u64>>())
            });
        // SAFETY: the words are those of so many blocks, each of whose lines has a place; there are two words for the clocks.
        Ok(unsafe {
            arrays.arguments_unchecked(move |it| {
                (it.words.slice_mut(..), it.cycles.view(), it.out.view())
            })
        })
    }
}

/// The lines of so many blocks: the first word of each is the block's next.
fn lines(blocks: u32) -> Vec<u32> {
    let mut words = vec![0; (blocks * LINES * LINE) as usize];
    for block in 0..blocks {
        for line in 0..LINES {
            words[element(line, block, blocks) as usize] = next(line);
        }
    }
    words
}
