//! Times of a launch, of a step of power iteration and of a streamed pipeline.
//!
//! Without a GPU the emulator runs a small size and every name begins with `emulator`: those are not
//! a GPU's times.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kernels_gpu::counter::{BLOCK, count};
use ridgepoint::driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
use ridgepoint::embedded::Polynomial;
use ridgepoint::kernels;
use ridgepoint::study::{Pipeline, PipelineMode, Plan, Work};
use ridgepoint::vector::{Normalize, Product};

fn asynchrony(criterion: &mut Criterion) {
    let device = kernels::open(&DeviceChoice::Auto).expect("a GPU that works, or none");
    launches(criterion, &device);
    power_step(criterion, &device);
    pipeline(criterion, &device);
}

/// Times `run` under this name: it is given a number of iterations, and says what they took.
fn time(
    criterion: &mut Criterion,
    device: &Device,
    group: &str,
    size: usize,
    mut run: impl FnMut(u64) -> Result<Duration, DriverError>,
) {
    let emulated = device.properties().is_emulated();
    let machine = if emulated { "emulator" } else { "cuda" };
    let mut group = criterion.benchmark_group(format!("{machine}/{group}"));
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(50));
    group.measurement_time(Duration::from_millis(500));
    group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
        bencher.iter_custom(|iterations| run(iterations).expect("the launches work"));
    });
    group.finish();
}

/// The host's time, until the launch is in the stream.
fn launches(criterion: &mut Criterion, device: &Device) {
    // The driver's queue holds about a thousand; then a launch waits.
    const QUEUE: u64 = 500;
    let stream = Stream::new(device).expect("a stream");
    let mut counter = device.buffer_zeroed::<u32>(1).expect("memory");
    let prepared = device
        .prepare(count::entry(), LaunchConfig::blocks(1, BLOCK))
        .expect("a launch");
    time(criterion, device, "enqueue", 1, |iterations| {
        let mut all = Duration::ZERO;
        let mut left = iterations;
        while left > 0 {
            stream.synchronize()?;
            let began = Instant::now();
            for _ in 0..left.min(QUEUE) {
                // SAFETY: one block; the counter lives until the stream is synchronised.
                unsafe { prepared.launch(&stream, &(counter.slice_mut(..),)) }?;
            }
            all += began.elapsed();
            left -= left.min(QUEUE);
        }
        stream.synchronize()?;
        Ok(all)
    });
}

/// `x = A x / ‖A x‖`, on the device.
fn power_step(criterion: &mut Criterion, device: &Device) {
    let n = if device.properties().is_emulated() {
        8
    } else {
        8192
    };
    let mut random = fastrand::Rng::with_seed(42);
    let row: Vec<f64> = (0..n).map(|_| random.f64()).collect();
    let mut a = device.buffer_zeroed(n * n).expect("memory");
    for first in 0..n {
        a.write(first * n, &row).expect("a copy");
    }
    let mut x = device.buffer_from(&row).expect("memory");
    let mut y = device.buffer_zeroed(n).expect("memory");
    let mut norm = device.buffer_zeroed(1).expect("memory");
    let product = Product::<f64>::new(device, n as u32).expect("a launch");
    let mut normalize = Normalize::<f64>::new(device, n).expect("a launch");
    let stream = Stream::new(device).expect("a stream");
    time(criterion, device, "power-step", n, |iterations| {
        let start = stream.record()?;
        for _ in 0..iterations {
            // SAFETY: the buffers outlive the wait below.
            unsafe {
                product.launch(&stream, a.slice(..), x.slice(..), y.slice_mut(..))?;
                normalize.launch(&stream, y.slice(..), x.slice_mut(..), norm.slice_mut(..))?;
            }
        }
        let end = stream.record()?;
        stream.synchronize()?;
        Ok(Duration::from_secs_f64(
            end.milliseconds_since(&start)? / 1e3,
        ))
    });
}

/// All batches through, streamed.
fn pipeline(criterion: &mut Criterion, device: &Device) {
    let (size, chunks) = if device.properties().is_emulated() {
        (64, 2)
    } else {
        (4096, 8)
    };
    let plan = Plan {
        batches: 4,
        size,
        chunks,
        slots: 2,
        rounds: 1,
    };
    let mut pipeline = Pipeline::new(device, plan).expect("memory");
    let work = Work::new(&Polynomial::HORNER).of_degree(100);
    let parts = pipeline.parts(work).expect("the launches work");
    time(criterion, device, "pipeline", size, |iterations| {
        let mut milliseconds = 0.0;
        for _ in 0..iterations {
            let row = pipeline.measure(PipelineMode::Streamed, work, parts);
            milliseconds += row.expect("a right result").total_ms;
        }
        Ok(Duration::from_secs_f64(milliseconds / 1e3))
    });
}

criterion_group!(benches, asynchrony);
criterion_main!(benches);
