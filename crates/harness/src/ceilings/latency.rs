//! Latencies of a load that waits for the one before, of a launch, of a node of a graph and of a barrier of a grid.

use std::ops::ControlFlow;

use kernels_gpu::ceilings::chase::SHARED_ELEMENTS;

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::latency::{Barrier, Chase};
use crate::study::{DispatchRow, Rounds, dispatch};
use crate::workload::{GridSize, Workload};

/// A cycle through so many places, each on a cache line of its own.
const fn lines(bytes: u64) -> (u64, u64) {
    /// Bytes.
    const LINE: u64 = 128;
    (bytes / LINE, LINE / size_of::<u32>() as u64)
}

/// Places and elements from one to the next of cycles through far more bytes than a level 2 cache has, well within one, and
/// well within a level 1 cache; and through shared memory.
pub(super) const MEMORY: (u64, u64) = lines(512 << 20);
pub(super) const L2: (u64, u64) = lines(8 << 20);
const L1: (u64, u64) = lines(32 << 10);
pub(super) const SHARED: (u64, u64) = (SHARED_ELEMENTS as u64, 1);
/// As many places as the emulator has time for.
const EMULATED: u64 = SHARED.0;

/// Threads of a block at the barrier; there is one block per multiprocessor.
const BLOCK: u32 = 256;

/// Of loads.
pub(super) fn loads(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let chases: [(Quantity, &dyn Workload, (u64, u64)); 4] = [
        (Quantity::MemoryLatency, &Chase::Global, MEMORY),
        (Quantity::L2Latency, &Chase::Global, L2),
        (Quantity::L1Latency, &Chase::Global, L1),
        (Quantity::SharedLatency, &Chase::Shared, SHARED),
    ];
    let time = |(quantity, chased, cycle)| chase(bench, quantity, chased, cycle);
    chases.into_iter().map(time).collect()
}

/// Measures a step of a chase through a cycle of so many places, so many elements apart.
pub(super) fn chase(
    bench: &Bench<'_>,
    quantity: Quantity,
    chase: &dyn Workload,
    chased: (u64, u64),
) -> Result<Ceiling, BenchError> {
    let (places, stride) = cycle(bench, chased);
    let loads = u64::from(bench.effort.loads);
    let values = [
        ("places", places.into()),
        ("stride", stride.into()),
        ("loads", loads.into()),
    ];
    let timed = bench.measure(chase, &values, 1, GridSize::Full)?;
    Ok(timed.latency(quantity, loads as f64, bench))
}

/// As many of the places of a cycle as the device has time for.
pub(super) fn cycle(bench: &Bench<'_>, (places, stride): (u64, u64)) -> (u64, u64) {
    match bench.device.properties().is_emulated() {
        true => (places.min(EMULATED), stride),
        false => (places, stride),
    }
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
