//! Iterations on emulated devices, as far as what they say of themselves goes.

use std::ops::ControlFlow;
use std::path::Path;

use super::{Checkpoint, PowerMode, PowerPlan, PowerRow, newest, power};
use crate::driver::{Device, Emulation};

fn plan(folder: &Path) -> PowerPlan {
    PowerPlan {
        dim: 8,
        dominance: 0.3,
        max_steps: 20,
        check_every: 10,
        tolerance: 1e-300,
        seed: 42,
        checkpoints: Some(folder.to_owned()),
    }
}

/// Returns an iteration's row, and how many steps its time per step is of.
fn steps(plan: &PowerPlan, mode: PowerMode, from: Option<&Checkpoint>) -> (PowerRow, u64) {
    let device = Device::emulator(Emulation::default());
    let mut go_on = |_| ControlFlow::Continue(());
    let row = power(&device, plan, mode, from, &mut go_on).expect("a result");
    let steps = (row.loop_ms * 1e3 / row.step_us).round() as u64;
    (row, steps)
}

/// The device is ahead of the host, and what it has done then is in the loop's time.
#[test]
fn a_step_takes_its_share_of_all_that_the_device_has_done() {
    for mode in [PowerMode::Baseline, PowerMode::Async, PowerMode::Graph] {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = plan(folder.path());
        let (row, of) = steps(&plan, mode, None);
        assert_eq!((row.steps, of), (20, 30), "{mode}");

        // A run that is resumed before its end.
        let from = newest(&plan).expect("a checkpoint");
        let further = PowerPlan {
            max_steps: 30,
            ..plan
        };
        let (row, of) = steps(&further, mode, Some(&from));
        assert_eq!((row.resumed_at, row.steps, of), (20, 30, 20), "{mode}");

        let each = PowerPlan {
            max_steps: 1,
            check_every: 1,
            checkpoints: None,
            ..further
        };
        let (row, of) = steps(&each, mode, None);
        assert_eq!((row.steps, of), (1, 2), "{mode}");

        // It converges at the first look, and the host knows that after the second.
        let at_once = PowerPlan {
            max_steps: 1000,
            check_every: 10,
            tolerance: 10.0,
            ..each
        };
        let (row, of) = steps(&at_once, mode, None);
        let done = match mode {
            PowerMode::Baseline => 1,
            PowerMode::Async | PowerMode::Graph => 20,
        };
        assert_eq!((row.steps, of), (0, done), "{mode}");
    }
}
