//! A workload in a criterion group, in the emulator's time.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::Criterion;
use criterion::measurement::Measurement;
use ridgepoint_criterion::DeviceTime;
use ridgepoint_harness::driver::{Emulation, Stream};
use ridgepoint_harness::embedded::Polynomial;
use ridgepoint_harness::workload::{Bench, Launches};

fn emulator() -> Bench {
    Bench::emulator(Emulation::default(), &[]).expect("the emulator")
}

/// Nanoseconds of a launch, as criterion has written them.
fn mean_ns(folder: &Path) -> f64 {
    let path = folder.join("horner/k=50/new/estimates.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let estimates: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mean = estimates["mean"]["point_estimate"].as_f64();
    mean.expect("a number")
}

#[test]
fn a_workload_is_timed_in_a_group() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench = emulator();
    let stream = Stream::new(bench.device()).expect("a stream");
    let mut criterion = Criterion::default()
        .with_measurement(DeviceTime::of(&stream))
        .output_directory(folder.path())
        .sample_size(10)
        .warm_up_time(Duration::from_millis(10))
        .measurement_time(Duration::from_millis(100));
    let values = [("n", 512.into()), ("k", 50.into())];
    let point = Launches::new(&bench, &Polynomial::HORNER, &values);
    let launches = Cell::new(0u32);
    let began = Instant::now();
    let ran = point.expect("a launch").each(&stream, |launch| {
        let mut group = criterion.benchmark_group("horner");
        group.bench_function("k=50", |bencher| {
            bencher.iter(|| {
                launches.set(launches.get() + 1);
                launch();
            });
        });
        group.finish();
    });
    ran.expect("a right result");
    let whole_ns = began.elapsed().as_nanos() as f64;
    let mean = mean_ns(folder.path());
    // Ten samples of a launch at least; and no launch takes longer than all of them.
    assert!(launches.get() >= 10, "{launches:?}");
    assert!(mean > 0.0 && mean * 10.0 < whole_ns, "{mean} of {whole_ns}");
}

/// The events lie around what is launched between them, and around nothing else.
#[test]
fn what_is_outside_is_not_counted() {
    let bench = emulator();
    let stream = Stream::new(bench.device()).expect("a stream");
    let time = DeviceTime::of(&stream);
    let point = Launches::new(&bench, &Polynomial::HORNER, &[("n", (1 << 14).into())]);
    let times = Cell::new([Duration::ZERO; 3]);
    let ran = point.expect("a launch").each(&stream, |launch| {
        (0..20).for_each(|_| launch());
        let nothing = time.start();
        let nothing = time.end(nothing);
        let began = Instant::now();
        let start = time.start();
        (0..20).for_each(|_| launch());
        times.set([nothing, time.end(start), began.elapsed()]);
    });
    ran.expect("a right result");
    let [nothing, some, whole] = times.get();
    assert!(
        nothing < some && some <= whole,
        "{nothing:?} {some:?} {whole:?}"
    );
    assert_eq!(time.add(&nothing, &some), nothing + some);
    assert_eq!(time.to_f64(&time.zero()), 0.0);
}
