//! The emulator finds each planted bug, says what, where and who, and says nothing of its twin. It
//! needs instrumented kernels: `ridgepoint check -- -p planted`, which `tests/check_command.rs` runs.

use gpu_test::{Arguments, Failed, Trial};
use planted::{BUGS, Bug};
use ridgepoint_driver::{Checks, Device, DriverError, Emulation, Schedule};

/// Orders under which each twin must be clean.
const SEEDS: u64 = 100;
/// What any of these kernels needs, and not so much that an endless one takes long.
const STEPS: u64 = 1 << 20;

fn main() {
    let is_instrumented = Checks::default() == Checks::ALL;
    let trials = BUGS.iter().flat_map(|bug| {
        [
            Trial::test(format!("found::{}", bug.name), move || found(bug)),
            Trial::test(format!("fails::{}", bug.name), move || fails(bug)),
            Trial::test(format!("clean::{}", bug.name), move || clean(bug)),
        ]
        .map(|trial| {
            if is_instrumented {
                trial
            } else {
                trial
                    .with_kind("needs ridgepoint check")
                    .with_ignored_flag(true)
            }
        })
    });
    gpu_test::run(&Arguments::from_args(), trials.collect()).exit();
}

fn device(schedule: Schedule) -> Device {
    Device::emulator(Emulation {
        schedule,
        steps: STEPS,
        ..Emulation::default()
    })
}

fn found(bug: &Bug) -> Result<(), Failed> {
    let entry = (bug.kernel)();
    match bug.run(&device(Schedule::InOrder), entry) {
        Err(DriverError::Emulated { kernel, error }) => {
            let (actual, expected) = (error.to_string(), bug.expected());
            if kernel != bug.name || actual != expected {
                return Err(format!("{kernel}: {actual}\n  instead of {expected}").into());
            }
            Ok(())
        }
        other => Err(format!("{other:?} instead of {}", bug.expected()).into()),
    }
}

/// In any order something is found, and the process lives on.
fn fails(bug: &Bug) -> Result<(), Failed> {
    for seed in 0..SEEDS {
        match bug.run(&device(Schedule::Seeded(seed)), (bug.kernel)()) {
            Err(DriverError::Emulated { .. }) => (),
            other => return Err(format!("seed {seed}: {other:?}").into()),
        }
    }
    Ok(())
}

fn clean(bug: &Bug) -> Result<(), Failed> {
    let fixed = (bug.fixed)();
    bug.run(&device(Schedule::InOrder), fixed)?;
    for seed in 0..SEEDS {
        bug.run(&device(Schedule::Seeded(seed)), fixed)
            .map_err(|error| format!("seed {seed}: {error}"))?;
    }
    Ok(())
}
