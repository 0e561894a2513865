//! Arithmetic: rates of many chains, and times of one.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::chains::{
    AddMulF16x2, AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, LANES, MadI32, Measured,
    Variant,
};

use super::bench::{Bench, Timed, clock_of, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::driver::{DeviceValue, LaunchConfig};

/// Threads a block, and blocks a multiprocessor: as many threads as it holds.
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
    Ok(rates.into_iter().chain(latencies).flatten().collect())
}

/// The highest rate of any number of chains, on all multiprocessors.
fn rate<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    quantity: Quantity,
) -> Result<Option<Ceiling>, BenchError> {
    let shape = bench.per_multiprocessor(BLOCKS, BLOCK);
    let threads = (shape.grid[0] * shape.block_threads()) as f64;
    let steps = threads * f64::from(lines::<O>(bench) * O::LINE);
    let mut ceilings = Vec::new();
    for variant in O::VARIANTS {
        let (timed, counters) = run(bench, variant, shape)?;
        ceilings.push(Ceiling {
            clock_hz: clock_of(counters),
            ..timed.rate(quantity, steps * O::OPERATIONS, bench)
        });
    }
    Ok(highest(ceilings))
}

/// What a step takes that waits for the one before: one chain in one warp.
fn latency<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    quantity: Quantity,
) -> Result<Option<Ceiling>, BenchError> {
    let Some(variant) = O::VARIANTS.iter().find(|variant| variant.chains == 1) else {
        return Ok(None);
    };
    let (timed, counters) = run(bench, variant, LaunchConfig::blocks(1, WARP))?;
    let steps = f64::from(lines::<O>(bench) * O::LINE);
    Ok(Some(timed.latency(quantity, counters, steps, bench)))
}

/// Lines of a thread, at least one.
fn lines<O: Measured>(bench: &Bench<'_>) -> u32 {
    (bench.effort.steps / O::LINE).max(1)
}

/// Times a launch and checks what each thread wrote; also cycles and nanoseconds of its first block,
/// by the device's own counters.
fn run<O: Measured<Value: DeviceValue>>(
    bench: &Bench<'_>,
    variant: &Variant<O>,
    shape: LaunchConfig,
) -> Result<(Timed, [u64; 2]), BenchError> {
    let lines = lines::<O>(bench);
    let blocks = shape.grid[0] as usize;
    let threads = blocks * shape.block_threads() as usize;
    let mut sums = bench.device.buffer_filled(threads, f64::NAN)?;
    let c = bench.device.buffer_from(&[O::C])?;
    let mut clocks = bench.device.buffer_filled(blocks, [0u64; 2])?;
    let arguments = (lines, c.slice(..), sums.slice_mut(..), clocks.slice_mut(..));
    // SAFETY: there are a c, a sum for each thread and a clock for each block.
    let timed = unsafe { bench.time(variant.entry, shape, &arguments) }?;
    let expected: Vec<f64> = (0..LANES)
        .map(|lane| (variant.reference)(lane, lines))
        .collect();
    let wrong = sums
        .to_vec()?
        .into_iter()
        .enumerate()
        .find_map(|(thread, actual)| {
            let expected = expected[thread % LANES as usize];
            let error = (actual - expected).abs();
            let wrong = error.is_nan() || error > O::TOLERANCE * expected.abs();
            wrong.then_some((actual, expected))
        });
    if let Some((actual, expected)) = wrong {
        timed.check("the sum of a thread's chains", actual, expected)?;
    }
    Ok((timed, clocks.to_vec()?[0]))
}
