//! The workload of `benches/workloads`, on the emulator: rows, roofs, and what its reference sees.

use attention::{HEAD, Mask, Shape};
use half::bf16;
use ridgepoint::driver::Emulation;
use ridgepoint::model::{GpuRoofs, Limit, TensorType};
use ridgepoint::sweep::{Plan, Prediction, Record, Selection, Settings, Sweep};
use ridgepoint::workload::{Bench, Value};

use crate::scaled::{Given, ScaledAttention, overhead};

/// The row of a point.
fn row(shape: Shape) -> (Record, Vec<TensorType>) {
    let whole = |number: u32| vec![Value::Whole(u64::from(number))];
    let mask = match shape.mask {
        Mask::Full => "full",
        Mask::Causal => "causal",
    };
    let values = [
        ("sequence", whole(shape.sequence)),
        ("heads", whole(shape.heads)),
        ("mask", vec![Value::Text(mask.to_owned())]),
    ];
    let selection = Selection {
        values: values.into(),
        ..Selection::defaults(&ScaledAttention, true)
    };
    let bench = Bench::emulator(Emulation::default(), attention::ptx()).expect("an emulator");
    let plan = Plan {
        selected: vec![selection],
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("one point");
    sweep.predict(Prediction {
        roofs: GpuRoofs::named("h200").expect("known"),
        report: None,
    });
    let row = sweep.measure(0, None).expect("a right result");
    (row, sweep.tensor_types().into_iter().collect())
}

fn what_is_counted_is_what_the_workload_says() {
    for (heads, sequence, mask) in [
        (1, 256, Mask::Full),
        (2, 200, Mask::Causal),
        (1, 300, Mask::Causal),
    ] {
        let shape = Shape {
            heads,
            sequence,
            mask,
        };
        let (row, types) = row(shape);
        assert!(row.checked, "{shape:?}");
        assert_eq!(types, [TensorType::Bf16]);
        let products = 4.0 * f64::from(HEAD) * shape.pairs() as f64;
        let beside = overhead(shape).flops().expect("softmax");
        let counted = row.counted_flop.expect("counted") as f64;
        assert_eq!(counted, products + beside, "{shape:?}");
        let bytes = 4 * 2 * shape.elements();
        assert_eq!(row.ai, Some(products / bytes as f64), "{shape:?}");
    }
}

fn a_causal_mask_halves_the_work() {
    let shape = |mask| Shape {
        heads: 3,
        sequence: 5,
        mask,
    };
    assert_eq!(
        (shape(Mask::Full).pairs(), shape(Mask::Causal).pairs()),
        (75, 45)
    );
}

fn long_sequences_are_limited_by_the_tensor_cores() {
    let of = |sequence| {
        row(Shape {
            heads: 1,
            sequence,
            mask: Mask::Full,
        })
        .0
    };
    assert_eq!(of(128).predicted_limit, Some(Limit::Memory));
    assert_eq!(of(1024).predicted_limit, Some(Limit::Tensor));
}

fn the_reference_sees_one_wrong_element() {
    for mask in [Mask::Full, Mask::Causal] {
        let given = Given::new(Shape {
            heads: 2,
            sequence: 70,
            mask,
        });
        let mut right = Vec::new();
        let expected = given.expected(|row| {
            right.extend(row.iter().map(|&(value, _)| bf16::from_f64(value)));
            Ok(())
        });
        expected.expect("all rows");
        given.check(&right).expect("the reference itself");
        let last = right.len() - 1;
        right[last] = bf16::from_f64(right[last].to_f64() + 0.5);
        let error = given
            .check(&right)
            .expect_err("the last is wrong")
            .to_string();
        assert!(
            error.starts_with("head 1, query 69, column 127 is"),
            "{error}"
        );
    }
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![
        what_is_counted_is_what_the_workload_says,
        a_causal_mask_halves_the_work,
        long_sequences_are_limited_by_the_tensor_cores,
        the_reference_sees_one_wrong_element,
    ]
    .into()
}
