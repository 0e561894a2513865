//! Bugs of two devices are found on two emulated devices, each with a host thread of its own, whatever the order; their
//! twins are clean there, and compute the same on two GPUs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::launch::Entry;
use gpu_test::{Failed, Trial, equal, on_two_gpus};
use planted::{Access, Needs, PAIR_BUGS, Pair, PairBug, Ran};
use ridgepoint_driver::{Device, DriverError, Emulation, Schedule};

use crate::orders::Orders;
use crate::said::{as_told, said_of};

/// Orders under which each bug must be found and each twin be clean.
const ORDERS: Orders = Orders {
    quick: 25,
    all: 100,
};

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let trials = PAIR_BUGS.iter().flat_map(|bug| {
        let kept = Kept::default();
        let kept_too = kept.clone();
        let name = |what: &str| format!("pairs::{what}::{}", bug.name);
        let found = Trial::test(name("found"), move || kept.with(|two| found(bug, two)));
        let plain = Trial::test(name("plain"), move || kept_too.with(|two| plain(bug, two)));
        let fails = ORDERS.trials(&name("fails"), move |seeds| fails(bug, seeds));
        let clean = ORDERS.trials(&name("clean"), move |seeds| clean(bug, seeds));
        [found, plain].into_iter().chain(fails).chain(clean)
    });
    let allowed = PAIR_BUGS.iter().filter(|bug| bug.access == Access::Allowed);
    let on_gpus = allowed.map(|bug| {
        on_two_gpus(format!("cuda::{}", bug.name), Needs::Any.ptx(), |a, b| {
            let ran = bug.run([a, b], (bug.fixed)())?;
            memories(ran).map(drop)
        })
    });
    trials.chain(on_gpus).collect()
}

/// Two devices that no other test has: what one allows another lasts.
struct Two {
    first: u32,
    devices: [Device; 2],
}

impl Two {
    fn open() -> Result<Two, DriverError> {
        // The tests of one device have the first.
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let first = NEXT.fetch_add(2, Ordering::Relaxed);
        let open = |number| Device::emulator_number(number, Emulation::default(), Needs::Any.ptx());
        let devices = [open(first)?, open(first + 1)?];
        Ok(Two { first, devices })
    }

    fn run(&self, emulation: Emulation, bug: &PairBug, entry: Entry<Pair>) -> Result<Ran, Failed> {
        let with = |it: &Device| it.with_emulation(emulation.clone());
        let [a, b] = self.devices.each_ref().map(with);
        let (a, b) = a.zip(b).ok_or("they are emulators")?;
        Ok(bug.run([&a, &b], entry)?)
    }
}

/// Two devices for the short tests of one bug, one after the other: there are not enough for each of all tests.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<Two>>>);

impl Kept {
    fn with(&self, test: impl FnOnce(&Two) -> Result<(), Failed>) -> Result<(), Failed> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(two) => test(two),
            none => test(none.insert(Two::open()?)),
        }
    }
}

fn checked(schedule: Schedule) -> Emulation {
    Emulation {
        schedule,
        is_checked: true,
        ..Emulation::default()
    }
}

/// Returns the contents of both memories, where neither launch has failed.
fn memories(ran: Ran) -> Result<[Vec<u32>; 2], Failed> {
    let texts = |errors: Vec<DriverError>| {
        let texts: Vec<String> = errors.iter().map(DriverError::to_string).collect();
        texts.join("\n").into()
    };
    ran.map_err(texts)
}

/// Returns the finding of one of the launches; the other may have waited for it in vain.
fn finding(bug: &PairBug, ran: Ran) -> Result<String, Failed> {
    let errors = ran.err().ok_or("nothing is found")?;
    let said = |error: &DriverError| said_of(bug.name, error).ok_or_else(|| error.to_string());
    let all: Vec<String> = errors.iter().map(said).collect::<Result<_, _>>()?;
    let first = all.iter().find(|it| !it.contains("has failed meanwhile"));
    first.cloned().ok_or_else(|| all.join("\n").into())
}

/// Which of both comes first is the host's affair.
fn found(bug: &PairBug, two: &Two) -> Result<(), Failed> {
    let ran = two.run(checked(Schedule::InOrder), bug, (bug.kernel)())?;
    let said = finding(bug, ran)?;
    let [first, second] = [0, 1].map(|rank| format!("cpu:{}", two.first + rank));
    let expected = bug.expected([&first, &second]);
    match expected.iter().any(|it| as_told(it) == as_told(&said)) {
        true => Ok(()),
        false => Err(format!("{said}\n  instead of {}", expected.join("\n  or ")).into()),
    }
}

fn fails(bug: &PairBug, seeds: u64) -> Result<(), Failed> {
    let two = Two::open()?;
    for seed in 0..seeds {
        let ran = two.run(checked(Schedule::Seeded(seed)), bug, (bug.kernel)())?;
        finding(bug, ran).map_err(|failed| of_seed(seed, &failed))?;
    }
    Ok(())
}

fn clean(bug: &PairBug, seeds: u64) -> Result<(), Failed> {
    let two = Two::open()?;
    let run = |schedule| memories(two.run(checked(schedule), bug, (bug.fixed)())?);
    let in_order = run(Schedule::InOrder)?;
    for seed in 0..seeds {
        let said = |failed: Failed| of_seed(seed, &failed);
        let all = run(Schedule::Seeded(seed)).map_err(said)?;
        for (memory, expected) in all.iter().zip(&in_order) {
            equal(memory, expected).map_err(said)?;
        }
    }
    Ok(())
}

/// Without checks, on all cores, under seeds, and counted, the twin computes what it computes when checked.
fn plain(bug: &PairBug, two: &Two) -> Result<(), Failed> {
    let run = |emulation| memories(two.run(emulation, bug, (bug.fixed)())?);
    let expected = run(checked(Schedule::InOrder))?;
    let seeds = (0..10).map(|seed| Emulation {
        schedule: Schedule::Seeded(seed),
        ..Emulation::default()
    });
    let counted = |is_checked| Emulation {
        is_counted: true,
        is_checked,
        ..Emulation::default()
    };
    let plain = (0..10).map(|_| Emulation::default());
    for emulation in plain.chain(seeds).chain([counted(false), counted(true)]) {
        for (memory, expected) in run(emulation)?.iter().zip(&expected) {
            equal(memory, expected)?;
        }
    }
    Ok(())
}

fn of_seed(seed: u64, failed: &Failed) -> Failed {
    format!("seed {seed}: {}", failed.message().unwrap_or("it failed")).into()
}
