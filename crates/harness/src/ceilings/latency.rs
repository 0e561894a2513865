//! What a load takes that waits for the one before, and what a launch, a node of a graph and a barrier of a
//! grid take.

use std::ops::ControlFlow;

use kernels_gpu::ceilings::chase::SHARED_ELEMENTS;

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::latency::{Barrier, Chase};
use crate::study::{DispatchRow, Rounds, dispatch};
use crate::workload::GridSize;

/// Bytes of a cache line.
const LINE: u64 = 128;

const ELEMENT: u64 = size_of::<u32>() as u64;

/// Bytes that are far more than a level 2 cache, well within one, and well within a level 1 cache.
const MEMORY: u64 = 512 << 20;
const L2: u64 = 8 << 20;
const L1: u64 = 32 << 10;
/// As much as the emulator has time for.
const EMULATED: u64 = 64 << 10;

/// Threads of a block at the barrier; there is one block per multiprocessor.
const BLOCK: u32 = 256;

/// Of loads.
pub(super) fn loads(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let loads = u64::from(bench.effort.loads);
    let most = match bench.device.properties().is_emulated() {
        true => EMULATED,
        false => u64::MAX,
    };
    let lines = |bytes: u64| (Chase::Global, bytes.min(most) / LINE, LINE / ELEMENT);
    let shared = (Chase::Shared, SHARED_ELEMENTS as u64, 1);
    let chases = [
        (Quantity::MemoryLatency, lines(MEMORY)),
        (Quantity::L2Latency, lines(L2)),
        (Quantity::L1Latency, lines(L1)),
        (Quantity::SharedLatency, shared),
    ];
    let time = |(quantity, (chase, places, stride)): (Quantity, (Chase, u64, u64))| {
        let values = [
            ("places", places.into()),
            ("stride", stride.into()),
            ("loads", loads.into()),
        ];
        let timed = bench.measure(&chase, &values, 1, GridSize::Full)?;
        Ok(timed.latency(quantity, loads as f64, bench))
    };
    chases.into_iter().map(time).collect()
}

/// Of launches and barriers.
pub(super) fn launches(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let rounds = Rounds {
        rounds: bench.effort.runs.timed,
        iterations: bench.effort.launches,
    };
    let rows = dispatch(bench.device, rounds, &mut || ControlFlow::Continue(()))
        .map_err(|error| BenchError::Launches(Box::new(error)))?;
    let of = |name: &str, quantity, us: fn(&DispatchRow) -> f64| {
        let row = rows.iter().find(|row| row.dispatch == name)?;
        Some(launch(quantity, row, us(row)))
    };
    let found = [
        of("no barrier", Quantity::LaunchEnqueue, |row| row.host_us),
        of("a barrier each launch", Quantity::LaunchAndWait, |row| {
            row.complete_us
        }),
        of("a graph", Quantity::GraphNode, |row| row.device_us),
        Some(grid_barrier(bench)?),
    ];
    Ok(found.into_iter().flatten().collect())
}

fn launch(quantity: Quantity, row: &DispatchRow, us: f64) -> Ceiling {
    Ceiling {
        quantity,
        unit: quantity.unit(),
        value: us / 1e6,
        datasheet: None,
        variant: format!("{} launches, {}", row.launches, row.dispatch),
        median_ms: us / 1e3,
        rms_percent: None,
        clock_hz: None,
        cycles: None,
        device: row.device.clone(),
    }
}

fn grid_barrier(bench: &Bench<'_>) -> Result<Ceiling, BenchError> {
    let rounds = u64::from(bench.effort.launches);
    let multiprocessors = u64::from(bench.device.properties().multiprocessors);
    let values = [
        ("barriers", rounds.into()),
        ("blocks", multiprocessors.into()),
    ];
    let timed = bench.measure(&Barrier, &values, BLOCK, GridSize::Full)?;
    Ok(timed.latency(Quantity::GridBarrier, rounds as f64, bench))
}
