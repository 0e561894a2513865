//! Values of which something was never written may be moved about; each that is used is found, with the load that it came from.

use cuda_std::launch::Entry;
use gpu_test::{Failed, Trial, equal};
use planted::{Planted, VALUE_BUGS, ValueBug};
use ridgepoint_driver::{Device, DriverError, Emulation, Schedule};

/// Orders under which each use must be found and each twin be clean.
const SEEDS: u64 = 20;

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let trials = VALUE_BUGS.iter().flat_map(|bug| {
        [
            Trial::test(format!("values::used::{}", bug.name), move || used(bug)),
            Trial::test(format!("values::moved::{}", bug.name), move || moved(bug)),
        ]
    });
    trials.collect()
}

fn run(
    device: &Device,
    schedule: Schedule,
    entry: Entry<Planted>,
) -> Result<Vec<u32>, DriverError> {
    let emulation = Emulation {
        schedule,
        is_checked: true,
        ..Emulation::default()
    };
    let device = device.with_emulation(emulation).expect("an emulator");
    ValueBug::LAUNCH.run(&device, entry)
}

fn device() -> Result<Device, DriverError> {
    Device::emulator_with(Emulation::default(), ValueBug::LAUNCH.needs.ptx())
}

fn schedules() -> impl Iterator<Item = Schedule> {
    std::iter::once(Schedule::InOrder).chain((0..SEEDS).map(Schedule::Seeded))
}

/// Its use is found, the object that was read is named, and so are the lines of both.
fn used(bug: &ValueBug) -> Result<(), Failed> {
    let device = device()?;
    for schedule in schedules() {
        let ran = run(&device, schedule, (bug.kernel)());
        let error = ran.err().ok_or("nothing is found")?;
        let text = error.to_string();
        let finding = error.finding().ok_or(text.clone())?;
        let is_right = finding.kind.name() == bug.finding
            && finding.place.is_some()
            && text.contains("planted/kernels/src/");
        if !is_right {
            return Err(text.into());
        }
    }
    Ok(())
}

/// A value that is only moved is not found.
fn moved(bug: &ValueBug) -> Result<(), Failed> {
    let device = device()?;
    let in_order = run(&device, Schedule::InOrder, (bug.fixed)())?;
    for schedule in schedules() {
        equal(&run(&device, schedule, (bug.fixed)())?, &in_order)?;
    }
    Ok(())
}
