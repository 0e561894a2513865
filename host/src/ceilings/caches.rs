//! The caches and shared memory: the same bytes read again and again.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::cache::{UNROLL, Words, read_again, read_shared, shared_reference};

use super::bench::{Bench, highest};
use super::memory::sum_of_words;
use super::{BenchError, Ceiling, Quantity, WorkingSet};
use crate::driver::{DeviceBuffer, LaunchConfig};

/// Threads of a block that reads the caches; there is one block a multiprocessor.
const CACHE_BLOCK: u32 = 512;

/// Threads of a block that reads shared memory.
const SHARED_BLOCK: u32 = 1024;

/// What a block reads at a time: the unit of a chunk.
const STEP_BYTES: u64 = (UNROLL * size_of::<Words>()) as u64 * CACHE_BLOCK as u64;

/// Steps of a chunk. Chunks that stay with their multiprocessor fit into its own cache as long as
/// they are few; those that wander do not, and fit into the level 2 cache all together.
const STEPS: [u64; 10] = [1, 2, 3, 4, 6, 8, 16, 32, 64, 128];

/// Shared memory is faster than the caches, so a launch reads so many times as much of it.
const SHARED_OVER_CACHES: u64 = 8;

/// Whose chunk a block reads in its next pass: its own.
const STAY: u32 = 0;
/// Whose chunk a block reads in its next pass: its neighbour's.
const WANDER: u32 = 1;

pub(super) fn measure(bench: &Bench<'_>) -> Result<(Vec<Ceiling>, Vec<WorkingSet>), BenchError> {
    let (l1, l2, sets) = caches(bench)?;
    let shared = shared(bench)?;
    let found = [l2, l1, Some(shared)].into_iter().flatten().collect();
    Ok((found, sets))
}

type Plateaus = (Option<Ceiling>, Option<Ceiling>, Vec<WorkingSet>);

/// The level 1 plateau is that of chunks that stay; the level 2 plateau that of chunks that wander
/// and fit into that cache together.
fn caches(bench: &Bench<'_>) -> Result<Plateaus, BenchError> {
    let facts = bench.device.properties();
    let shape = bench.per_multiprocessor(1, CACHE_BLOCK);
    let blocks = shape.grid[0];
    let l2_bytes = facts.gpu.as_ref().map_or(u64::MAX, |gpu| gpu.l2_bytes);
    let largest = if facts.is_emulated() {
        2
    } else {
        STEPS[STEPS.len() - 1]
    };
    let x = Array::new(bench, blocks * largest * STEP_BYTES)?;
    let (mut l1, mut l2, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    for steps in STEPS.into_iter().filter(|&steps| steps <= largest) {
        let total = blocks * steps * STEP_BYTES;
        l1.push(again(bench, &x, total, shape, Quantity::L1Read, STAY)?);
        let wandering = again(bench, &x, total, shape, Quantity::L2Read, WANDER)?;
        let stayed = l1[l1.len() - 1].value;
        sets.push(working_set(steps * STEP_BYTES, total, stayed));
        sets.push(working_set(total, total, wandering.value));
        if total <= l2_bytes {
            l2.push(wandering);
        }
    }
    sets.sort_by_key(|set| set.bytes_per_multiprocessor);
    Ok((highest(l1), highest(l2), sets))
}

fn working_set(bytes_per_multiprocessor: u64, bytes: u64, bytes_per_sec: f64) -> WorkingSet {
    WorkingSet {
        bytes,
        bytes_per_multiprocessor,
        bytes_per_sec,
    }
}

/// [`words`], here and on the device.
struct Array {
    here: Vec<Words>,
    there: DeviceBuffer<Words>,
}

impl Array {
    fn new(bench: &Bench<'_>, bytes: u64) -> Result<Array, BenchError> {
        let here: Vec<Words> = (0..(bytes / size_of::<Words>() as u64) as u32)
            .map(words)
            .collect();
        let there = bench.device.buffer_from(&here)?;
        Ok(Array { here, there })
    }
}

/// Element `i` of an array: words without regularity.
pub(crate) fn words(i: u32) -> Words {
    [i, !i, i.wrapping_mul(0x9E37_79B1), i ^ 0x5555]
}

/// The rate at which the first `total` bytes of `x` are read again and again.
fn again(
    bench: &Bench<'_>,
    x: &Array,
    total: u64,
    shape: LaunchConfig,
    quantity: Quantity,
    shift: u32,
) -> Result<Ceiling, BenchError> {
    let passes = bench.effort.cache_bytes.div_ceil(total).max(2) as u32;
    let len = total as usize / size_of::<Words>();
    let mut sums = sums_of(bench, shape)?;
    let arguments = (x.there.slice(..len), passes, shift, sums.slice_mut(..));
    // SAFETY: the length is a multiple of what the grid reads at a time, since `total` is of blocks
    // times STEP_BYTES; there is a sum for each warp.
    let timed = unsafe { bench.time(read_again::entry(), shape, &arguments) }?;
    let once = sum_of_words(x.here[..len].as_flattened());
    let expected = once.wrapping_mul(passes);
    timed.check(
        "the sum of the words",
        sum_of_words(&sums.to_vec()?),
        expected,
    )?;
    Ok(timed.rate(quantity, total as f64 * f64::from(passes), bench))
}

fn shared(bench: &Bench<'_>) -> Result<Ceiling, BenchError> {
    let shape = bench.per_multiprocessor(1, SHARED_BLOCK);
    let blocks = shape.grid[0];
    let of_pass = blocks * u64::from(SHARED_BLOCK) * (UNROLL * size_of::<Words>()) as u64;
    let passes = bench.effort.cache_bytes.div_ceil(of_pass).max(2) * SHARED_OVER_CACHES;
    let passes = passes as u32;
    let mut sums = sums_of(bench, shape)?;
    // SAFETY: there is a sum for each warp, and blocks are whole warps.
    let timed = unsafe { bench.time(read_shared::entry(), shape, &(passes, sums.slice_mut(..))) }?;
    let expected = shared_reference(blocks as u32, SHARED_BLOCK, passes);
    timed.check(
        "the sum of the words",
        sum_of_words(&sums.to_vec()?),
        expected,
    )?;
    Ok(timed.rate(
        Quantity::SharedRead,
        of_pass as f64 * f64::from(passes),
        bench,
    ))
}

fn sums_of(bench: &Bench<'_>, shape: LaunchConfig) -> Result<DeviceBuffer<u32>, BenchError> {
    let warps = shape.grid[0] * shape.block_threads() / u64::from(WARP);
    Ok(bench.device.buffer_filled(warps as usize, 0)?)
}
