//! The workload of `benches/workloads`, on the emulator: rows, roofs, and what its reference sees.

use cuda_std::bf16;
use ridgepoint::driver::{ComputeCapability, Device, DeviceChoice, Emulation};
use ridgepoint::model::{GpuRoofs, Limit, TensorType};
use ridgepoint::sweep::{Plan, Prediction, Record, Selection, Settings, Sweep};
use ridgepoint::workload::{Bench, Value};

use crate::product::Gemm;
use crate::product::given::Given;

type Sizes = [u64; 3];

fn selection([m, n, k]: Sizes, dtype: &str, b: &str) -> Selection<'static> {
    let text = |text: &str| vec![Value::Text(text.to_owned())];
    let whole = |number: u64| vec![Value::Whole(number)];
    let values = [
        ("k", whole(k)),
        ("m", whole(m)),
        ("n", whole(n)),
        ("dtype", text(dtype)),
        ("b", text(b)),
    ];
    Selection {
        values: values.into(),
        ..Selection::defaults(&Gemm, true)
    }
}

/// The row of a point, on an emulator with PTX for Hopper.
fn row(sizes: Sizes, dtype: &str, b: &str) -> (Record, Vec<TensorType>) {
    let bench = Bench::emulator(Emulation::default(), gemm::ptx()).expect("an emulator");
    let plan = Plan {
        selected: vec![selection(sizes, dtype, b)],
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("one point");
    sweep.predict(Prediction {
        roofs: GpuRoofs::named("h200").expect("known"),
        report: None,
    });
    let row = sweep.measure(0, None).expect("a right product");
    (row, sweep.tensor_types().into_iter().collect())
}

fn whole_tiles_are_counted_as_the_workload_says() {
    for (dtype, b, bytes, tensor) in [
        ("bf16", "columns", 2, TensorType::Bf16),
        ("f16", "rows", 2, TensorType::F16),
        ("tf32", "columns", 4, TensorType::Tf32),
        ("e4m3", "columns", 1, TensorType::F8),
        ("f64", "columns", 8, TensorType::F64),
        ("f64", "rows", 8, TensorType::F64),
    ] {
        let (row, types) = row([128, 256, 128], dtype, b);
        assert!(row.checked, "{dtype}");
        assert_eq!(types, [tensor]);
        assert_eq!(row.dtype.as_deref(), Some(dtype));
        let flop = 2 * 128 * 256 * 128;
        // Of f64 also what factors and a bias take, which are 1 and 0; and a sum that one of two blocks gives the other.
        let finished = if dtype == "f64" { 5 * 128 * 256 } else { 0 };
        assert_eq!(row.counted_flop, Some(flop + finished), "{dtype}");
        let result = bytes.max(2);
        let moved = bytes * (128 * 128 + 256 * 128) + result * 128 * 256;
        assert_eq!(row.counted_bytes, Some(moved), "{dtype}");
        assert_eq!(row.ai, Some(flop as f64 / moved as f64));
    }
}

/// Tensor cores multiply whole tiles: the rest is said to be beside the work.
fn parts_of_tiles_are_no_result() {
    let (row, _) = row([100, 200, 72], "bf16", "rows");
    assert!(row.checked);
    let padded = row.counted_flop.expect("counted");
    assert!(padded >= 2 * 128 * 256 * 128, "{padded}");
    assert_eq!(row.gflops.map(|it| it > 0.0), Some(true));
    let ai = row.ai.expect("both are said");
    let said = 2 * 100 * 200 * 72;
    let moved = 2 * (100 * 72 + 72 * 200 + 100 * 200);
    assert!((ai - f64::from(said) / f64::from(moved)).abs() < 1e-9);
}

fn tensor_cores_are_the_roof_right_of_the_ridge_point() {
    let (small, _) = row([128, 256, 64], "bf16", "columns");
    assert_eq!(small.predicted_limit, Some(Limit::Memory));
    // No device that a host emulates has tensor cores of a known rate.
    assert_eq!((small.percent_peak, small.percent_roof), (None, None));
    assert_eq!((small.limiting_roof, small.bound), (None, None));
    let (large, _) = row([768, 512, 768], "bf16", "columns");
    assert_eq!(large.predicted_limit, Some(Limit::Tensor));
    let most = large.predicted_gflops.expect("the data sheet has it");
    assert!((most - 989_400.0).abs() < 1e-3, "{most}");
}

fn only_hopper_takes_it_and_tf32_only_by_columns() {
    let ampere = DeviceChoice::CpuAs(ComputeCapability::new(8, 0));
    let older = Bench::open(&ampere, gemm::ptx()).expect("an emulator");
    let hopper = Bench::open(&DeviceChoice::Cpu, gemm::ptx()).expect("an emulator");
    for (bench, selected, reason) in [
        (&older, selection([128; 3], "bf16", "rows"), "is sm_80"),
        (
            &hopper,
            selection([128; 3], "tf32", "rows"),
            "by columns alone",
        ),
    ] {
        let plan = Plan {
            selected: vec![selected],
            ..Plan::default()
        };
        let refused = Sweep::new(bench, &plan, Settings::quick()).err();
        let said = refused.expect("no launch").to_string();
        assert!(said.contains(reason), "{said}");
    }
}

fn the_reference_sees_one_wrong_element() {
    let device = Device::open(&DeviceChoice::Cpu, &[]).expect("an emulator");
    let given = Given::<bf16>::new([70, 60, 8]);
    let zeros = device.buffer_zeroed::<bf16>(70 * 60).expect("memory");
    let error = given.check(&zeros).expect_err("zeros").to_string();
    assert!(error.starts_with("row 0, column 0 is 0e0"), "{error}");
    let mut right: Vec<bf16> = given
        .expected()
        .map(|(value, _)| bf16::from_f64(value))
        .collect();
    let of = |c: &[bf16]| given.check(&device.buffer_from(c).expect("memory"));
    of(&right).expect("the reference itself");
    right[69 * 60 + 59] = bf16::from_f64(right[69 * 60 + 59].to_f64() + 0.25);
    let error = of(&right).expect_err("the last is wrong").to_string();
    assert!(error.starts_with("row 69, column 59 is"), "{error}");
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![
        whole_tiles_are_counted_as_the_workload_says,
        parts_of_tiles_are_no_result,
        tensor_cores_are_the_roof_right_of_the_ridge_point,
        only_hopper_takes_it_and_tf32_only_by_columns,
        the_reference_sees_one_wrong_element,
    ]
    .into()
}
