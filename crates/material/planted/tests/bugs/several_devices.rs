//! Bugs of several devices are found on 4 and on 8 emulated ones, each with a host thread of its own; their twins are clean there, and compute
//! the same on two GPUs.

use std::sync::{Mutex, PoisonError};

use cuda_std::launch::Entry;
use gpu_test::{Failed, Trial, equal, on_two_gpus};
use planted::{Needs, TEAM_BUGS, Team, TeamBug, team_sum};
use ridgepoint_driver::{Device, DriverError, Emulation, Schedule};

use crate::said::{as_told, said_of};

/// The first number of the devices, which the tests of two do not reach.
const FIRST: u32 = 56;
const COUNTS: [u32; 2] = [4, 8];
/// Orders under which each bug must be found and each twin be clean.
const SEEDS: u64 = 10;
/// Steps after which a launch goes on for ever: those that take turns with it take far fewer.
const STEPS: u64 = 1 << 16;
/// All cases have the same devices, one after the other.
static DEVICES: Mutex<()> = Mutex::new(());

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let emulated = TEAM_BUGS.iter().flat_map(|bug| {
        [
            Trial::test(format!("teams::found::{}", bug.name), move || found(bug)),
            Trial::test(format!("teams::clean::{}", bug.name), move || clean(bug)),
        ]
    });
    let on_gpus = TEAM_BUGS.iter().map(|bug| {
        on_two_gpus(format!("cuda::{}", bug.name), Needs::Any.ptx(), |a, b| {
            sums(bug.run(&[a, b], (bug.fixed)())?)
        })
    });
    emulated.chain(on_gpus).collect()
}

/// The emulations that check: in order, and under seeds.
fn checked() -> impl Iterator<Item = Emulation> {
    let seeds = (0..SEEDS).map(Schedule::Seeded);
    seeds.chain([Schedule::InOrder]).map(|schedule| Emulation {
        schedule,
        is_checked: true,
        steps: STEPS,
        ..Emulation::default()
    })
}

/// Each device's sum, or how its launch has failed.
type Ran = Vec<Result<u32, DriverError>>;

fn run(
    bug: &TeamBug,
    count: u32,
    emulation: &Emulation,
    entry: Entry<Team>,
) -> Result<Ran, Failed> {
    let open = |rank| Device::emulator_number(FIRST + rank, emulation.clone(), Needs::Any.ptx());
    let devices: Vec<Device> = (0..count).map(open).collect::<Result<_, _>>()?;
    let devices: Vec<&Device> = devices.iter().collect();
    Ok(bug.run(&devices, entry)?)
}

/// Fails unless one of the launches says what the bug is. Others may have waited for it in vain.
fn found(bug: &TeamBug) -> Result<(), Failed> {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    for (count, emulation) in COUNTS
        .iter()
        .flat_map(|count| checked().map(move |it| (*count, it)))
    {
        let ran = run(bug, count, &emulation, (bug.kernel)())?;
        let errors = ran.iter().filter_map(|it| it.as_ref().err());
        let said: Vec<String> = errors
            .map(|error| said_of(bug.name, error).unwrap_or_else(|| error.to_string()))
            .collect();
        let place = as_told(&bug.seen_at());
        let is_found = |text: &String| text.contains(bug.report) && as_told(text).contains(&place);
        if !said.iter().any(is_found) {
            return Err(format!("{count} devices, {:?}: {said:#?}", emulation.schedule).into());
        }
    }
    Ok(())
}

/// Fails unless the twin gives every device the sum of all, with checks and without.
fn clean(bug: &TeamBug) -> Result<(), Failed> {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    for count in COUNTS {
        for emulation in checked().chain([Emulation::default()]) {
            let emulation = Emulation {
                steps: Emulation::default().steps,
                ..emulation
            };
            sums(run(bug, count, &emulation, (bug.fixed)())?)?;
        }
    }
    Ok(())
}

/// Fails unless each device has the sum of all.
fn sums(ran: Ran) -> Result<(), Failed> {
    let expected = vec![team_sum(ran.len()); ran.len()];
    let sums: Vec<u32> = ran.into_iter().collect::<Result<_, _>>()?;
    equal(&sums, &expected)
}
