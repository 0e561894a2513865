use std::collections::BTreeMap;

use super::*;
use crate::ceilings::host_roofs;
use crate::driver::{Device, DeviceProperties, Emulation, LaunchConfig};
use crate::embedded::{Gemv, Polynomial, Stream};
use crate::measure::{CacheState, Conditions, Instructions};
use crate::model::{GpuRoofs, Operation, TensorRoofs, Work};
use crate::sweep::context::Figures;
use crate::sweep::predict::Prediction;
use crate::sweep::{Plan, Selection, Settings, Sweep};
use crate::workload::{Bench, Workload};

/// A multiply-add of each of so many f32.
fn work(n: f64) -> Work {
    let moved = Work::default().reads(4.0 * n).writes(4.0 * n);
    moved.operations(Precision::F32, Operation::Fma, n)
}

const N: f64 = 67_108_864.0;

static NONE: std::sync::LazyLock<Work> = std::sync::LazyLock::new(Work::default);

fn launched(work: &Work, cache: CacheState) -> Launched<'_> {
    Launched {
        workload: "horner",
        values: &[],
        grid: GridSize::Full,
        cache,
        config: LaunchConfig::linear((work.bytes().unwrap_or(0.0) / 32.0) as u64, 256),
        work,
        overhead: &NONE,
        load_bytes: Some(16),
    }
}

fn samples(ms: &[f64], clock_hz: Option<f64>) -> Samples {
    Samples {
        ms: ms.to_vec(),
        clock_hz: vec![clock_hz; ms.len()],
        batch: 1,
        conditions: Conditions::default(),
        rounds: vec![],
    }
}

fn of_data_sheet(properties: &DeviceProperties) -> BTreeMap<Precision, Roofs> {
    let roofs = Roofs::of_device(properties, Precision::F32).expect("known");
    BTreeMap::from([(Precision::F32, roofs)])
}

/// The context of a checked point, of which nothing was counted or predicted.
fn context<'a>(
    properties: &'a DeviceProperties,
    roofs: &'a BTreeMap<Precision, Roofs>,
) -> Context<'a> {
    Context {
        properties,
        axes: &[],
        roofs,
        ceilings: None,
        is_checked: true,
        figures: Figures::default(),
        measured: None,
        prediction: None,
        modelled: None,
        occupancy: None,
    }
}

fn record(ms: &[f64], clock_hz: f64) -> Record {
    record_under(
        Conditions::default(),
        &launched(&work(N), CacheState::Warm),
        ms,
        clock_hz,
    )
}

fn record_under(
    conditions: Conditions,
    launched: &Launched<'_>,
    ms: &[f64],
    clock_hz: f64,
) -> Record {
    let samples = Samples {
        conditions,
        ..samples(ms, Some(clock_hz))
    };
    record_beside(launched, samples, None)
}

fn record_beside(launched: &Launched<'_>, samples: Samples, measured: Option<Measured>) -> Record {
    let properties = crate::measure::h200();
    let roofs = of_data_sheet(&properties);
    let context = Context {
        measured,
        ..context(&properties, &roofs)
    };
    Record::new(launched, samples.clone(), Some(&samples), &context).expect("samples")
}

#[test]
fn what_counters_say_is_in_the_columns_and_in_json() {
    use crate::report::Row;

    let measured = Measured {
        dram_bytes: 500.0,
        l2_bytes: 640.0,
        instructions: Instructions([100.0, 50.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0]),
    };
    let row = |measured| {
        let samples = samples(&[0.128; 4], None);
        record_beside(&launched(&work(N), CacheState::Warm), samples, measured)
    };
    let with = row(Some(measured));
    let json = serde_json::to_value(&with).expect("a row");
    let columns = with.columns();
    for (name, value) in [
        ("dram_bytes", 500.0),
        ("l2_bytes", 640.0),
        ("measured_flop", 250.0),
        ("measured_fma_f32", 100.0),
        ("measured_add_f32", 50.0),
        ("measured_multiply_f64", 0.0),
        // Of constants: no FLOP of a workload that computes with f32.
        ("measured_fma_f16x2", 9.0),
    ] {
        assert_eq!(json[name], value, "{name}");
        assert!(columns.contains(&(name, value.to_string())), "{columns:?}");
    }
    assert_eq!(json["measured_ai"], 0.5);
    let without = row(None).columns();
    assert!(
        without.contains(&("l2_bytes", String::new())),
        "{without:?}"
    );
    assert_eq!(without.len(), columns.len());
}

