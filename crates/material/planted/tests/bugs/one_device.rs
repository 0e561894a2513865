//! The emulator, which executes the kernels' PTX and checks what they do, finds each planted bug: it says
//! what, where and who, and says nothing of its twin.

use std::thread;

use cuda_std::launch::Entry;
use gpu_test::{Failed, Trial, equal};
use planted::{BUGS, Bug, CORRECT, Launch, Needs, Planted};
use ridgepoint_driver::finding::{Kind, Severity};
use ridgepoint_driver::{Device, DriverError, Emulation, Schedule};

use crate::orders::Orders;
use crate::said::{as_told, said_of};

/// Orders under which each bug must be found and each twin be clean.
const ORDERS: Orders = Orders {
    quick: 25,
    all: 100,
};
/// Enough steps for any of these kernels, and not so many that an endless one takes long.
const STEPS: u64 = 1 << 14;

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let trials = BUGS.iter().flat_map(|bug| {
        let found = Trial::test(format!("found::{}", bug.name), move || found(bug));
        let fails = ORDERS.trials(&format!("fails::{}", bug.name), move |seeds| {
            fails(bug, seeds)
        });
        let clean = ORDERS.trials(&format!("clean::{}", bug.name), move |seeds| {
            clean(bug.name, &bug.launch, (bug.fixed)(), seeds)
        });
        [found].into_iter().chain(fails).chain(clean)
    });
    let correct = CORRECT.iter().flat_map(|it| {
        ORDERS.trials(&format!("clean::{}", it.name), move |seeds| {
            clean(it.name, &it.launch, (it.kernel)(), seeds)
        })
    });
    let each = Trial::test("panics_side_by_side", panics_side_by_side);
    let libraries = Trial::test("names_lines_of_libraries", names_lines_of_libraries);
    trials.chain(correct).chain([each, libraries]).collect()
}

/// Beside the author's line stands that of the library which was inlined there.
fn names_lines_of_libraries() -> Result<(), Failed> {
    for (name, library) in [
        ("misaligned_vector", "(inlined: core/src/ptr/mod.rs:"),
        ("early_return", "(inlined: ptx-std/src/"),
        ("copy_without_wait", "(inlined: ptx-std/src/"),
    ] {
        let bug = BUGS.iter().find(|bug| bug.name == name).ok_or("none")?;
        let ran = bug.launch.run(
            &checked(&open(bug.launch.needs)?, Schedule::InOrder),
            (bug.kernel)(),
        );
        let said = ran.err().ok_or("nothing is found")?.to_string();
        if !said.contains(library) {
            return Err(format!("{said}\n  without {library}").into());
        }
    }
    Ok(())
}

/// Each of the launches that panic on one device at the same time says so.
fn panics_side_by_side() -> Result<(), Failed> {
    let device = open(Needs::Any)?;
    let bug = BUGS.iter().find(|bug| bug.name == "panics").ok_or("none")?;
    let launches = || {
        let launch = |_| bug.launch.run(&device, (bug.kernel)());
        let said = |ran: Result<Vec<u32>, DriverError>| match ran {
            Err(error) if error.to_string().contains("panicked at") => Ok(()),
            other => Err(format!("{other:?}")),
        };
        (0..50).map(launch).try_for_each(said)
    };
    let all: Vec<Result<(), String>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(launches)).collect();
        let joined = threads.into_iter().map(|it| it.join());
        joined.map(|it| it.expect("it returns")).collect()
    });
    Ok(all.into_iter().collect::<Result<(), String>>()?)
}

/// A device of its own for each test.
fn open(needs: Needs) -> Result<Device, DriverError> {
    Device::emulator_with(Emulation::default(), needs.ptx())
}

/// The device, with checked launches in this order.
fn checked(device: &Device, schedule: Schedule) -> Device {
    let emulation = Emulation {
        schedule,
        steps: STEPS,
        is_checked: true,
        is_strict: true,
        ..Emulation::default()
    };
    device.with_emulation(emulation).expect("an emulator")
}

fn found(bug: &Bug) -> Result<(), Failed> {
    let expected = as_told(&bug.expected());
    match bug.launch.run(
        &checked(&open(bug.launch.needs)?, Schedule::InOrder),
        (bug.kernel)(),
    ) {
        Err(error) => match said_of(bug.name, &error) {
            Some(said) if as_told(&said) == expected => {
                typed(&said, &error)?;
                goes_on(bug, &error)
            }
            _ => Err(format!("{error}\n  instead of {expected}").into()),
        },
        Ok(_) => Err(format!("nothing instead of {expected}").into()),
    }
}

/// A benign finding ends a strict launch alone: any other goes on, and the device keeps it.
fn goes_on(bug: &Bug, error: &DriverError) -> Result<(), Failed> {
    let finding = error.finding();
    let Some(finding) = finding.filter(|it| it.kind.severity() == Severity::Benign) else {
        return Ok(());
    };
    let device = open(bug.launch.needs)?;
    let lenient = device.with_emulation(Emulation {
        is_checked: true,
        ..Emulation::default()
    });
    let lenient = lenient.ok_or("an emulator")?;
    bug.launch.run(&lenient, (bug.kernel)())?;
    match &device.take_benign()[..] {
        [only] if only.finding.brief() == finding.brief() => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// The finding is there for programs, and its kind is the one that the report begins with.
fn typed(said: &str, error: &DriverError) -> Result<(), Failed> {
    let is_named = Kind::ROWS.iter().any(|row| said.starts_with(row.name));
    let is_typed = match error.finding() {
        Some(finding) => finding.kind == Kind::Stuck || said.starts_with(finding.kind.name()),
        None => !is_named,
    };
    match is_typed {
        true => Ok(()),
        false => Err(format!("{said}\n  as {:?}", error.finding()).into()),
    }
}

/// In any order something is found, and the process lives on.
fn fails(bug: &Bug, seeds: u64) -> Result<(), Failed> {
    let device = open(bug.launch.needs)?;
    for seed in 0..seeds {
        let device = checked(&device, Schedule::Seeded(seed));
        match bug.launch.run(&device, (bug.kernel)()) {
            Err(error) if said_of(bug.name, &error).is_some() => (),
            other => return Err(format!("seed {seed}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Nothing is found in any order, and what the kernel writes is what it writes in order.
fn clean(name: &str, launch: &Launch, entry: Entry<Planted>, seeds: u64) -> Result<(), Failed> {
    let device = open(launch.needs)?;
    let run = |schedule| {
        let y = launch.run(&checked(&device, schedule), entry)?;
        Ok::<_, Failed>(without_addresses(name, y))
    };
    let in_order = run(Schedule::InOrder)?;
    for seed in 0..seeds {
        let said = |failed: Failed| {
            let text = failed.message().unwrap_or("it failed");
            format!("seed {seed}: {text}")
        };
        let y = run(Schedule::Seeded(seed)).map_err(said)?;
        equal(&y, &in_order).map_err(said)?;
    }
    Ok(())
}

/// Returns what a kernel has written, with zeros where it writes addresses, which are others in each launch.
fn without_addresses(kernel: &str, mut y: Vec<u32>) -> Vec<u32> {
    let is_address = |index: usize| match kernel {
        "heap_leak" => index % 4 < 2,
        "other_blocks_memory" => (2..4).contains(&index),
        "pointers_in_a_buffer" => index >= 50,
        _ => false,
    };
    let all = y.iter_mut().enumerate();
    all.filter(|it| is_address(it.0)).for_each(|it| *it.1 = 0);
    y
}
