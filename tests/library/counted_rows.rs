//! Counts of the emulator in the rows of a sweep.

use std::collections::BTreeSet;

use ridgepoint::driver::{DeviceChoice, LaunchConfig};
use ridgepoint::embedded::{self, Polynomial};
use ridgepoint::kernels::{bench, embedded_ptx};
use ridgepoint::sweep::{Origin, Plan, Record, Selection, Settings, Sweep, SweepError};
use ridgepoint::workload::{Axis, Case, Point, PointError, Value, Workload};

/// Writes 512 bytes, and says that it writes so many numbers of 4.
struct Writes(Option<usize>);

impl Workload for Writes {
    fn name(&self) -> &str {
        "writes"
    }

    fn axes(&self) -> Vec<Axis> {
        Vec::new()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let entry = kernels_gpu::ceilings::stream::write_u1::entry();
        let arrays = at
            .launch(entry, LaunchConfig::blocks(1, 32))
            .arrays(|device| device.buffer_filled(32, [0f32; 4]));
        // SAFETY: there are 32 vectors, which live until the launch has ended.
        let case = unsafe { arrays.arguments_unchecked(|y| (y.slice_mut(..), 32)) };
        Ok(match self.0 {
            Some(numbers) => case.writes::<f32>(numbers),
            None => case,
        })
    }
}

/// The only row of a workload at these values, where others have their first.
fn row(workload: &'static dyn Workload, values: &[(&str, u64)]) -> Result<Record, SweepError> {
    let bench = bench(&DeviceChoice::Cpu, embedded_ptx()).expect("the emulator");
    let mut selection = Selection::defaults(workload, true);
    for (name, all) in &mut selection.values {
        all.truncate(1);
        if let Some((_, value)) = values.iter().find(|(it, _)| it == name) {
            *all = vec![Value::Whole(*value)];
        }
    }
    let plan = Plan {
        selected: vec![selection],
        ..Plan::default()
    };
    Sweep::new(&bench, &plan, Settings::quick())?.measure(0, None)
}

#[test]
fn rows_have_what_was_counted_beside_the_formula() {
    let row = row(&Polynomial::HORNER, &[("k", 16), ("n", 4096)]).expect("a row");
    assert_eq!(row.counted_flop, Some(2 * 16 * 4096));
    assert_eq!(row.counted_bytes, Some(2 * 4 * 4096));
    assert_eq!((row.ai, row.counted_ai), (Some(4.0), Some(4.0)));
}

#[test]
fn what_a_workload_leaves_out_is_counted_and_what_it_says_wrong_is_refused() {
    let counted = row(&Writes(None), &[]).expect("a row");
    assert_eq!((counted.counted_bytes, counted.ai), (Some(512), None));
    let said = row(&Writes(Some(128)), &[]).expect("a row");
    assert!(counted.bandwidth.is_some() && said.bandwidth.is_some());
    assert_eq!(
        (counted.bytes_from, said.bytes_from, said.flop_from),
        (Some(Origin::Counted), Some(Origin::Formula), None)
    );
    for (numbers, bytes) in [(256, "1,024"), (32, "128")] {
        let writes: &'static Writes = Box::leak(Box::new(Writes(Some(numbers))));
        let error = row(writes, &[]).expect_err("wrong");
        let text = error.to_string();
        let expected = format!("the workload says {bytes} bytes, and 512 were counted");
        assert!(text.contains(&expected), "{text}");
    }
}

/// Every formula of ours says what is counted, at a small size and at one that no block or vector divides.
#[test]
fn every_embedded_formula_is_what_is_counted() {
    let bench = bench(&DeviceChoice::Cpu, embedded_ptx()).expect("the emulator");
    let selected = embedded::all().into_iter().map(|workload| {
        let mut selection = Selection::defaults(workload, true);
        for (name, values) in &mut selection.values {
            match *name {
                "n" => *values = [4096, 20_004].map(Value::Whole).to_vec(),
                // Chains of the ceilings, of as many threads as `n`.
                "steps" if !["fma", "read_again"].contains(&workload.name()) => {
                    *values = vec![Value::Whole(128)]
                }
                "k" => *values = [1, 7, 50].map(Value::Whole).to_vec(),
                "dtype" if workload.name() != "gemv" => {
                    *values = ["f32", "f64", "f16x2"].map(Value::from).to_vec();
                }
                "dtype" => *values = ["f32", "f64"].map(Value::from).to_vec(),
                "size" if workload.name() == "gemv" => values.push(Value::Whole(1003)),
                "vector" => *values = [1, 4].map(Value::Whole).to_vec(),
                _ => {}
            }
        }
        selection
    });
    // One sweep, which measures the host's roofs once.
    let plan = Plan {
        selected: selected.collect(),
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("points");
    let mut counted = BTreeSet::new();
    let points = sweep.points().len();
    for index in 0..points {
        let row = sweep
            .measure(index, None)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(row.counted_from, Some(Origin::Counted), "{row:?}");
        assert_eq!(row.not_counted, None);
        counted.insert(row.kernel);
    }
    assert_eq!(counted.len(), embedded::all().len());
}
