//! A chase in one block while others read.

use kernels_gpu::ceilings::busy::{HEAD, chase_while_read};
use kernels_gpu::ceilings::cache::Words;

use super::caches::{chunk_sums, step, words};
use super::latency::{Chase, Chased};
use super::pattern::{sum_of_words, warps};
use super::values::{Output, check_passed, check_same};
use crate::driver::{DeviceBuffer, LaunchConfig};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// So many `loads` through a cycle of `places`, `stride` elements apart, while each of so many `readers` reads a chunk of `steps`
/// steps in each of at most `passes` passes. Beside cycles and nanoseconds it counts the bytes per second that are read.
pub(crate) struct ChaseWhileRead;

/// Arrays of a launch.
struct Arrays {
    chased: Chased,
    x: DeviceBuffer<Words>,
    sums: Output<u32>,
}

impl Workload for ChaseWhileRead {
    fn name(&self) -> &str {
        chase_while_read::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        let of_readers = [
            Axis::whole("readers", [3]).help("blocks that read"),
            Axis::whole("steps", [2]).help("steps of a reader's chunk"),
            Axis::whole("passes", [2]).help("passes of a reader at most"),
        ];
        Chase::Global.axes().into_iter().chain(of_readers).collect()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [places, stride, loads] = ["places", "stride", "loads"].map(|axis| at.size(axis));
        let (readers, most) = (at.size("readers"), at.whole("passes") as u32);
        // In a check the chase may have ended before the launch: then readers take one pass, whatever the order of the blocks.
        let has_ended = at.given("ended") == Some(1);
        let chunk = step(at.block()) * at.size("steps");
        let config = LaunchConfig::blocks(1 + readers as u64, at.block());
        let arrays = at
            .launch(chase_while_read::entry(), config)
            .arrays(move |device| {
                let mut chased = Chased::new(device, places.max(1), stride)?;
                let mut out = vec![0; HEAD + 2 * readers];
                out[2] = chased.next[0].into();
                if has_ended {
                    out[HEAD - 1] = u64::MAX;
                }
                chased.out = device.buffer_from(&out)?;
                let x: Vec<Words> = (0..(readers * chunk) as u32).map(words).collect();
                let sums = Output::new(device, warps(config))?;
                let x = device.buffer_from(&x)?;
                Ok(Arrays { chased, x, sums })
            })
            .check(move |it| {
                it.chased.check(loads)?;
                let passes = it.chased.out.to_vec()?.split_off(HEAD);
                check_passed(&passes)?;
                let least = most.min(1);
                let most = if has_ended { least } else { most };
                let fits = |it: &u64| (least.into()..=most.into()).contains(it);
                let mut taken = passes.iter().step_by(2);
                if let Some(it) = taken.find(|it| !fits(it)) {
                    return Err(format!("a reader took {it} passes, not {least} to {most}").into());
                }
                let chunks = chunk_sums(readers, chunk);
                let of_reader = |(first, of_it): (usize, &[u64])| {
                    let read = (0..of_it[0] as usize).map(|pass| chunks[(first + pass) % readers]);
                    read.fold(0, u32::wrapping_add)
                };
                let expected = passes.chunks(2).enumerate().map(of_reader);
                let sums = it.sums.values()?;
                let actual = sums.chunks(sums.len() / (1 + readers)).map(sum_of_words);
                let expected: Vec<u32> = [0].into_iter().chain(expected).collect();
                check_same(&actual.collect::<Vec<_>>(), &expected)
            })
            .counters(move |it| {
                let out = it.chased.out.to_vec()?;
                let of_pass = (chunk * size_of::<Words>()) as f64;
                let rate = |pair: &[u64]| pair[0] as f64 * of_pass / (pair[1].max(1) as f64 / 1e9);
                let rate: f64 = out[HEAD..].chunks(2).map(rate).sum();
                Ok([out[0], out[1], rate as u64])
            });
        // SAFETY: `cycle` makes elements below the length; x is of whole chunks of whole steps; blocks are whole warps, each with
        // a place for its sum; there are words for each reader, and the fourth is that of the launch before.
        Ok(unsafe {
            arrays.enqueue(move |it, prepared, stream| {
                it.chased.launches += 1;
                let launch = it.chased.launches as u64;
                let (next, x) = (it.chased.there.slice(..), it.x.slice(..));
                let (out, sums) = (it.chased.out.slice_mut(..), it.sums.view());
                prepared.launch(stream, &(next, loads as u32, x, most, launch, out, sums))
            })
        })
    }
}
