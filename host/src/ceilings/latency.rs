//! What a load takes that waits for the one before: a chase through a random cycle.

use cuda_std::launch::Entry;
use kernels_gpu::ceilings::chase::{SHARED_ELEMENTS, chase, chase_shared};

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::driver::LaunchConfig;

/// Bytes of a cache line.
const LINE: usize = 128;

const ELEMENT: usize = size_of::<u32>();

/// Bytes that are far more than a level 2 cache, well within one, and well within a level 1 cache.
const MEMORY: usize = 512 << 20;
const L2: usize = 8 << 20;
const L1: usize = 32 << 10;
/// As much as the emulator has time for.
const EMULATED: usize = 64 << 10;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let emulated = bench.device.properties().is_emulated();
    let bytes = |bytes: usize| if emulated { bytes.min(EMULATED) } else { bytes };
    let in_lines = |bytes: usize| cycle(bytes / LINE, LINE / ELEMENT);
    let (global, shared) = (chase::entry(), chase_shared::entry().with_signature());
    Ok(vec![
        time(
            bench,
            Quantity::MemoryLatency,
            global,
            &in_lines(bytes(MEMORY)),
        )?,
        time(bench, Quantity::L2Latency, global, &in_lines(bytes(L2)))?,
        time(bench, Quantity::L1Latency, global, &in_lines(bytes(L1)))?,
        time(
            bench,
            Quantity::SharedLatency,
            shared,
            &cycle(SHARED_ELEMENTS, 1),
        )?,
    ])
}

/// An array of `count` places, `stride` elements apart, each of which holds the next: in a random
/// order, which comes to all of them (S. Sattolo, "An algorithm to generate a random cyclic
/// permutation", Information Processing Letters 22, 1986).
pub(crate) fn cycle(count: usize, stride: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut next: Vec<u32> = (0..count as u32).collect();
    for i in (1..count).rev() {
        next.swap(i, random.usize(..i));
    }
    let mut array = vec![0; count * stride];
    for (i, next) in next.into_iter().enumerate() {
        array[i * stride] = next * stride as u32;
    }
    array
}

fn time(
    bench: &Bench<'_>,
    quantity: Quantity,
    entry: Entry<chase>,
    next: &[u32],
) -> Result<Ceiling, BenchError> {
    let loads = bench.effort.loads;
    let buffer = bench.device.buffer_from(next)?;
    let mut out = bench.device.buffer_filled(3, 0u64)?;
    // SAFETY: `cycle` makes elements below the length, `chase_shared` gets no more elements than it
    // has room for, and there are three words for the one thread.
    let timed = unsafe {
        bench.time(
            entry,
            LaunchConfig::blocks(1, 1),
            &(buffer.slice(..), loads, out.slice_mut(..)),
        )
    }?;
    let [cycles, nanoseconds, at] = out.to_vec()?[..] else {
        unreachable!("three words");
    };
    // Each launch goes on where the one before has ended.
    let runs = bench.effort.runs;
    let all = u64::from(loads) * u64::from(runs.warmup + runs.timed);
    let end = (0..all).fold(0, |at, _| next[at as usize]);
    timed.check("the element that the chase ends at", at, u64::from(end))?;
    Ok(timed.latency(quantity, [cycles, nanoseconds], f64::from(loads), bench))
}