#[test]
fn a_sample_of_no_time_is_no_number_and_a_flag() {
    let row = record(&[0.0, -1.0], 1.98e9);
    assert_eq!(row.flags, ["untimed"]);
    let cells = crate::table::Row::columns(&row);
    let cell = |name: &str| {
        cells
            .iter()
            .find(|(it, _)| *it == name)
            .map(|(_, cell)| cell.as_str())
    };
    for name in [
        "mean_ms",
        "median_ms",
        "min_ms",
        "rms_percent",
        "gflops",
        "bandwidth",
        "samples_ms",
        "bound",
    ] {
        assert_eq!(cell(name), Some(""), "{name}");
    }
    assert_eq!(cell("samples"), Some("0"));
    for (name, cell) in &cells {
        assert!(!["NaN", "inf", "-inf"].contains(&cell.as_str()), "{name}");
    }
    // The others count.
    let row = record(&[2.0, 0.0, 2.0], 1.98e9);
    assert_eq!((row.mean_ms, row.samples), (2.0, 2));
    assert!(row.flags.contains(&"untimed".to_owned()));
}

#[test]
fn a_good_row_has_no_flags() {
    let row = record(&[0.128, 0.1281, 0.128, 0.1279], 1.98e9);
    assert_eq!((row.flags.len(), row.bound), (0, Some(Bound::Bandwidth)));
    assert_eq!(
        (row.working_set, row.noise_floor_percent),
        ("memory", Some(0.0))
    );
    assert!(
        row.percent_peak_at_clock
            .zip(row.percent_peak)
            .is_some_and(|(it, peak)| (it - peak).abs() < 0.1)
    );
}

#[test]
fn slow_clocks_slow_samples_and_impossible_rates_are_flagged() {
    let slow = record(&[0.128, 0.128, 0.128, 0.128], 1.5e9);
    assert_eq!(slow.flags, ["clock"]);
    let at_clock = slow.percent_peak_at_clock.expect("a clock");
    let peak = slow.percent_peak.expect("operations");
    assert!((at_clock / peak - 1.98 / 1.5 * 67.0 / 66.9).abs() < 0.01);
    let one = record(&[0.128, 0.128, 0.128, 0.128, 0.128, 0.25], 1.98e9);
    assert_eq!(one.flags, ["noisy", "outliers"]);
    let wrong = record(&[0.05; 4], 1.98e9);
    assert_eq!(wrong.flags, ["implausible"]);
}

#[test]
fn another_process_on_the_gpu_is_flagged() {
    let beside = |processes| {
        let conditions = Conditions {
            processes,
            ..Conditions::default()
        };
        record_under(
            conditions,
            &launched(&work(N), CacheState::Warm),
            &[0.128; 4],
            1.98e9,
        )
        .flags
    };
    assert_eq!(beside(Some(2)), ["shared"]);
    assert!(beside(Some(1)).is_empty() && beside(None).is_empty());
}

#[test]
fn data_in_the_level_2_cache_are_said_to_be_there() {
    let small = work(1048576.0);
    let of = |cache, ms| {
        record_under(
            Conditions::default(),
            &launched(&small, cache),
            &[ms; 4],
            1.98e9,
        )
    };
    let row = of(CacheState::Warm, 0.001);
    assert_eq!((row.working_set, row.flags.len()), ("L2", 0));
    assert_eq!(of(CacheState::Cold, 0.003).working_set, "memory");
}

#[test]
fn what_a_workload_does_not_say_is_left_empty() {
    let bytes = Work::default().writes(4.0 * N);
    let row = record_under(
        Conditions::default(),
        &launched(&bytes, CacheState::Warm),
        &[0.07; 4],
        1.98e9,
    );
    assert_eq!((row.ai, row.gflops, row.roof_gflops), (None, None, None));
    assert_eq!(
        (row.limiting_roof, row.bound),
        (Some(Limit::Memory), Some(Bound::Bandwidth))
    );
    assert!(
        row.percent_roof
            .is_some_and(|it| (79.0..81.0).contains(&it)),
        "{row:?}"
    );
    let nothing = Work::default();
    let row = record_under(
        Conditions::default(),
        &launched(&nothing, CacheState::Warm),
        &[0.07; 4],
        1.98e9,
    );
    assert_eq!(
        (row.bandwidth, row.bound, row.percent_roof),
        (None, None, None)
    );
    assert!(row.advice.contains("moves and computes"));
}

