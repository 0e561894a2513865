//! How long does a launch of each polynomial kernel take, memory-bound and compute-bound?
//!
//! In the device's time, from events. Without a GPU the emulator runs a small size and every benchmark's name
//! begins with `emulator`: those are not a GPU's times.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use itertools::iproduct;
use ridgepoint::driver::{DeviceChoice, Stream};
use ridgepoint::embedded::Polynomial;
use ridgepoint::kernels;
use ridgepoint::workload::{Bench, Launches, PointError, Workload};
use ridgepoint_criterion::DeviceTime;

fn main() -> Result<(), PointError> {
    let bench = kernels::bench(&DeviceChoice::Auto, kernels::embedded_ptx())?;
    let stream = Stream::new(bench.device())?;
    let criterion = Criterion::default().with_measurement(DeviceTime::of(&stream));
    let mut criterion = criterion.configure_from_args();
    roofline(&mut criterion, &bench, &stream)?;
    criterion.final_summary();
    Ok(())
}

fn roofline(
    criterion: &mut Criterion<DeviceTime<'_>>,
    bench: &Bench,
    stream: &Stream<'_>,
) -> Result<(), PointError> {
    let (machine, n) = match bench.device().properties().is_emulated() {
        true => ("emulator", 1u64 << 12),
        false => ("cuda", 1 << 26),
    };
    for (dtype, k) in iproduct!(["f32", "f64", "f16x2"], [1u64, 100, 1000]) {
        let mut group = criterion.benchmark_group(format!("{machine}/polynomial/{dtype}/k={k}"));
        group.throughput(Throughput::Elements(n));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(100));
        group.measurement_time(Duration::from_millis(500));
        for (polynomial, vector) in
            iproduct!([Polynomial::POWER_SUM, Polynomial::HORNER], [1u64, 2, 4])
        {
            let values = [
                ("dtype", dtype.into()),
                ("k", k.into()),
                ("n", n.into()),
                ("vector", vector.into()),
            ];
            let id = BenchmarkId::new(polynomial.name(), format!("vector={vector}"));
            Launches::new(bench, &polynomial, &values)?.each(stream, |launch| {
                group.bench_function(id, |bencher| bencher.iter(&mut *launch));
            })?;
        }
        group.finish();
    }
    Ok(())
}
