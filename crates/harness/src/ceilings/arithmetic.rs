//! Arithmetic: rates of many chains, and times of one.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::chains::{
    AddMulF16x2, AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, MadI32, Measured,
};

use super::bench::{Bench, Timed, clock_of, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::driver::DeviceValue;
use crate::embedded::chains::{Chains, lines};
use crate::workload::GridSize;

/// Threads per block, and blocks per multiprocessor: as many threads as it holds.
const BLOCK: u32 = 256;
const BLOCKS: u32 = 8;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let rates = [
        rate::<FmaF32>(bench, Quantity::FmaF32)?,
        rate::<AddMulF32>(bench, Quantity::AddMulF32)?,
        rate::<FmaF64>(bench, Quantity::FmaF64)?,
        rate::<FmaF16x2>(bench, Quantity::FmaF16x2)?,
        rate::<FmaBf16x2>(bench, Quantity::FmaBf16x2)?,
        rate::<AddMulF16x2>(bench, Quantity::AddMulF16x2)?,
        rate::<MadI32>(bench, Quantity::MadI32)?,
        rate::<Exp2F32>(bench, Quantity::Exp2F32)?,
    ];
    let latencies = [
        latency::<FmaF32>(bench, Quantity::FmaF32Latency)?,
        latency::<FmaF64>(bench, Quantity::FmaF64Latency)?,
        latency::<FmaF16x2>(bench, Quantity::FmaF16x2Latency)?,
        latency::<Exp2F32>(bench, Quantity::Exp2F32Latency)?,
    ];
    Ok(rates.into_iter().flatten().chain(latencies).collect())
}

/// The highest rate of any number of chains, on all multiprocessors.
fn rate<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    quantity: Quantity,
) -> Result<Option<Ceiling>, BenchError> {
    let threads = BLOCKS * BLOCK * bench.device.properties().multiprocessors;
    let mut ceilings = Vec::new();
    for variant in O::VARIANTS {
        let timed = chains::<O>(bench, variant.chains, threads, BLOCK)?;
        let operations = f64::from(threads) * steps::<O>(bench) * O::OPERATIONS;
        ceilings.push(Ceiling {
            clock_hz: timed.counters.and_then(clock_of),
            ..timed.rate(quantity, operations, bench)
        });
    }
    Ok(highest(ceilings))
}

/// Measures a step that waits for the one before: one chain in one warp.
fn latency<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    quantity: Quantity,
) -> Result<Ceiling, BenchError> {
    let timed = chains::<O>(bench, 1, WARP, WARP)?;
    Ok(timed.latency(quantity, steps::<O>(bench), bench))
}

fn chains<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    chains: u32,
    threads: u32,
    block: u32,
) -> Result<Timed, BenchError> {
    let values = [
        ("ilp", chains.into()),
        ("steps", bench.effort.steps.into()),
        ("n", threads.into()),
    ];
    bench.measure(&Chains::<O>::NEW, &values, block, GridSize::Full)
}

/// Steps of a thread.
fn steps<O: Measured>(bench: &Bench<'_>) -> f64 {
    f64::from(lines::<O>(bench.effort.steps.into()) * O::LINE)
}
