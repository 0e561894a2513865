//! How many threads per second does the emulator run, and what do checks and counts cost?
//!
//! ```text
//! taskset -c 0 cargo bench -p examples --bench emulator
//! ```
//!
//! Each launch as PTX, also checked and counted, and as a call of the kernel's Rust function per thread. On
//! one core, and in its time: what else the machine does meanwhile does not count.

use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use cuda_std::launch::Kernel;
use example_kernels::{horner::horner, reduction::block_sums, saxpy::saxpy};
use ridgepoint::driver::{
    self, Device, DeviceBuffer, DeviceChoice, Emulation, LaunchConfig, Stream,
};

const BLOCK: u32 = 256;
const BLOCKS: u32 = 64;
const THREADS: usize = (BLOCK * BLOCKS) as usize;
const DEGREE: u32 = 1000;

fn emulator(criterion: &mut Criterion<CoreTime>) {
    // `cargo test` runs every launch once, and measures none.
    let is_measured = std::env::args().any(|it| it == "--bench");
    assert!(
        !is_measured || driver::cores() == 1,
        "run it on one core: taskset -c 0"
    );
    let engine = Device::open(&DeviceChoice::Cpu, examples::ptx()).expect("the emulator");
    let checks = Emulation {
        is_checked: true,
        ..Emulation::default()
    };
    run(criterion, "PTX", &engine);
    run(
        criterion,
        "PTX, checked",
        &engine.with_emulation(checks).expect("it is the emulator"),
    );
    let counts = Emulation {
        is_counted: true,
        ..Emulation::default()
    };
    let counting = engine.with_emulation(counts).expect("it is the emulator");
    run(criterion, "PTX, counted", &counting);
    // `cargo test scan` leaves out all whose names do not contain the word.
    let is_chosen = std::env::args().skip(1).any(|it| !it.starts_with('-'));
    let may_be_left_out = is_chosen && !is_measured;
    assert!(
        may_be_left_out || !counting.take_counts().is_empty(),
        "nothing was counted"
    );
    run(
        criterion,
        "functions",
        &Device::emulator(Emulation::default()),
    );
}

fn run(criterion: &mut Criterion<CoreTime>, how: &str, device: &Device) {
    let mut group = criterion.benchmark_group(how);
    group.throughput(Throughput::Elements(THREADS as u64));
    group.sample_size(20);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(3));

    let x = filled(device, THREADS * 4, 1.5);
    let mut y = filled(device, THREADS, 2.5);
    measure::<saxpy>(
        &mut group,
        (device, BLOCKS),
        "saxpy, no barrier",
        &(2.0, x.slice(..THREADS), y.slice_mut(..)),
    );
    measure::<block_sums>(
        &mut group,
        (device, BLOCKS),
        "block reduction, shuffles",
        &(x.slice(..), y.slice_mut(..)),
    );
    let degree = format!("horner of degree {DEGREE}");
    measure::<horner>(
        &mut group,
        (device, BLOCKS),
        &degree,
        &(x.slice(..THREADS), y.slice_mut(..), DEGREE),
    );
    group.throughput(Throughput::Elements(BLOCK.into()));
    let (x, y) = (x.slice(..BLOCK as usize), y.slice_mut(..BLOCK as usize));
    measure::<saxpy>(&mut group, (device, 1), "saxpy of one block", &(2.0, x, y));
}

fn filled(device: &Device, len: usize, value: f32) -> DeviceBuffer<f32> {
    device.buffer_filled(len, value).expect("memory")
}

fn measure<K: Kernel>(
    group: &mut BenchmarkGroup<'_, CoreTime>,
    (device, blocks): (&Device, u32),
    name: &str,
    arguments: &K::Arguments<'_>,
) {
    let shape = LaunchConfig::blocks(blocks.into(), BLOCK);
    let prepared = device.prepare(K::entry(), shape).expect("a small launch");
    let stream = Stream::new(device).expect("a stream");
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            // SAFETY: the slices outlive the launch, and have an element a thread or four.
            unsafe { prepared.launch(&stream, arguments) }.expect("the kernels are correct");
            // The next kernel's stream does not wait for this one's.
            stream.synchronize().expect("it has ended");
        });
    });
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
