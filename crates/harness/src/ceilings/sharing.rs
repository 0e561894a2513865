//! Ceilings of what threads share: the banks of shared memory, counters that they add to, values of their warp, and a
//! block's barrier.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::banks::UNROLL;
use kernels_gpu::ceilings::exchange::LINE;

use super::bench::Bench;
use super::latency::{L2, SHARED, chase};
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::atomics::{APART, Additions, TOGETHER};
use crate::embedded::banks::{Banks, WAYS};
use crate::embedded::exchange::{Exchange, lines};
use crate::embedded::latency::{BlockBarrier, Chase, block_barriers};
use crate::workload::{GridSize, Value, Workload};

/// Threads per block of what all multiprocessors do.
const BLOCK: u32 = 1024;

const BANKS: [Quantity; 6] = [
    Quantity::SharedWays1,
    Quantity::SharedWays2,
    Quantity::SharedWays4,
    Quantity::SharedWays8,
    Quantity::SharedWays16,
    Quantity::SharedWays32,
];

/// Threads of a block at its barrier.
const BARRIERS: [(Quantity, u32); 5] = [
    (Quantity::BlockBarrier32, 32),
    (Quantity::BlockBarrier128, 128),
    (Quantity::BlockBarrier256, 256),
    (Quantity::BlockBarrier512, 512),
    (Quantity::BlockBarrier1024, 1024),
];

/// A thread reads a bank as often as it shuffles, but adds to counters less often, because an addition takes longer, and to
/// one counter of all threads far longer.
const ADDITIONS: [(Additions, u64, u32, Quantity); 4] = [
    (Additions::Global, TOGETHER, 256, Quantity::AtomicTogether),
    (Additions::Global, APART, 16, Quantity::AtomicApart),
    (
        Additions::Shared,
        TOGETHER,
        16,
        Quantity::SharedAtomicTogether,
    ),
    (Additions::Shared, APART, 16, Quantity::SharedAtomicApart),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let mut found = Vec::new();
    for (ways, quantity) in WAYS.into_iter().zip(BANKS) {
        let passes = (bench.effort.accesses / UNROLL as u32).max(1);
        let values = [("stride", ways.into()), ("passes", passes.into())];
        let bytes = f64::from(passes) * (UNROLL * size_of::<u32>()) as f64;
        found.push(rate(bench, quantity, &Banks, &values, bytes)?);
    }
    for (additions, stride, fewer, quantity) in ADDITIONS {
        let steps = (bench.effort.accesses / fewer).max(1);
        let values = [("stride", stride.into()), ("steps", steps.into())];
        found.push(rate(bench, quantity, &additions, &values, steps.into())?);
    }
    for (exchange, quantity) in [
        (Exchange::Shuffle, Quantity::Shuffle),
        (Exchange::Vote, Quantity::Vote),
    ] {
        let steps = lines(bench.effort.accesses.into()) * LINE;
        let values = [("steps", steps.into())];
        found.push(rate(bench, quantity, &exchange, &values, steps.into())?);
    }
    found.extend(latencies(bench)?);
    Ok(found)
}

/// The rate of as many threads as the device holds, each of which does `amount`: bytes or operations.
fn rate(
    bench: &Bench<'_>,
    quantity: Quantity,
    workload: &dyn Workload,
    values: &[(&'static str, Value)],
    amount: f64,
) -> Result<Ceiling, BenchError> {
    let facts = bench.device.properties();
    let threads = facts.multiprocessors * facts.limits.threads_per_multiprocessor;
    let values = [&[("n", threads.into())], values].concat();
    let timed = bench.measure(workload, &values, BLOCK, GridSize::Full)?;
    Ok(timed.rate(quantity, f64::from(threads) * amount, bench))
}

/// Measures the latencies of operations that wait for the one before.
fn latencies(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let mut found = vec![
        chase(bench, Quantity::AtomicLatency, &Chase::Atomic, L2)?,
        chase(
            bench,
            Quantity::SharedAtomicLatency,
            &Chase::SharedAtomic,
            SHARED,
        )?,
    ];
    for (exchange, quantity) in [
        (Exchange::Shuffle, Quantity::ShuffleLatency),
        (Exchange::Vote, Quantity::VoteLatency),
    ] {
        let steps = lines(bench.effort.loads.into()) * LINE;
        let values = [("n", WARP.into()), ("steps", steps.into())];
        let timed = bench.measure(&exchange, &values, WARP, GridSize::Full)?;
        found.push(timed.latency(quantity, steps.into(), bench));
    }
    for (quantity, block) in BARRIERS {
        let barriers = block_barriers(bench.effort.loads.into());
        let values = [("barriers", barriers.into())];
        let timed = bench.measure(&BlockBarrier, &values, block, GridSize::Full)?;
        found.push(timed.latency(quantity, barriers.into(), bench));
    }
    Ok(found)
}
