//! How long does a launch of each polynomial kernel take, memory-bound and compute-bound?
//!
//! On a GPU the times are device times, from events. Without one the emulator runs a small size and
//! every benchmark's name begins with `emulator`: those are not a GPU's times.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use itertools::iproduct;
use ridgepoint::driver::DeviceChoice;
use ridgepoint::embedded::Polynomial;
use ridgepoint::kernels;
use ridgepoint::workload::{Timed, Workload};

fn roofline(criterion: &mut Criterion) {
    let bench = kernels::bench(&DeviceChoice::Auto, kernels::embedded_ptx())
        .expect("a GPU that works, or none");
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
            let timed = Timed::new(&bench, &polynomial, &values);
            let mut timed = timed.expect("every device takes it");
            let id = BenchmarkId::new(polynomial.name(), format!("vector={vector}"));
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|launches| timed.time(launches).expect("the launch works"));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, roofline);
criterion_main!(benches);