/// Rows of an emulated sweep under an H200's roofs.
fn predicted(workload: &dyn Workload, axes: &[(&str, Vec<Value>)]) -> Vec<Record> {
    let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
    let mut selection = Selection::defaults(workload, true);
    for (name, values) in &mut selection.values {
        let given = axes.iter().find(|(axis, _)| axis == name);
        *values = given.map_or(values[..1].to_vec(), |(_, given)| given.clone());
    }
    let plan = Plan {
        selected: vec![selection],
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
    sweep.predict(Prediction {
        roofs: GpuRoofs::named("h200").expect("known"),
        report: None,
    });
    let rows = 0..sweep.points().len();
    rows.map(|index| sweep.measure(index, None).expect("it runs"))
        .collect()
}

#[test]
fn no_prediction_is_above_its_own_roof() {
    let whole = |value: u64| vec![Value::from(value)];
    let pairs = [
        ("dtype", vec![Value::from("f16x2")]),
        ("k", whole(1000)),
        ("n", whole(256)),
    ];
    let rows = [
        predicted(&Polynomial::POWER_SUM, &pairs),
        predicted(&Gemv, &[("size", whole(64))]),
        predicted(&Stream::NRM2, &[("n", whole(4096))]),
    ];
    let gpu = GpuRoofs::named("h200").expect("known");
    for row in rows.iter().flatten() {
        let name = row.dtype.as_deref().expect("one type");
        let types = [Precision::F32, Precision::F64, Precision::F16x2];
        let precision = types.into_iter().find(|it| it.name() == name);
        let roofs = gpu.roofs(precision.expect("a type")).expect("known");
        let [ai, rate] = [row.predicted_ai, row.predicted_gflops].map(|it| it.expect("both"));
        let own = row.ai.expect("it computes");
        assert!((ai / own - 1.0).abs() < 0.05, "{ai} {own} {row:?}");
        let ceiling = roofs.ceiling(row.arithmetic.expect("it computes"));
        let roof = (ai * roofs.memory.giga()).min(ceiling.giga());
        assert!(rate <= 1.0001 * roof, "{rate} {roof} {row:?}");
    }
}

/// An H200's row under its own data sheet's and measured roofs, as a run of the exercise has it.
#[test]
fn a_measured_row_says_what_bounds_it_and_its_share_of_both_roofs() {
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/");
    let rows = std::fs::read_to_string(format!("{results}h200-roofline/raw/roofline.json"));
    let rows: serde_json::Value =
        serde_json::from_str(&rows.expect("in the repository")).expect("JSON");
    let saved = &rows["rows"][0];
    let properties = crate::measure::h200();
    let path = format!("{results}h200-ceilings/ceilings.json");
    let ceilings = crate::ceilings::load(path.as_ref(), &properties).expect("an H200's");
    let roofs = of_data_sheet(&properties);
    let work = work(N);
    let of = |ms: f64| {
        let context = Context {
            ceilings: Some(&ceilings),
            ..context(&properties, &roofs)
        };
        let samples = samples(&[ms; 4], Some(1.98e9));
        let launched = Launched {
            load_bytes: Some(4),
            ..launched(&work, CacheState::Warm)
        };
        let row = Record::new(&launched, samples, None, &context).expect("samples");
        crate::report::terminal::point(&row)
    };
    let number = |name: &str| saved[name].as_f64().expect("a number");
    let text = of(number("mean_ms"));
    for part in [
        format!("{:.1} % of the memory roof, ", number("percent_roof")),
        format!(
            "{:.1} % of the measured one",
            number("percent_measured_roof")
        ),
        format!("bound by {}: ", saved["bound"].as_str().expect("a word")),
        "Too little is in flight: load 16 bytes per thread.".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert!(!text.contains("more than that roof allows"), "{text}");
    assert!(of(0.1).contains("measured one: more than that roof allows"));
}

#[test]
fn operations_without_a_roof_are_told_and_nothing_is_predicted() {
    let properties = crate::measure::h200();
    let roofs = of_data_sheet(&properties);
    let moved = Work::default().reads(4096.0);
    let prediction = Prediction {
        roofs: GpuRoofs::named("h200").expect("known"),
        report: None,
    };
    let of = |unknown_flop| {
        let config = LaunchConfig::linear(32, 32);
        let sum = Sum {
            work: moved.clone(),
            flop: 8192,
            bytes: 4096,
            unknown_flop,
            ..Sum::of(&[], config, Origin::Counted, 1)
        };
        let context = Context {
            figures: Figures {
                counted: Some(Ok(sum)),
                ..Figures::of_formula(&moved)
            },
            prediction: Some(&prediction),
            ..context(&properties, &roofs)
        };
        let samples = samples(&[1.0], None);
        let launched = launched(&moved, CacheState::Warm);
        Record::new(&launched, samples, None, &context).expect("a sample")
    };
    let tensor = of(8192.0);
    let said = tensor.not_counted.as_deref().expect("a reason");
    assert!(said.starts_with("8192 of the operations"), "{said}");
    assert_eq!(
        (tensor.predicted_gpu, tensor.predicted_gflops),
        (None, None)
    );
    assert_eq!((tensor.predicted_bandwidth, tensor.gflops), (None, None));
    let plain = of(0.0);
    assert!(plain.not_counted.is_none() && plain.predicted_bandwidth.is_some());
}

#[test]
fn products_of_matrices_are_compared_with_what_tensor_cores_do() {
    const N: f64 = 8192.0;
    let product = |tensor| {
        let moved = Work::default().reads(4.0 * N * N).writes(2.0 * N * N);
        moved.operations(Precision::F32, Operation::Tensor(tensor), 2.0 * N.powi(3))
    };
    let bf16 = product(TensorType::Bf16);
    let row = record_under(
        Conditions::default(),
        &launched(&bf16, CacheState::Warm),
        &[1.35],
        1.98e9,
    );
    let tflops = 2.0 * N.powi(3) / 1.35e9;
    let percent = row.percent_peak.expect("the data sheet has it");
    assert!((percent - tflops / 9.894).abs() < 1e-6, "{percent}");
    assert_eq!(row.percent_roof, row.percent_peak);
    assert_eq!(row.limiting_roof, Some(Limit::Tensor));
    assert_eq!(row.percent_peak_at_clock, None);
    assert_eq!(row.bound, Some(Bound::Compute));
    assert!(
        row.advice.starts_with("Tensor cores wait"),
        "{}",
        row.advice
    );
    assert_eq!(row.flags, [""; 0]);
    // Nobody says here how fast those of this type are.
    let properties = crate::measure::h200();
    let roofs = BTreeMap::from([(
        Precision::F32,
        Roofs {
            tensor: TensorRoofs::NONE,
            ..Roofs::of_device(&properties, Precision::F32).expect("known")
        },
    )]);
    let context = context(&properties, &roofs);
    let samples = samples(&[1.35], None);
    let launch = launched(&bf16, CacheState::Warm);
    let unknown = Record::new(&launch, samples, None, &context).expect("a sample");
    assert_eq!((unknown.percent_peak, unknown.percent_roof), (None, None));
    assert_eq!((unknown.limiting_roof, unknown.bound), (None, None));
    assert!(unknown.advice.contains("not known"), "{}", unknown.advice);
    // In the cache memory's roof is none; the tensor cores' is.
    let small = Work::default().reads(4e6).operations(
        Precision::F32,
        Operation::Tensor(TensorType::Bf16),
        2e9,
    );
    let cached = |ms: f64| {
        let launched = launched(&small, CacheState::Warm);
        record_under(Conditions::default(), &launched, &[ms], 1.98e9).flags
    };
    assert_eq!(cached(0.0025), [""; 0], "800 TFLOP/s");
    assert_eq!(cached(0.0015), ["implausible"], "1333 TFLOP/s");
}

#[test]
fn no_figure_is_nan_where_nothing_is_known() {
    let emulator = Device::emulator(Emulation::default());
    let roofs = BTreeMap::from([(
        Precision::F32,
        Roofs {
            memory: BytesPerSec(1e9),
            ..host_roofs(&emulator, Precision::F32).expect("memory")
        },
    )]);
    let context = context(emulator.properties(), &roofs);
    let samples = samples(&[1.0], None);
    let row = Record::new(
        &launched(&work(N), CacheState::Warm),
        samples,
        None,
        &context,
    )
    .expect("a sample");
    assert_eq!((row.clock_mhz, row.percent_peak_at_clock), (None, None));
    let figures = [
        row.gflops,
        row.bandwidth,
        row.percent_peak,
        row.percent_roof,
    ];
    assert!(figures.iter().all(|it| it.is_some_and(f64::is_finite)) && row.rms_percent == 0.0);
}
