//! How many threads a second does the emulator run, and what do the checks cost?
//!
//! ```text
//! taskset -c 0 cargo bench -p ridgepoint-simt --bench emulator
//! taskset -c 0 ridgepoint check --cargo bench -- -p ridgepoint-simt --bench emulator
//! ```
//!
//! The second measures the same kernels with every access checked. Both are of one core, and in its
//! time: what else the machine does meanwhile does not count.

use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuda_std::emulation::INSTRUMENTED;
use cuda_std::launch::{Kernel, Slice, SliceMut};
use example_kernels::{reduction::block_sums, saxpy::saxpy};
use simt::{Launch, Shape};

const BLOCK: u32 = 256;
const BLOCKS: u32 = 64;
const THREADS: usize = (BLOCK * BLOCKS) as usize;

fn emulator(criterion: &mut Criterion<CoreTime>) {
    assert_eq!(simt::cores(), 1, "run it on one core: taskset -c 0");
    let checks = if INSTRUMENTED { "checked" } else { "unchecked" };
    let mut group = criterion.benchmark_group(format!("emulator/{checks}"));
    group.throughput(Throughput::Elements(THREADS as u64));
    group.sample_size(20);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3));

    let x = vec![1.5f32; THREADS * 4];
    let mut y = vec![2.5f32; THREADS];
    group.bench_function("saxpy, no barrier", |bencher| {
        bencher.iter(|| launch::<saxpy>(&(2.0, slice(&x[..THREADS]), slice_mut(&mut y))));
    });
    group.bench_function("block reduction, shuffles", |bencher| {
        bencher.iter(|| launch::<block_sums>(&(slice(&x), slice_mut(&mut y))));
    });
}

fn launch<K: Kernel>(arguments: &K::Arguments<'_>)
where
    for<'a> K::Arguments<'a>: Sync,
{
    let shape = Shape {
        grid: [BLOCKS, 1, 1],
        block: [BLOCK, 1, 1],
        dynamic_shared: 0,
    };
    Launch::new(shape)
        .memory(&K::memory(arguments), arguments)
        // SAFETY: the slices outlive the launch, and have an element a thread or four.
        .run(&move || unsafe { K::call(arguments) })
        .expect("the kernels are correct");
}

fn slice(values: &[f32]) -> Slice<'_, f32> {
    // SAFETY: the borrow.
    unsafe { Slice::from_raw(values.as_ptr(), values.len()) }
}

fn slice_mut(values: &mut [f32]) -> SliceMut<'_, f32> {
    // SAFETY: the borrow.
    unsafe { SliceMut::from_raw(values.as_mut_ptr(), values.len()) }
}

/// The time that the core spends on this thread, on which a launch runs where there is one core.
struct CoreTime;

impl Measurement for CoreTime {
    type Intermediate = ThreadTime;
    type Value = Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, start: ThreadTime) -> Duration {
        start.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CoreTime);
    targets = emulator
}
criterion_main!(benches);
