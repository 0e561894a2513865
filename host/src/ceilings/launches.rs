//! What a launch, a node of a graph and a barrier of a grid take.

use std::ops::ControlFlow;

use kernels_gpu::ceilings::barrier::wait_for_grid;

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::driver::LaunchConfig;
use crate::measure;
use crate::study::{DispatchRow, Rounds, dispatch};

/// Threads of a block at the barrier; there is one block a multiprocessor.
const BLOCK: u32 = 256;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
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
    let rounds = bench.effort.launches;
    let entry = wait_for_grid::entry();
    let one = bench
        .device
        .prepare(entry, LaunchConfig::blocks(1, BLOCK))?;
    let multiprocessors = u64::from(bench.device.properties().multiprocessors);
    let blocks = multiprocessors.min(bench.device.blocks_at_once(&one)?);
    let shape = LaunchConfig::blocks(blocks, BLOCK);
    let prepared = bench.device.prepare_cooperative(entry, shape)?;
    let mut arrivals = bench.device.buffer_filled(1, 0u32)?;
    let mut out = bench.device.buffer_filled(3, 0u64)?;
    let arguments = (rounds, arrivals.slice_mut(..), out.slice_mut(..));
    // SAFETY: a cooperative launch, a count that begins with 0, and three words.
    let samples =
        unsafe { measure::time(&prepared, &bench.stream, &arguments, bench.effort.runs) }?;
    let timed = bench.timed(prepared.name(), shape, &samples)?;
    let [cycles, nanoseconds, passed] = out.to_vec()?[..] else {
        unreachable!("three words");
    };
    timed.check("barriers passed", passed, u64::from(rounds))?;
    let counters = [cycles, nanoseconds];
    Ok(timed.latency(Quantity::GridBarrier, counters, rounds.into(), bench))
}
