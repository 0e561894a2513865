//! How long does a launch of each polynomial kernel take, memory-bound and compute-bound?
//!
//! On a GPU the times are device times, from events. Without one the emulator runs a small size and
//! every benchmark's name begins with `emulator`: those are not a GPU's times.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cuda_std::packed::F16x2;
use kernels_gpu::polynomial::{Element, Form, WIDTHS};
use ridgepoint::driver::{Device, DeviceChoice, DeviceValue, LaunchConfig, Stream};
use ridgepoint::kernels;
use ridgepoint::measure::{Runs, time};

const BLOCK: u32 = 256;

fn roofline(criterion: &mut Criterion) {
    let device = kernels::open(&DeviceChoice::Auto).expect("a GPU that works, or none");
    polynomials::<f32>(criterion, &device);
    polynomials::<f64>(criterion, &device);
    polynomials::<F16x2>(criterion, &device);
}

fn polynomials<T: Element + DeviceValue>(criterion: &mut Criterion, device: &Device) {
    let emulated = device.properties().is_emulated();
    let (machine, n) = if emulated {
        ("emulator", 1 << 12)
    } else {
        ("cuda", 1 << 26)
    };
    for k in [1, 100, 1000] {
        let mut group =
            criterion.benchmark_group(format!("{machine}/polynomial/{}/k={k}", T::NAME));
        group.throughput(Throughput::Elements(n as u64));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(100));
        group.measurement_time(Duration::from_millis(500));
        let x = device
            .buffer_filled(n, T::from_f64(T::X))
            .expect("memory for x");
        let mut y = device
            .buffer_filled(n, T::from_f64(0.0))
            .expect("memory for y");
        let stream = Stream::new(device).expect("a stream");
        for (form, width) in [Form::PowerSum, Form::Horner]
            .into_iter()
            .flat_map(|form| WIDTHS.map(|width| (form, width)))
        {
            let entry = T::kernel(form, width, 1).expect("one for each width");
            let shape = LaunchConfig::linear(n as u64 / u64::from(width), BLOCK);
            let prepared = device
                .prepare(entry, shape)
                .expect("a shape that every device allows");
            let arguments = (x.slice(..), y.slice_mut(..), k);
            group.bench_function(BenchmarkId::from_parameter(prepared.name()), |bencher| {
                bencher.iter_custom(|iterations| {
                    let runs = Runs {
                        warmup: 1,
                        timed: u32::try_from(iterations).unwrap_or(u32::MAX),
                    };
                    // SAFETY: x and y have n elements each and outlive `time`, which synchronises.
                    let times = unsafe { time(&prepared, &stream, &arguments, runs) };
                    let milliseconds: f64 = times.expect("the launch works").iter().sum();
                    Duration::from_secs_f64(milliseconds / 1e3)
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, roofline);
criterion_main!(benches);
