//! What the emulator counts, in the rows of a sweep.

use ridgepoint::driver::{DeviceChoice, LaunchConfig};
use ridgepoint::embedded::Polynomial;
use ridgepoint::kernels::{bench, embedded_ptx};
use ridgepoint::sweep::{Plan, Record, Selection, Settings, Sweep, SweepError};
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
fn what_a_workload_leaves_out_is_counted_and_what_it_says_too_much_is_refused() {
    let counted = row(&Writes(None), &[]).expect("a row");
    assert_eq!((counted.counted_bytes, counted.ai), (Some(512), None));
    let said = row(&Writes(Some(128)), &[]).expect("a row");
    assert!(counted.bandwidth.is_some() && said.bandwidth.is_some());
    let error = row(&Writes(Some(256)), &[]).expect_err("twice as many");
    let text = error.to_string();
    assert!(
        text.contains("the workload says 1,024 bytes, and 512 were counted"),
        "{text}"
    );
}
