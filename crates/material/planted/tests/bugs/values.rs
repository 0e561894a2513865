//! Values of which something was never written may be moved about; each that is used is found, with the load that it came from.

use cuda_std::launch::Entry;
use gpu_test::{Failed, Trial, equal};
use planted::{Planted, VALUE_BUGS, ValueBug};
use ridgepoint_driver::{Device, DriverError, Emulation, Schedule};

use crate::orders::Orders;

/// Orders under which each use must be found and each twin be clean: in a value that a thread alone has, it says little.
const ORDERS: Orders = Orders { quick: 3, all: 20 };
/// The folder of the kernels.
const SOURCES: &str = "planted/kernels/src/";

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let trials = VALUE_BUGS.iter().flat_map(|bug| {
        let name = |what: &str| format!("values::{what}::{}", bug.name);
        let used = ORDERS.trials(&name("used"), move |seeds| used(bug, seeds));
        let moved = ORDERS.trials(&name("moved"), move |seeds| moved(bug, seeds));
        used.into_iter().chain(moved)
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

fn schedules(seeds: u64) -> impl Iterator<Item = Schedule> {
    std::iter::once(Schedule::InOrder).chain((0..seeds).map(Schedule::Seeded))
}

/// Its use is found, the object or the register that was read is named, and so is the author's line of the read, of the use, or of both, where the
/// other is in a library.
fn used(bug: &ValueBug, seeds: u64) -> Result<(), Failed> {
    let device = device()?;
    let lines = bug.lines();
    for schedule in schedules(seeds) {
        let ran = run(&device, schedule.clone(), (bug.kernel)());
        let error = ran.err().ok_or("nothing is found")?;
        let text = error.to_string();
        let finding = error.finding().ok_or(text.clone())?;
        let sides = finding.before.iter().chain([&finding.now]);
        let sources: Vec<&str> = sides.map(|it| it.source.as_str()).collect();
        let authors = sources.iter().filter(|it| it.contains(SOURCES));
        let (marked, others): (Vec<&str>, Vec<&str>) =
            authors.partition(|it| lines.iter().any(|line| is_at(it, line)));
        let is_right = finding.kind.name() == bug.finding
            && (finding.place.is_some() || text.contains("`%tripled`"))
            && (!cfg!(tells_calls) || !marked.is_empty() && others.is_empty());
        if !is_right {
            return Err(format!("{schedule:?}: {text}\n  instead of {lines:?}").into());
        }
    }
    Ok(())
}

/// Whether a side's place is this line, or is called or inlined there.
fn is_at(source: &str, line: &str) -> bool {
    let digit = |rest: &str| rest.starts_with(|it: char| it.is_ascii_digit());
    source
        .match_indices(line)
        .any(|(at, _)| !digit(&source[at + line.len()..]))
}

/// A value that is only moved is not found.
fn moved(bug: &ValueBug, seeds: u64) -> Result<(), Failed> {
    let device = device()?;
    let in_order = run(&device, Schedule::InOrder, (bug.fixed)())?;
    for schedule in schedules(seeds) {
        equal(&run(&device, schedule, (bug.fixed)())?, &in_order)?;
    }
    Ok(())
}
