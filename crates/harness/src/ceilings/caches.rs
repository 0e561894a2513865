//! The caches and shared memory: the same bytes read again and again.

use kernels_gpu::ceilings::cache::Words;

use super::bench::{Bench, highest};
use super::{BenchError, Ceiling, Quantity, WorkingSet};
use crate::embedded::caches::{Again, Shared, step};
use crate::workload::GridSize;

/// Threads of a block that reads the caches; there is one block per multiprocessor.
const CACHE_BLOCK: u32 = 512;

/// Threads of a block that reads shared memory.
const SHARED_BLOCK: u32 = 1024;

const WORDS: u64 = size_of::<Words>() as u64;

/// Steps of a chunk. Chunks that stay with their multiprocessor fit into its own cache as long as
/// they are few; those that wander do not, and fit into the level 2 cache all together.
const STEPS: [u64; 10] = [1, 2, 3, 4, 6, 8, 16, 32, 64, 128];

/// Shared memory is faster than the caches, so a launch reads so many times as much of it.
const SHARED_OVER_CACHES: u64 = 8;

/// Whose chunk a block reads in its next pass: its own.
const STAY: u64 = 0;
/// Whose chunk a block reads in its next pass: its neighbour's.
const WANDER: u64 = 1;

/// The level 1 plateau is that of chunks that stay; the level 2 plateau that of chunks that wander
/// and fit into that cache together.
pub(super) fn measure(bench: &Bench<'_>) -> Result<(Vec<Ceiling>, Vec<WorkingSet>), BenchError> {
    let facts = bench.device.properties();
    let l2_bytes = facts.gpu.as_ref().map_or(u64::MAX, |gpu| gpu.l2_bytes);
    let largest = if facts.is_emulated() {
        2
    } else {
        STEPS[STEPS.len() - 1]
    };
    let (mut l1, mut l2, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    for steps in STEPS.into_iter().filter(|&steps| steps <= largest) {
        let chunk = steps * step(CACHE_BLOCK) as u64 * WORDS;
        let total = u64::from(facts.multiprocessors) * chunk;
        let staying = again(bench, steps, total, STAY, Quantity::L1Read)?;
        let wandering = again(bench, steps, total, WANDER, Quantity::L2Read)?;
        sets.push(working_set(chunk, total, staying.value));
        sets.push(working_set(total, total, wandering.value));
        l1.push(staying);
        if total <= l2_bytes {
            l2.push(wandering);
        }
    }
    sets.sort_by_key(|set| set.bytes_per_multiprocessor);
    let found = [highest(l2), highest(l1), Some(shared(bench)?)];
    Ok((found.into_iter().flatten().collect(), sets))
}

fn working_set(bytes_per_multiprocessor: u64, bytes: u64, bytes_per_sec: f64) -> WorkingSet {
    WorkingSet {
        bytes,
        bytes_per_multiprocessor,
        bytes_per_sec,
    }
}

/// The rate at which `total` bytes are read again and again.
fn again(
    bench: &Bench<'_>,
    steps: u64,
    total: u64,
    shift: u64,
    quantity: Quantity,
) -> Result<Ceiling, BenchError> {
    let passes = passes(bench, total);
    let values = [
        ("n", (total / WORDS).into()),
        ("steps", steps.into()),
        ("passes", passes.into()),
        ("shift", shift.into()),
    ];
    let timed = bench.measure(&Again, &values, CACHE_BLOCK, GridSize::Full)?;
    Ok(timed.rate(quantity, (passes * total) as f64, bench))
}

fn shared(bench: &Bench<'_>) -> Result<Ceiling, BenchError> {
    let blocks = u64::from(bench.device.properties().multiprocessors);
    let of_pass = blocks * step(SHARED_BLOCK) as u64 * WORDS;
    let passes = passes(bench, of_pass) * SHARED_OVER_CACHES;
    let values = [
        ("n", (blocks * u64::from(SHARED_BLOCK)).into()),
        ("passes", passes.into()),
    ];
    let timed = bench.measure(&Shared, &values, SHARED_BLOCK, GridSize::Full)?;
    Ok(timed.rate(Quantity::SharedRead, (passes * of_pass) as f64, bench))
}

/// As many as a sweep takes, of so many bytes each.
fn passes(bench: &Bench<'_>, bytes: u64) -> u64 {
    bench.effort.cache_bytes.div_ceil(bytes).max(2)
}
